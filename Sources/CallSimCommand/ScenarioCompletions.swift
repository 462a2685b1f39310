import Profiles
import ScenarioFormat
import ScenarioRun
import ScenarioSuite

/// Shell completions for scenarios: those in `scenarios/` of the current folder.
enum ScenarioCompletions {
  static func tags() -> [String] { Set(files.flatMap(\.tags)).sorted() }

  static func runs() -> [String] {
    files.flatMap { file in file.cells.map { $0.runID(seed: file.seeds.all.first ?? 1) } }
  }

  private static var files: [ScenarioFile] {
    guard let paths = try? ScenarioFinder.files(at: []) else { return [] }
    return ScenarioCollection(paths: paths, registry: CallSimProgram.profiles.registry, overrides: []).files
  }
}
