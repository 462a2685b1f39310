import Formats
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// A small call in several arms, and its runs.
enum Compared {
  static func text(
    _ arms: String, keys: String = "", line: String = ", loss: 5%", rest: String = "", expect: String = "",
    timeline: String = "", measure: String = "[\(sent), \(heard)]", media: String = "synthetic"
  ) -> String {
    """
    callsim: 1
    id: t
    media: \(media)
    compare: { arms: \(arms), measure: \(measure)\(keys) }
    \(rest)
    topology:
      networks: { lan: { cidr: 10.0.0.0/24 } }
      links: { a: { from: alice, to: lan\(line) }, b: { from: bob, to: lan } }
      servers: { hub: { kind: signalling } }
    peers: { alice: { profile: knotos }, bob: { profile: knotos } }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, do: bob.accept }
    \(timeline)
      - { id: bye, at: 6s, do: alice.hangup }
    expect:
      - { ends: alice, code: local-hangup }
    \(expect)
    """
  }

  static let sent = "alice.stats.outbound-rtp.audio.bytesSent"
  static let allBytes = "alice.stats.transport.bytesSent"
  static let heard = "bob.stats.inbound-rtp.audio.packetsReceived"

  static func load(
    _ text: String, _ overrides: [ScenarioOverride] = []
  ) -> ScenarioFile.Result {
    ScenarioFile.load(
      text: text, path: "t.yaml", registry: ProfileCatalogue.builtIn.registry,
      overrides: overrides.map { ($0.name, $0.value) })
  }

  /// Plays every arm with the seeds 1 to `seeds`, and changes what came of each run.
  static func points(
    _ text: String, seeds: UInt64 = 3, change: (inout RunResult, _ arm: String?) -> Void = { _, _ in }
  ) throws -> [ArmComparison] {
    let file = try #require(load(text).scenario)
    var selection = SuiteSelection()
    selection.seedCount = Int(seeds)
    var points: [ArmComparison] = []
    var ledger = ArmLedger()
    var point: String?
    for entry in SuitePlan(files: [file], hash: 0, selection: selection).entries {
      if let point, point != entry.cell.pointID, let done = ledger.close(overrides: []).comparison {
        points.append(done)
      }
      point = entry.cell.pointID
      for seed in entry.seeds {
        let run = SingleRun(cell: entry.cell, seed: seed, path: "t.yaml")
        var result = try run.execute()
        change(&result, entry.cell.scenario.arms?.own)
        ledger.add(result, of: entry)
      }
    }
    if let done = ledger.close(overrides: []).comparison { points.append(done) }
    return points
  }
}

extension ArmComparison {
  /// Gives every number these values.
  mutating func setSamples(_ samples: [String: [UInt64: Double]]) {
    for index in numbers.indices { numbers[index].samples = samples }
  }
}
