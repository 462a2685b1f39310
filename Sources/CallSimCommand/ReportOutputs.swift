import Formats
import Foundation
import ScenarioSuite

/// The reporters of a suite and their files.
struct ReportOutputs {
  private let requests: [ReportRequest]
  private let quiet: Bool
  private let slowest: Int
  private var files: [FileSink] = []

  init(requests: [ReportRequest], quiet: Bool, slowest: Int) throws {
    self.requests = requests
    self.quiet = quiet
    self.slowest = slowest
  }

  /// Opens every file before the first run, so that a mistyped folder is reported before any run.
  ///
  /// - Parameter inputs: Files that are read, and must not be overwritten.
  mutating func open(inputs: [String]) throws -> [any Reporter] {
    let written = requests.filter { $0.file != "-" }.map { (option: "--report \($0.kind.rawValue)", path: $0.file) }
    try DistinctFiles.check(written.map { ($0.option, $0.path) }, inputs: inputs)
    var reporters: [any Reporter] = []
    for request in requests {
      let write = isTold(request) ? Output.error : try writer(request.file)
      switch request.kind {
      case .junit: reporters.append(JUnitReporter(write: write))
      case .tap: reporters.append(TAPReporter(write: write))
      case .json: reporters.append(JSONLinesReporter(write: write))
      case .html: reporters.append(HTMLReporter(place: FileSink.folder(of: request.file), write: write))
      case .github: reporters.append(GitHubReporter(write: write, writeSummary: stepSummary()))
      }
    }
    return reporters
  }

  /// The HTML page that was written last, if it is a file.
  var page: String? { requests.last { $0.kind == .html && $0.file != "-" }?.file }

  func close() throws { for file in files { try file.close() } }

  /// Whether a report uses standard output, so that nothing else may be written there.
  private var isTaken: Bool { requests.contains { $0.file == "-" && $0.kind != .github } }

  /// Returns whether a report goes to standard error, because another one uses standard output: GitHub reads both.
  private func isTold(_ request: ReportRequest) -> Bool { isTaken && request.file == "-" && request.kind == .github }

  /// The reporter for the terminal, on standard error if a report uses standard output.
  var people: TerminalReporter {
    let isTaken = isTaken
    let descriptor: Int32 = isTaken ? 2 : 1
    let detail: TerminalReporter.Detail = quiet ? .quiet : Output.isTerminal(descriptor) ? .live : .lines
    let style = Output.style(for: descriptor)
    return TerminalReporter(detail: detail, style: style, slowest: slowest) {
      isTaken ? Output.error($0) : Output.text($0)
    }
  }

  private mutating func writer(_ path: String) throws -> (String) -> Void {
    guard path != "-" else { return Output.text }
    return keep(try Self.sink(path))
  }

  /// Opens the file of a report, with the folder that it lacks.
  static func sink(_ path: String) throws -> FileSink {
    do { return try open(path, mode: .anew) } catch { throw problem(path, error) }
  }

  /// Checks that a file can be written, and makes the folder that it lacks. What is in the file stays.
  static func check(_ path: String) throws {
    makeFolder(of: path)
    do { try FileSink.check(path: path) } catch { throw problem(path, error) }
  }

  private static func problem(_ path: String, _ error: FileError) -> UsageProblem {
    UsageProblem(message: "the report '\(path)' cannot be written: \(error.reason)")
  }

  private static func makeFolder(of path: String) {
    // A failure shows when the file is opened.
    try? FileManager.default.createDirectory(atPath: FileSink.folder(of: path), withIntermediateDirectories: true)
  }

  private static func open(_ path: String, mode: FileSink.Mode) throws(FileError) -> FileSink {
    makeFolder(of: path)
    return try FileSink(path: path, mode: mode, keepsEveryLine: true)
  }

  private mutating func keep(_ file: FileSink) -> (String) -> Void {
    files.append(file)
    return { file.write($0) }
  }

  /// Opens the step summary that GitHub names, and keeps the text of other steps.
  private mutating func stepSummary() -> ((String) -> Void)? {
    guard let path = ProcessInfo.processInfo.environment["GITHUB_STEP_SUMMARY"], !path.isEmpty else { return nil }
    do {
      return keep(try Self.open(path, mode: .append))
    } catch {
      // GitHub may name a path outside the container that this runs in.
      Output.error("note: there is no step summary: '\(path)' cannot be written: \(error.reason)\n")
      return nil
    }
  }
}
