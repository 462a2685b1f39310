import ArgumentParser
import Foundation
import ScenarioFormat
import ScenarioSuite

struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Show the newest HTML report in the browser.",
    discussion: """
      It is the page that '\(ProgramName.current) run --report html=FILE' wrote last. Without a terminal or a browser \
      its path is printed.
      """)

  @Argument(help: "Another page. (default: the newest)", completion: .file(extensions: ["html"]))
  var page: String?

  @Option(help: ArgumentHelp("Where runs left their files.", valueName: "folder"))
  var out = RunDirectory.defaultRoot

  func run() throws {
    let path = try page ?? newest()
    guard FileManager.default.fileExists(atPath: path) else {
      throw UsageProblem(
        message: "'\(path)' does not exist; \(ProgramName.current) run --report html=FILE writes a page")
    }
    if !Self.show(path) { Output.text(TextStyle.printable(path) + "\n") }
  }

  private func newest() throws -> String {
    guard let path = LastReport(RunDirectory(root: out)).path else {
      throw UsageProblem(
        message: "\(TextStyle.printable(out)) knows of no page; "
          + "\(ProgramName.current) run --report html=report.html writes one")
    }
    return path
  }

  /// Opens the page in a browser.
  ///
  /// - Returns: Whether it was opened.
  static func show(_ path: String) -> Bool {
    guard Output.isTerminal(STDOUT_FILENO), let opener = opener() else { return false }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: opener)
    // Makes the path absolute: one that begins with a dash would be an option.
    process.arguments = [URL(fileURLWithPath: path).path]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Returns the program that opens files in the desktop; nil without a desktop.
  private static func opener() -> String? {
    let environment = ProcessInfo.processInfo.environment
    #if os(macOS)
      let name = "open"
    #else
      let name = "xdg-open"
      guard ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].contains(where: { !(environment[$0] ?? "").isEmpty }) else {
        return nil
      }
    #endif
    let folders = (environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
