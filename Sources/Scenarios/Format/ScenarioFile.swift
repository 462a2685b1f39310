internal import Formats
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

  /// The texts it was read from.
  public var source: ScenarioSource { ScenarioSource(sources) }

  /// What reading a file came to. A file with errors has no scenario; one with warnings has.
  public struct Result: Sendable {
    public let scenario: ScenarioFile?
    public let report: DiagnosticReport
    /// Whether the file declares named networks and peers for scenarios, and is none itself.
    public var isShared = false

    public var diagnostics: [Diagnostic] { report.diagnostics }
  }

  /// How files that others name, by `use` or as a recording, are read: the bytes, or nil when there are none.
  public typealias FileReader = @Sendable (_ path: String) -> [UInt8]?

  /// Reads a file from disk, with the files it uses.
  ///
  /// - Parameter overrides: values that stand in for those of `vars` and `matrix`, as `--set` gives them.
  public static func load(
    path: String, registry: ProfileRegistry, overrides: [(name: String, value: String)] = []
  ) -> Result {
    guard let bytes = SourceReader.bytes(ofNamed: path) else {
      var sources = SourceMap()
      let file = sources.add(path: path, text: "", usedFrom: nil)
      let span = SourceSpan(file: file, line: 1, column: 1)
      let diagnostic = Diagnostic(.unreadable, "the file cannot be read", at: span)
      return Result(scenario: nil, report: DiagnosticReport([diagnostic], sources: sources))
    }
    return load(
      bytes: bytes, path: path, registry: registry, overrides: overrides, reader: SourceReader.bytes(ofUsed:))
  }

  /// Reads a scenario from texts that were read before, and nothing from disk.
  ///
  /// - Parameter cellID: the one cell to read; nil for all. What is wrong with the others is not told then.
  public static func load(
    source: ScenarioSource, cellID: String? = nil, registry: ProfileRegistry,
    overrides: [(name: String, value: String)] = []
  ) -> Result {
    load(
      bytes: source.bytes(at: source.path) ?? [], path: source.path, cellID: cellID, registry: registry,
      overrides: overrides, reader: source.bytes(at:))
  }

  /// Reads a scenario from text; `path` is what diagnostics call it and what `use` is relative to.
  public static func load(
    text: String, path: String = "scenario.yaml", registry: ProfileRegistry,
    overrides: [(name: String, value: String)] = []
  ) -> Result {
    load(
      bytes: Array(text.utf8), path: path, registry: registry, overrides: overrides,
      reader: SourceReader.bytes(ofUsed:))
  }

  /// Reads a scenario from bytes that need not even be text.
  public static func load(
    bytes: [UInt8], path: String = "scenario.yaml", cellID: String? = nil, registry: ProfileRegistry,
    overrides: [(name: String, value: String)] = [], reader: @escaping FileReader
  ) -> Result {
    var loader = ScenarioLoader(registry: registry, overrides: overrides, cellID: cellID, reader: reader)
    let file = loader.load(bytes, path: path)
    return Result(
      scenario: file, report: DiagnosticReport(loader.reading.diagnostics, sources: loader.reading.sources),
      isShared: loader.isShared)
  }
}

/// Reads the bytes of scenario files, and of what they name, from disk.
private enum SourceReader {
  /// A file that somebody named: a pipe is read to its end, once.
  static func bytes(ofNamed path: String) -> [UInt8]? {
    // One byte more than is allowed is enough to see that a file is too large.
    try? FileBytes.read(path, atMost: YAMLReader.maximumByteCount + 1)
  }

  /// A file that another one names. Only a regular file: nobody knows who else waits for what a pipe holds.
  @Sendable static func bytes(ofUsed path: String) -> [UInt8]? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return try? FileBytes.read(path, atMost: Reading.maximumRecordingSize + 1)
  }
}
