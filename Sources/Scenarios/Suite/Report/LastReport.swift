internal import Formats
internal import Foundation

/// The location of the newest HTML page: `--report html=FILE` notes it in the folder of runs, and `callsim open` reads
/// it.
public struct LastReport: Sendable {
  static let fileName = "last-report.txt"

  private let directory: RunDirectory

  /// Reads and writes the note in a run directory.
  public init(_ directory: RunDirectory) { self.directory = directory }

  private var note: String { "\(directory.root)/\(Self.fileName)" }

  /// The page's path; nil when no page was written, or the page no longer exists.
  public var path: String? {
    guard let text = try? String(contentsOfFile: note, encoding: .utf8) else { return nil }
    let path = String(text.prefix { $0 != "\n" })
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }

  /// Notes the path of a page. If the note cannot be written, only a convenience is lost.
  public func record(_ path: String) {
    let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    let isOurs = directory.isOurs
    try? FileManager.default.createDirectory(atPath: directory.root, withIntermediateDirectories: true)
    if isOurs { directory.ignoreInGit() }
    try? RunArtifacts.write(whole + "\n", to: note)
  }
}
