internal import CallCore
internal import Formats
internal import Foundation
internal import ScenarioFormat

/// What a run's folder says of how to play it again: the texts and recordings of its scenario, the cell, the seed, and what
/// stood in for values of the file.
///
/// `scenario.yaml` is the scenario file for people, `run.json` is all of it for `callsim replay FOLDER`, wherever the
/// folder is taken.
public struct SavedRun: Sendable {
  static let fileName = "run.json"
  static let scenarioName = "scenario.yaml"

  public let job: RunJob

  init(_ job: RunJob) { self.job = job }

  /// Whether a run left its files in the folder.
  static func isWithin(_ folder: String) -> Bool {
    [fileName, scenarioName].allSatisfy { FileManager.default.fileExists(atPath: "\(folder)/\($0)") }
  }

  /// Whether the folder says how a run was played, readable or not.
  public static func isRecorded(in folder: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder)/\(fileName)")
  }

  /// Reads what a run left in its folder; nil when there is nothing, or nothing that can be read.
  public init?(folder: String) {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(Self.fileName)"),
      let json = try? JSON(parsing: Array(data)), let job = RunJob(json: json)
    else { return nil }
    self.job = job
  }

  /// The scenario's files that are others on disk now.
  public var changedPaths: [String] {
    job.source.files.filter { file in
      FileManager.default.contents(atPath: file.path).map { !file.isRead(from: Array($0)) } ?? false
    }.map(\.path)
  }

  /// Those that are not there, as seen from the folder that the command stands in.
  public var missingPaths: [String] {
    job.source.files.map(\.path).filter { !FileManager.default.fileExists(atPath: $0) }
  }

  func write(to folder: String) throws(FileError) {
    var job = job
    job.output = .nothing
    job.wantsStory = false
    try RunArtifacts.write(job.json(hasFiles: true).description + "\n", to: "\(folder)/\(Self.fileName)")
    guard case .text(let scenario) = job.source.files.first?.contents else { return }
    try RunArtifacts.write(scenario, to: "\(folder)/\(Self.scenarioName)")
  }
}
