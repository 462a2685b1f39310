import Foundation

/// A scenario file that was read: its cells, seeds, and the text it came from.
public struct ScenarioFile: Sendable {
  public let path: String
  public let id: String
  public let title: String?
  public let why: String?
  public let tags: [String]
  public let seeds: Seeds
  /// The names of `vars` and `matrix`, which `--set` stands in for.
  public let variables: [String]
  /// Every cell of the matrix in running order; one without a matrix.
  public let cells: [Cell]
  public let sources: SourceMap

  /// What reading a file came to. A file with errors has no scenario; one with warnings has.
  public struct Result: Sendable {
    public let scenario: ScenarioFile?
    public let report: DiagnosticReport

    public var diagnostics: [Diagnostic] { report.diagnostics }
  }

  /// How files named by `use` are read: the bytes, or nil when there are none.
  public typealias FileReader = @Sendable (_ path: String) -> [UInt8]?

  /// Reads a file from disk, with the files it uses.
  ///
  /// - Parameter overrides: values that stand in for those of `vars` and `matrix`, as `--set` gives them.
  public static func load(
    path: String, registry: ProfileRegistry, overrides: [(name: String, value: String)] = []
  ) -> Result {
    load(path: path, registry: registry, overrides: overrides, reader: readFromDisk)
  }

  /// Reads a scenario from text; `path` is what diagnostics call it and what `use` is relative to.
  public static func load(
    text: String, path: String = "scenario.yaml", registry: ProfileRegistry,
    overrides: [(name: String, value: String)] = []
  ) -> Result {
    load(bytes: Array(text.utf8), path: path, registry: registry, overrides: overrides, reader: readFromDisk)
  }

  /// Reads a scenario from bytes that need not even be text.
  public static func load(
    bytes: [UInt8], path: String = "scenario.yaml", registry: ProfileRegistry,
    overrides: [(name: String, value: String)] = [], reader: @escaping FileReader
  ) -> Result {
    var loader = ScenarioLoader(registry: registry, overrides: overrides, reader: reader)
    let file = loader.load(bytes, path: path)
    return Result(scenario: file, report: DiagnosticReport(loader.reading.diagnostics, sources: loader.sources))
  }

  private static func load(
    path: String, registry: ProfileRegistry, overrides: [(name: String, value: String)], reader: @escaping FileReader
  ) -> Result {
    guard let bytes = reader(path) else {
      var sources = SourceMap()
      let file = sources.add(path: path, text: "", usedFrom: nil)
      let span = SourceSpan(file: file, line: 1, column: 1)
      let diagnostic = Diagnostic(.unreadable, "the file cannot be read", at: span)
      return Result(scenario: nil, report: DiagnosticReport([diagnostic], sources: sources))
    }
    return load(bytes: bytes, path: path, registry: registry, overrides: overrides, reader: reader)
  }

  /// One byte more than is allowed is enough to see that a file is too large.
  private static let readFromDisk: FileReader = { path in
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue,
      let handle = FileHandle(forReadingAtPath: path)
    else { return nil }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: YAMLReader.maximumByteCount + 1) else { return [] }
    return Array(data)
  }
}
