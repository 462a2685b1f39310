internal import Formats
internal import Foundation
public import ScenarioFormat

/// Finds scenario files under paths.
public enum ScenarioFinder {
  /// Where scenarios are when no path is given.
  public static let defaultPath = "scenarios"

  public enum Problem: Error, Sendable, Equatable, CustomStringConvertible {
    case noSuchPath(String)
    /// A name in a folder, shown with the replacement character.
    case notUTF8(folder: String, name: String)
    case unreadableFolder(String, reason: String)
    /// A folder without a scenario file in it, with the files that look as if they were meant to be one.
    case noScenario(folder: String, like: [String])
    /// A symbolic link that is named like a scenario file, and leads nowhere.
    case brokenLink(String)

    public var description: String {
      switch self {
      case .noSuchPath(ScenarioFinder.defaultPath):
        "there is no folder 'scenarios' here; run \(ProgramName.current) where it is, or name a file or folder"
      case .noSuchPath("-"): "there is no file '-'; what comes on standard input is read as /dev/stdin"
      case .noSuchPath(let path) where RunName(path).seed != nil && !path.hasSuffix(".yaml"):
        "'\(path)' is no file but the name of a run; \(ProgramName.current) replay \(ShellWord.quoted(path)) plays it"
      case .noSuchPath(let path): "'\(path)' does not exist; name a scenario file or a folder that holds some"
      case .notUTF8(let folder, let name):
        "the name of '\(name)' in '\(folder)' is not UTF-8, so no report could name it; rename it"
      case .unreadableFolder(let path, let reason): "the folder '\(path)' cannot be read: \(reason)"
      case .noScenario(let path, let like):
        "no file in the folder '\(path)' is called *.yaml or *.yml, so there is no scenario in it"
          + (like.isEmpty ? "" : "; rename what is meant to be one: \(like.joined(separator: ", "))")
      case .brokenLink(let path): "'\(path)' is a symbolic link to what does not exist; mend it or remove it"
      }
    }
  }

  /// Files as they are named, and the files `*.yaml` and `*.yml` of folders, sorted; some may hold no scenario but
  /// what scenarios use. Of folders only regular files are taken, and no folder twice, by whatever links it is reached. What
  /// runs left within a folder is passed over: the copy of a scenario there is no scenario of the suite. A folder without
  /// any is an error: somebody meant another.
  public static func files(at paths: [String]) throws(Problem) -> [String] {
    var search = FolderSearch()
    for path in paths.isEmpty ? [defaultPath] : paths {
      guard let kind = FolderSearch.kind(of: path) else { throw .noSuchPath(path) }
      if kind.isFolder {
        try search.add(named: path)
      } else {
        search.files.append(path)
      }
    }
    return search.files.inOrderOfAppearance
  }
}

/// Goes through folders for scenario files.
private struct FolderSearch {
  struct Kind {
    var isFolder: Bool
    var isFile: Bool
    /// Tells whether two paths lead to one place.
    var identity: [UInt64]
  }

  var files: [String] = []
  private var visited: Set<[UInt64]> = []
  /// The folders that the paths before this one led through, and whether this one led to one of them.
  private var earlier: Set<[UInt64]> = []
  private var hasMetEarlier = false
  /// Files that are no scenarios by their names, and may have been meant to be.
  private var like: [String] = []

  /// Nil when there is nothing.
  static func kind(of path: String) -> Kind? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let type = status.st_mode & S_IFMT
    return Kind(
      isFolder: type == S_IFDIR, isFile: type == S_IFREG, identity: [UInt64(status.st_dev), UInt64(status.st_ino)])
  }

  /// Goes through a folder that somebody names, and so believes to hold scenarios.
  mutating func add(named folder: String) throws(ScenarioFinder.Problem) {
    let count = files.count
    (earlier, hasMetEarlier, like) = (visited, false, [])
    try add(folder: folder)
    // What an earlier path has found there is found.
    guard files.count > count || hasMetEarlier else {
      throw .noScenario(folder: folder, like: Array(like.prefix(8)))
    }
  }

  private mutating func add(folder: String) throws(ScenarioFinder.Problem) {
    guard let kind = Self.kind(of: folder) else { return }
    if earlier.contains(kind.identity) { hasMetEarlier = true }
    guard visited.insert(kind.identity).inserted else { return }
    let base = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    for name in try Self.names(in: base) where !name.hasPrefix(".") {
      let path = base == "." ? name : "\(base)/\(name)"
      guard let kind = Self.kind(of: path) else {
        if Self.isScenario(name.utf8) { throw .brokenLink(path) }
        continue
      }
      if kind.isFolder {
        if !SavedRun.isWithin(path) { try add(folder: path) }
      } else if kind.isFile, Self.isScenario(name.utf8) {
        files.append(path)
      } else if kind.isFile, [".yaml", ".yml", ".json"].contains(where: name.lowercased().hasSuffix) {
        like.append(path)
      }
    }
  }

  private static func isScenario(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    [".yaml", ".yml"].contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
  }

  /// Sorted by code units: the same on every machine.
  private static func names(in folder: String) throws(ScenarioFinder.Problem) -> [String] {
    guard let stream = opendir(folder) else {
      throw .unreadableFolder(folder, reason: String(cString: strerror(errno)))
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if let name = String(validating: bytes, as: UTF8.self) {
        names.append(name)
      } else if isScenario(bytes) {
        throw .notUTF8(folder: folder, name: String(decoding: bytes, as: UTF8.self))
      }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

/// The files of a command, read.
public struct ScenarioCollection: Sendable {
  public var files: [ScenarioFile] = []
  /// Of every file that has something to say, in file order.
  public var reports: [DiagnosticReport] = []
  /// Over every file and the files they use.
  public var hash: UInt64 { digest.value }
  private var digest = FNV1a()
  /// The paths of every file that was read, used ones included.
  public private(set) var inputs: [String] = []
  /// Ids that more than one file has.
  public var clashes: [(id: String, paths: [String])] = []

  public var errorCount: Int {
    reports.reduce(0) { $0 + $1.diagnostics.count { $0.code.severity == .error } }
  }
  public var warningCount: Int {
    reports.reduce(0) { $0 + $1.diagnostics.count { $0.code.severity == .warning } }
  }

  public init(paths: [String], registry: ProfileRegistry, overrides: [ScenarioOverride]) {
    var owners: [String: Int] = [:]
    for path in paths {
      let loaded = ScenarioFile.load(
        path: path, registry: registry, overrides: overrides.map { (name: $0.name, value: $0.value) })
      if !loaded.report.diagnostics.isEmpty { reports.append(loaded.report) }
      let source = ScenarioSource(loaded.report.sources)
      withUnsafeBytes(of: source.hash.littleEndian) { digest.mix($0) }
      inputs += source.files.map(\.path)
      guard let file = loaded.scenario else { continue }
      // The id may hold a variable, and so be another in every cell.
      for id in Set(file.cells.map(\.scenario.id)).sorted() {
        if let first = owners[id] {
          addClash(id, files[first].path, path)
        } else {
          owners[id] = files.count
        }
      }
      files.append(file)
    }
  }

  private mutating func addClash(_ id: String, _ first: String, _ second: String) {
    if let index = clashes.firstIndex(where: { $0.id == id }) {
      clashes[index].paths.append(second)
    } else {
      clashes.append((id, [first, second]))
    }
  }
}
