internal import CallCore
internal import Formats
internal import Foundation
internal import ScenarioFormat

/// The saved inputs of a run: the texts and recordings of its scenario, the cell, the seed and the overrides.
///
/// `scenario.yaml` is a copy of the scenario file for reading. `run.json` contains all inputs for `callsim replay
/// FOLDER`, and stays valid when the folder is moved.
public struct SavedRun: Sendable {
  static let fileName = "run.json"
  static let scenarioName = "scenario.yaml"

  /// The job that made the run.
  public let job: RunJob

  init(_ job: RunJob) { self.job = job }

  /// Returns whether a run left its files in the folder.
  static func isWithin(_ folder: String) -> Bool {
    [fileName, scenarioName].allSatisfy { FileManager.default.fileExists(atPath: "\(folder)/\($0)") }
  }

  /// Returns whether the folder contains the inputs of a run, readable or not.
  public static func isRecorded(in folder: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder)/\(fileName)")
  }

  /// Reads the inputs of a run from its folder; nil when they are missing or unreadable.
  public init?(folder: String) {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(Self.fileName)"),
      let json = try? JSON(parsing: Array(data)), let job = RunJob(json: json)
    else { return nil }
    self.job = job
  }

  /// The scenario's files that have changed on disk.
  public var changedPaths: [String] {
    job.source.files.filter { file in
      FileManager.default.contents(atPath: file.path).map { !file.isRead(from: Array($0)) } ?? false
    }.map(\.path)
  }

  /// The scenario's files that are missing, relative to the working directory.
  public var missingPaths: [String] {
    job.source.files.map(\.path).filter { !FileManager.default.fileExists(atPath: $0) }
  }

  func write(to folder: String) throws(FileError) {
    var job = job
    job.output = .nothing
    job.wantsStory = false
    job.wantsCoverage = false
    try RunArtifacts.write(job.json(hasFiles: true).description + "\n", to: "\(folder)/\(Self.fileName)")
    guard case .text(let scenario) = job.source.files.first?.contents else { return }
    try RunArtifacts.write(scenario, to: "\(folder)/\(Self.scenarioName)")
  }
}
