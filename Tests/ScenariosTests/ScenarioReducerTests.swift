import CallCore
import Profiles
import ScenarioRun
import Testing

@testable import ScenarioFormat

/// Reduction to the smallest scenario that fails alike. A text stands for the failure here, in place of a run.
@Suite struct ScenarioReducerTests {
  private static let registry = ProfileCatalogue.builtIn.registry

  /// Reduces a scenario as long as the predicate holds.
  private static func reduce(_ text: String, while fails: (Scenario) -> Bool) throws -> (
    Scenario, runs: Int, text: String
  ) {
    let file = try #require(ScenarioFile.load(text: text, registry: registry).scenario)
    var reducer = try #require(ScenarioReducer(text: file.cells[0].scenario.text(), registry: registry))
    var runs = 0
    while let candidate = reducer.candidates(atMost: 1).first {
      runs += 1
      let scenario = try #require(
        ScenarioFile.load(text: candidate, registry: registry).scenario?.cells.first?.scenario)
      reducer.took(fails(scenario) ? 0 : nil)
    }
    let smallest = try #require(
      ScenarioFile.load(text: reducer.text, registry: registry).scenario?.cells.first?.scenario)
    return (smallest, runs, reducer.text)
  }

  private static let full = """
    callsim: 1
    id: big
    tags: [one, two]
    limits: { virtual: 5min }
    peers:
      alice: { profile: knotos, network: wifi, settings: { ring-timeout: 20s } }
      bob: { profile: knotos, network: home, audio: { fec: true } }
      carol: { profile: knotos, network: lte }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { at: 130ms, fault: link.set, link: alice/wifi, loss: 10%, for: 2s }
      - { when: bob.call.state == ringing, after: 1270ms, do: bob.accept }
      - { at: 2s, do: carol.call, to: alice }
      - { at: 3217ms, fault: signal.delay, message: call_hangup, by: 1730ms }
      - { at: 4s, do: bob.mute, refused: true }
      - { at: 5s, do: bob.unmute, refused: true }
      - { at: 6s, fault: nat.reboot, network: bob/home }
      - { at: 9s, do: alice.hangup }
    expect: invariants
    """

  private static func names(_ scenario: Scenario) -> [String] {
    scenario.timeline.map { entry in
      switch entry.effect {
      case .action(let peer, let name, _): "\(peer).\(name)"
      case .fault(let fault, _): fault.kind.rawValue
      case .send, .clear, .mark: "?"
      }
    }
  }

  @Test func `two entries of nine are all that is left`() throws {
    let wanted = ["alice.call", "signal.delay"]
    let (scenario, runs, text) = try Self.reduce(Self.full) { scenario in
      wanted.allSatisfy(Self.names(scenario).contains)
    }
    #expect(Self.names(scenario) == wanted)
    #expect(scenario.peers.map(\.name) == ["alice", "bob"])
    #expect(!text.contains("topology"), "the networks are plain")
    #expect(runs < 120, "\(runs)")
  }

  @Test func `a time is rounded as far as it may be`() throws {
    let (scenario, _, _) = try Self.reduce(Self.full) { scenario in
      scenario.timeline.contains { entry in
        entry.fault?.kind == .signalDelay && (entry.fault?.arguments.duration("by") ?? .zero) > .milliseconds(900)
      }
    }
    #expect(scenario.timeline.count == 1)
    #expect(scenario.timeline[0].fault?.arguments.duration("by") == .seconds(1))
    #expect(scenario.timeline[0].trigger == .at(.zero))
  }

  @Test func `a peer that is needed stays with what it needs`() throws {
    let (scenario, _, _) = try Self.reduce(Self.full) { Self.names($0).contains("carol.call") }
    #expect(Set(scenario.peers.map(\.name)) == ["alice", "carol"])
  }

  @Test func `the seed of the failing run stays`() throws {
    var reducer = try #require(ScenarioReducer(text: Self.full + "\nseeds: { list: [7] }\n", registry: Self.registry))
    while !reducer.candidates(atMost: 1).isEmpty { reducer.took(0) }
    #expect(reducer.text.contains("seeds: { list: [7] }"), "\(reducer.text)")
  }

  @Test func `every candidate is a valid scenario, and the result does not depend on how many are tried at once`()
    throws
  {
    let file = try #require(ScenarioFile.load(text: Self.full, registry: Self.registry).scenario)
    func reduced(atMost limit: Int) throws -> String {
      var reducer = try #require(ScenarioReducer(text: file.cells[0].scenario.text(), registry: Self.registry))
      while true {
        let candidates = reducer.candidates(atMost: limit)
        if candidates.isEmpty { return reducer.text }
        reducer.took(candidates.firstIndex { $0.contains("bob.accept") })
      }
    }
    #expect(try reduced(atMost: 1) == reduced(atMost: 4))
  }
}
