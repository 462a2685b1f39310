@_exported public import CallSim
internal import Foundation
public import Testing

/// Scenario files as the arguments of a test, one argument per run: a cell of a file with a seed.
///
/// ```swift
/// private let scenarios = Scenarios("scenarios", profiles: [Profile(app: WalkieApp.self, server: WalkieServer.self)])
///
/// @Test(arguments: scenarios) func `a scenario passes`(_ scenario: ScenarioTest) { scenario.expectPass() }
/// ```
///
/// An error is an argument too, whose test fails: a file with errors, a folder without scenarios, an invalid profile.
/// So a test cannot pass because no scenario was found.
public struct Scenarios: RandomAccessCollection, Sendable {
  private let tests: [ScenarioTest]

  /// Reads scenario files.
  ///
  /// - Parameters:
  ///   - paths: Files, and folders that are searched for `*.yaml`; relative to the package of the test's source file.
  ///   - profiles: The profiles that the files may name.
  ///   - selection: The selection of runs that become arguments.
  ///   - program: The command with these profiles, for the replay command of a failed run.
  public init(
    _ paths: String..., profiles: [Profile], selection: SuiteSelection = SuiteSelection(),
    program: String = "callsim", filePath: String = #filePath, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let root = Self.packageRoot(of: filePath)
    do {
      let catalogue = try ProfileCatalogue(profiles)
      let files = try ScenarioFinder.files(at: paths.map { Self.shortened($0.hasPrefix("/") ? $0 : "\(root)/\($0)") })
      let collection = ScenarioCollection(paths: files, registry: catalogue.registry, overrides: selection.overrides)
      tests = Self.tests(of: collection, selection, catalogue, program, sourceLocation)
    } catch {
      tests = [ScenarioTest(paths.joined(separator: " "), refusedFor: "\(error)", at: sourceLocation)]
    }
  }

  /// The position of the first run.
  public var startIndex: Int { tests.startIndex }
  /// The position after the last run.
  public var endIndex: Int { tests.endIndex }
  /// The run at a position.
  public subscript(position: Int) -> ScenarioTest { tests[position] }

  private static func tests(
    of collection: ScenarioCollection, _ selection: SuiteSelection, _ profiles: ProfileCatalogue, _ program: String,
    _ sourceLocation: SourceLocation
  ) -> [ScenarioTest] {
    var tests = collection.reports.filter { !$0.errors.isEmpty }.map {
      ScenarioTest(refusedFor: $0, at: sourceLocation)
    }
    tests += collection.clashes.map { clash in
      ScenarioTest(
        clash.id, refusedFor: "several files have this id: \(clash.paths.joined(separator: ", "))", at: sourceLocation)
    }
    let plan = SuitePlan(files: collection.files, hash: collection.hash, selection: selection)
    var points: [[SuitePlan.Entry]] = []
    for entry in plan.entries {
      if let last = points.last?.first, entry.cell.scenario.arms != nil, last.cell.pointID == entry.cell.pointID {
        points[points.count - 1].append(entry)
      } else {
        points.append([entry])
      }
    }
    for entries in points {
      let entry = entries[0]
      // Seeds that are judged together belong to one test.
      let isJudgedTogether = entry.cell.scenario.expectations.contains(where: \.isJudgedAcrossSeeds)
      for seeds in isJudgedTogether ? [entry.seeds] : entry.seeds.map({ [$0] }) {
        tests.append(
          ScenarioTest(entries, seeds: seeds, overrides: selection.overrides, profiles, program, at: sourceLocation))
      }
    }
    if tests.isEmpty {
      tests = [ScenarioTest("scenarios", refusedFor: "the selection leaves no run of them", at: sourceLocation)]
    }
    return tests
  }

  /// Returns the nearest folder above a source file that has a manifest; without one, the file's own folder.
  private static func packageRoot(of filePath: String) -> String {
    let own = URL(fileURLWithPath: filePath).deletingLastPathComponent()
    var folder = own
    while folder.path != "/" {
      if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
        return folder.path
      }
      folder.deleteLastPathComponent()
    }
    return own.path
  }

  /// Returns a path relative to the current folder if it is below it, as users type it.
  private static func shortened(_ path: String) -> String {
    let here = FileManager.default.currentDirectoryPath + "/"
    let whole = URL(fileURLWithPath: path).standardizedFileURL.path
    return whole.hasPrefix(here) ? String(whole.dropFirst(here.count)) : whole
  }
}
