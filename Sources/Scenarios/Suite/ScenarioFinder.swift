internal import CallCore
internal import Formats
internal import Foundation
public import ScenarioFormat

/// Finds scenario files under paths.
public enum ScenarioFinder {
  /// The folder that is searched when no path is given.
  public static let defaultPath = "scenarios"

  /// A path that leads to no scenario file.
  public enum Problem: Error, Sendable, Equatable, CustomStringConvertible {
    case noSuchPath(String)
    /// The name of an entry is not UTF-8; it is shown with the replacement character.
    case notUTF8(folder: String, name: String)
    case unreadableFolder(String, reason: String)
    /// A folder has no scenario file; `like` holds files whose names resemble one.
    case noScenario(folder: String, like: [String])
    /// A symbolic link is named like a scenario file, and its target does not exist.
    case brokenLink(String)

    /// The problem as a message for the terminal.
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

  /// Returns the named files and the files `*.yaml` and `*.yml` of the named folders, sorted. Some files may hold no
  /// scenario but parts that scenarios use.
  ///
  /// In folders only regular files count, and each folder is read once, whichever links lead to it. Folders that runs
  /// left are skipped: their copies of scenarios do not belong to the suite.
  ///
  /// - Throws: also for a folder without a scenario file, which is likely a mistake in the path.
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

/// Searches folders for scenario files.
private struct FolderSearch {
  struct Kind {
    var isFolder: Bool
    var isFile: Bool
    /// The device and inode numbers, equal for two paths that lead to one file.
    var identity: [UInt64]
  }

  var files: [String] = []
  private var visited: Set<[UInt64]> = []
  /// The folders that earlier paths led through, and whether the present path led to one of them.
  private var earlier: Set<[UInt64]> = []
  private var hasMetEarlier = false
  /// Files without a scenario's name that resemble one.
  private var like: [String] = []

  /// Returns nil when the path does not exist.
  static func kind(of path: String) -> Kind? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let type = status.st_mode & S_IFMT
    return Kind(
      isFolder: type == S_IFDIR, isFile: type == S_IFREG, identity: [UInt64(status.st_dev), UInt64(status.st_ino)])
  }

  /// Searches a folder that was named, which must contain scenarios.
  mutating func add(named folder: String) throws(ScenarioFinder.Problem) {
    let count = files.count
    (earlier, hasMetEarlier, like) = (visited, false, [])
    try add(folder: folder)
    // Files that an earlier path has found count as found.
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

  /// Returns the names sorted by code units: the same on every machine.
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

/// The parsed scenario files of a command.
public struct ScenarioCollection: Sendable {
  /// The files, in the order of their paths.
  public var files: [ScenarioFile] = []
  /// The reports of every file with diagnostics, in file order.
  public var reports: [DiagnosticReport] = []
  /// The hash over every file and the files they use.
  public var hash: UInt64 { digest.value }
  private var digest = FNV1a()
  /// The paths of all files read, including those that scenarios use.
  public private(set) var inputs: [String] = []
  /// Ids that more than one file uses.
  public var clashes: [(id: String, paths: [String])] = []

  /// The number of errors in all files.
  public var errorCount: Int {
    reports.reduce(0) { $0 + $1.diagnostics.count { $0.code.severity == .error } }
  }
  /// The number of warnings in all files.
  public var warningCount: Int {
    reports.reduce(0) { $0 + $1.diagnostics.count { $0.code.severity == .warning } }
  }

  /// Reads the files.
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
      // The id may contain a variable, and so differ between cells.
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
