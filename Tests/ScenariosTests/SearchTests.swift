import CallCore
import Profiles
import ScenarioRun
import ScenarioSearch
import Testing
import Vocabulary

@testable import ScenarioFormat

/// Moves that a search makes, and the scenarios they lead to.
@Suite struct SearchTests {
  private static let registry = ProfileCatalogue.builtIn.registry

  private static let alphabet: MoveAlphabet = {
    let text = """
      callsim: 1
      id: base
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, networks: [wifi, lte] }
      topology:
        servers: { relay: { kind: turn } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { after: 3s, of: bob.connected, do: alice.hangup }
      expect: invariants
      """
    let loaded = ScenarioFile.load(text: text, registry: registry)
    return MoveAlphabet(loaded.scenario!.cells[0].scenario, registry: registry)
  }()

  private static func drawn(_ choices: [UInt64] = [], seed: UInt64, kinds: [MoveKind] = MoveKind.allCases)
    -> VariedScenario?
  {
    Variation(.drawn(choices: choices, seed: seed), kinds: kinds).scenario(alphabet)
  }

  @Test func `the same choices draw the same moves, whatever comes after them`() throws {
    for seed in 1...50 as ClosedRange<UInt64> {
      let first = try #require(Self.drawn(seed: seed))
      let again = try #require(Self.drawn(first.choices, seed: seed + 1_000))
      #expect(again.moves == first.moves)
      #expect(again.choices == first.choices)
    }
  }

  @Test func `every varied scenario can be printed, and reads back equal`() throws {
    for seed in 1...300 as ClosedRange<UInt64> {
      let varied = try #require(Self.drawn(seed: seed))
      let text = varied.scenario.text()
      let loaded = ScenarioFile.load(text: text, registry: Self.registry)
      let problems = loaded.diagnostics.filter { $0.code.severity == .error }.map(\.message)
      #expect(problems.isEmpty, "\(problems)\n\(text)")
      #expect(loaded.scenario?.cells.first?.scenario == varied.scenario, "\(text)")
    }
  }

  @Test(arguments: MoveKind.allCases) func `a kind of moves makes moves`(kind: MoveKind) throws {
    let moves = try (1...40 as ClosedRange<UInt64>).flatMap {
      try #require(Self.drawn(seed: $0, kinds: [kind])).moves
    }
    #expect(!moves.isEmpty)
  }

  @Test func `the table has every message in every state from every sender`() {
    let table = MoveTable(Self.alphabet, kinds: [.send])
    let messages = Set(
      table.rows.compactMap(\.first).compactMap { row -> String? in
        guard case .send(let message) = row.effect, case .after(_, let anchor) = row.trigger,
          case .entersState(let subject, _, let state) = anchor.kind
        else { return nil }
        return "\(subject) \(state) \(message.type) \(message.from)"
      })
    // two peers, six states, six messages; the other, oneself and a stranger
    #expect(messages.count == 2 * 6 * 6 * 3)
  }

  @Test func `every row of the table is a valid scenario`() throws {
    let table = MoveTable(Self.alphabet)
    for (number, row) in table.rows.enumerated() where number % 7 == 0 {
      let loaded = ScenarioFile.load(text: Self.alphabet.scenario(with: row).text(), registry: Self.registry)
      let problems = loaded.diagnostics.filter { $0.code.severity == .error }.map(\.message)
      #expect(problems.isEmpty, "\(problems)")
    }
  }

  @Test func `moves act on what is there alone`() {
    let text = """
      callsim: 1
      id: base
      peers:
        alice: { profile: knotos, network: internet }
        bob: { profile: knotos, network: internet }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
      expect: invariants
      """
    let loaded = ScenarioFile.load(text: text, registry: Self.registry)
    let alphabet = MoveAlphabet(loaded.scenario!.cells[0].scenario, registry: Self.registry)
    #expect(!alphabet.kinds.contains(.nat))
    #expect(alphabet.kinds.contains(.send))
  }
}
