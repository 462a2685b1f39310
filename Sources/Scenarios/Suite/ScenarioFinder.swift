internal import Foundation

/// Finds scenario files under paths.
public enum ScenarioFinder {
  /// Where scenarios are when no path is given.
  public static let defaultPath = "scenarios"

  public enum Problem: Error, Sendable, Equatable, CustomStringConvertible {
    case noSuchPath(String)

    public var description: String {
      switch self {
      case .noSuchPath(ScenarioFinder.defaultPath):
        "there is no folder 'scenarios' here; run callsim where it is, or name a file or folder"
      case .noSuchPath(let path): "'\(path)' does not exist; name a scenario file or a folder that holds some"
      }
    }
  }

  /// Files as they are named, and the `*.yaml` files of folders, sorted; folders called `profiles` hold no scenarios.
  public static func files(at paths: [String]) throws(Problem) -> [String] {
    var files: [String] = []
    for path in paths.isEmpty ? [defaultPath] : paths {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { throw .noSuchPath(path) }
      files += isDirectory.boolValue ? contents(of: path) : [path]
    }
    var seen: Set<String> = []
    return files.filter { seen.insert($0).inserted }
  }

  private static func contents(of folder: String) -> [String] {
    let base = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    // Sorted by code units: the same on every machine.
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: base)) ?? [])
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var files: [String] = []
    for name in names where !name.hasPrefix(".") {
      let path = base == "." ? name : "\(base)/\(name)"
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { continue }
      if isDirectory.boolValue {
        if name != "profiles" { files += contents(of: path) }
      } else if name.hasSuffix(".yaml") {
        files.append(path)
      }
    }
    return files
  }
}

/// The files of a command, read.
public struct ScenarioCollection: Sendable {
  public var files: [ScenarioFile] = []
  /// Of every file that has something to say, in file order.
  public var reports: [DiagnosticReport] = []
  /// Over the bytes of every file.
  public var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  /// Ids that more than one file has.
  public var clashes: [(id: String, paths: [String])] = []

  public var errorCount: Int {
    reports.reduce(0) { $0 + $1.diagnostics.count { $0.code.severity == .error } }
  }
  public var warningCount: Int {
    reports.reduce(0) { $0 + $1.diagnostics.count { $0.code.severity == .warning } }
  }

  public init(paths: [String], registry: ProfileRegistry, overrides: [RunJob.Override]) {
    var owners: [String: Int] = [:]
    for path in paths {
      let loaded = ScenarioFile.load(
        path: path, registry: registry, overrides: overrides.map { (name: $0.name, value: $0.value) })
      if !loaded.report.diagnostics.isEmpty { reports.append(loaded.report) }
      mix(path.utf8)
      mix(FileManager.default.contents(atPath: path) ?? Data())
      guard let file = loaded.scenario else { continue }
      if let first = owners[file.id] {
        addClash(file.id, files[first].path, path)
      } else {
        owners[file.id] = files.count
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

  /// FNV-1a.
  private mutating func mix(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
