internal import Formats
internal import Foundation

/// Where the newest page is: `--report html=FILE` notes it in the folder of runs, and `callsim open` reads it.
public struct LastReport: Sendable {
  static let fileName = "last-report.txt"

  private let directory: RunDirectory

  public init(_ directory: RunDirectory) { self.directory = directory }

  private var note: String { "\(directory.root)/\(Self.fileName)" }

  /// The page's path; nil when none was written, or it is gone.
  public var path: String? {
    guard let text = try? String(contentsOfFile: note, encoding: .utf8) else { return nil }
    let path = String(text.prefix { $0 != "\n" })
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }

  /// A note that cannot be written costs a convenience, not a result.
  public func record(_ path: String) {
    let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    let isOurs = directory.isOurs
    try? FileManager.default.createDirectory(atPath: directory.root, withIntermediateDirectories: true)
    if isOurs { directory.ignoreInGit() }
    try? RunArtifacts.write(whole + "\n", to: note)
  }
}
