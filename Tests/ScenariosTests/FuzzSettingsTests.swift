import Profiles
import ScenarioRun
import ScenarioSearch
import Testing

@testable import ScenarioFormat

/// The section `fuzz`: what it restricts, and what is wrong with it.
@Suite struct FuzzSettingsTests {
  private static let registry = ProfileCatalogue.builtIn.registry

  private static func load(_ fuzz: String, network: String = "internet") -> ScenarioFile.Result {
    ScenarioFile.load(
      text: """
        callsim: 1
        id: base
        peers:
          alice: { profile: knotos, network: \(network) }
          bob: { profile: knotos, network: internet }
        timeline:
          - { at: 0s, do: alice.call, to: bob }
        expect: invariants
        fuzz: \(fuzz)
        """, registry: registry)
  }

  private static func alphabet(_ fuzz: String) throws -> MoveAlphabet {
    let scenario = try #require(load(fuzz).scenario)
    return MoveAlphabet(scenario.cells[0].scenario, registry: registry)
  }

  @Test func `only the kinds of moves that it names are made`() throws {
    let alphabet = try Self.alphabet("{ moves: [send, drop] }")
    #expect(alphabet.kinds == [.send, .drop])
    let moves = try (1...40 as ClosedRange<UInt64>).flatMap {
      try #require(Variation(.drawn(choices: [], seed: $0)).scenario(alphabet)).moves
    }
    #expect(
      moves.allSatisfy { move in
        switch move.effect {
        case .send: true
        case .fault(let fault, _): fault.kind == .signalDrop
        case .action, .clear, .mark: false
        }
      })
  }

  @Test func `only the messages that it names are added or changed`() throws {
    let table = MoveTable(try Self.alphabet("{ moves: [send, drop], messages: [call_answer] }"))
    let types = table.rows.flatMap(\.self).map { row in
      if case .send(let message) = row.effect { message.type } else { row.fault?.arguments.text("message") }
    }
    #expect(Set(types) == ["call_answer"])
  }

  @Test func `only the senders that it names send`() throws {
    let table = MoveTable(try Self.alphabet("{ moves: [send], senders: [alice] }"))
    let senders = table.rows.flatMap(\.self).compactMap { row in
      if case .send(let message) = row.effect { message.from } else { nil }
    }
    #expect(Set(senders) == ["alice"])
  }

  @Test func `a varied scenario has no section of its own`() throws {
    let alphabet = try Self.alphabet("{ most: 2, runs: 30 }")
    #expect(alphabet.scenario.fuzz != nil)
    #expect(alphabet.scenario(with: []).fuzz == nil)
  }

  @Test(arguments: [
    ("{ moves: [nat] }", "E434"), ("{ moves: [sideways] }", "E307"),
    ("{ moves: [] }", "E312"), ("{ messages: [call_dance] }", "E223"), ("{ senders: [eve] }", "E212"),
    ("{ moves: [link], messages: [call_offer] }", "E412"), ("{ moves: [drop], senders: [alice] }", "E412"),
    ("{ most: 0 }", "E306"), ("{ runs: many }", "E302"), ("{ move: [send] }", "E201"),
    ("{ moves: [send, send] }", "E107"), ("[send]", "E301"),
  ])
  func `what cannot be is an error at its place`(fuzz: String, code: String) {
    let errors = Self.load(fuzz).diagnostics.filter { $0.code.severity == .error }
    #expect(errors.map(\.code.rawValue) == [code], "\(errors.map(\.message))")
    #expect(errors.map(\.span.line) == [9])
  }

  @Test func `the reason why a move cannot be made is told`() {
    let messages = Self.load("{ moves: [send, nat] }").diagnostics.map(\.message)
    #expect(messages == ["no move 'nat' can be made: no network is behind a NAT"])
  }
}
