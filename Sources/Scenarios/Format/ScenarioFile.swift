internal import Formats
import Foundation

/// A decoded scenario file: its cells, its seeds and its source texts.
public struct ScenarioFile: Sendable {
  /// The path under which the file was read.
  public let path: String
  /// The stable, path-like identifier of the scenario.
  public let id: String
  /// The title that the file gives.
  public let title: String?
  /// The reason that the file gives.
  public let why: String?
  /// The tags by which runs can be selected.
  public let tags: [String]
  /// The seeds with which every cell runs.
  public let seeds: Seeds
  /// The names of `vars` and `matrix`, which `--set` can override.
  public let variables: [String]
  /// The cells of the matrix in running order; a single cell without a matrix.
  public let cells: [Cell]
  /// The source texts to which locations refer.
  public let sources: SourceMap

  /// The source texts and recordings, for reading the scenario again.
  public var source: ScenarioSource { ScenarioSource(sources) }

  /// The result of reading a file.
  public struct Result: Sendable {
    /// The scenario; nil when the file has errors.
    public let scenario: ScenarioFile?
    /// The errors and warnings, with the source texts.
    public let report: DiagnosticReport
    /// Whether the file only declares named networks and peers for scenarios that use it.
    public var isShared = false

    /// The errors and warnings.
    public var diagnostics: [Diagnostic] { report.diagnostics }
  }

  /// Reads a file that another one names, by `use` or as a recording; returns nil when it cannot be read.
  public typealias FileReader = @Sendable (_ path: String) -> [UInt8]?

  /// Reads a scenario from disk, with the files that it uses.
  ///
  /// - Parameter overrides: values that replace those of `vars` and `matrix`, as `--set` gives them.
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

  /// Reads a scenario from source texts in memory, without access to the disk.
  ///
  /// - Parameter cellID: the only cell to read; nil for all. Diagnostics of the other cells are then left out.
  public static func load(
    source: ScenarioSource, cellID: String? = nil, registry: ProfileRegistry,
    overrides: [(name: String, value: String)] = []
  ) -> Result {
    load(
      bytes: source.bytes(at: source.path) ?? [], path: source.path, cellID: cellID, registry: registry,
      overrides: overrides, reader: source.bytes(at:))
  }

  /// Reads a scenario from text. Diagnostics name `path`, and `use` is relative to it.
  public static func load(
    text: String, path: String = "scenario.yaml", registry: ProfileRegistry,
    overrides: [(name: String, value: String)] = []
  ) -> Result {
    load(
      bytes: Array(text.utf8), path: path, registry: registry, overrides: overrides,
      reader: SourceReader.bytes(ofUsed:))
  }

  /// Reads a scenario from bytes, which may be invalid UTF-8.
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

/// Reads scenario files, and the files that they name, from disk.
private enum SourceReader {
  /// Returns the bytes of a file that the user named. A pipe is read once, to its end.
  static func bytes(ofNamed path: String) -> [UInt8]? {
    // One byte above the limit is enough to detect a file that is too large.
    try? FileBytes.read(path, atMost: YAMLReader.maximumByteCount + 1)
  }

  /// Returns the bytes of a regular file that another file names. A pipe is refused: it may have another reader.
  @Sendable static func bytes(ofUsed path: String) -> [UInt8]? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return try? FileBytes.read(path, atMost: Reading.maximumRecordingSize + 1)
  }
}
