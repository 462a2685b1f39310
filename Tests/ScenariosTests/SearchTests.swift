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

  private static let alphabet = alphabet()

  private static func alphabet(_ length: String = "") -> MoveAlphabet {
    let text = """
      callsim: 1
      id: base
      \(length)
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
  }

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

  @Test(arguments: [("", 300), ("run: 8s", 100), ("limits: { virtual: 8s }", 100)] as [(String, UInt64)])
  func `every varied scenario can be printed, and reads back equal`(length: String, count: UInt64) throws {
    let alphabet = Self.alphabet(length)
    for seed in 1...count {
      let varied = try #require(Variation(.drawn(choices: [], seed: seed)).scenario(alphabet))
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

  /// The call of ``alphabet`` with what happened in it: it rings at 20 ms, and an answer passes at 1 s.
  private static func known(_ change: (inout RunCourse) -> Void = { _ in }) -> MoveTable {
    MoveTable(knownAlphabet(change), kinds: [.send, .action])
  }

  private static func knownAlphabet(_ change: (inout RunCourse) -> Void = { _ in }) -> MoveAlphabet {
    var course = RunCourse()
    let server = alphabet.scenario.topology.servers(of: "knotos")[0].name
    let stays: [(String, Int64, Int64)] = [
      ("idle", 0, 20), ("ringing", 20, 1_000), ("connecting", 1_000, 1_100), ("connected", 1_100, 4_000),
    ]
    for (state, from, until) in stays {
      course.stays.append(.init(peer: "bob", state: state, from: at(from), until: at(until)))
    }
    course.passages = [
      .init(server: server, type: "call_offer", time: at(15)),
      .init(server: server, type: "call_answer", time: at(1_050)),
    ]
    course.connections = [.init(server: server, peer: "bob", from: at(5))]
    change(&course)
    var record = BaseRecord()
    record.course = course
    return MoveAlphabet(alphabet.scenario, registry: registry, record: record)
  }

  private static func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  /// The triggers of the messages to Bob of a type with the content of another, in a state.
  private static func delays(_ table: MoveTable, _ type: String, like model: String, in state: String) -> [Interval] {
    table.rows.compactMap { row in
      guard case .send(let message) = row[0].effect, message.type == type, message.like == model, message.to == "bob",
        case .after(let delay, let anchor) = row[0].trigger, case .entersState(_, _, state) = anchor.kind
      else { return nil }
      return delay
    }
  }

  @Test func `candidates that no run shows yet flood a state as well, made up`() throws {
    let floods = Self.known().rows.compactMap { row -> RawMessage? in
      guard case .send(let message) = row[0].effect, message.to == "bob",
        case .every(_, let anchor, _, _) = row[0].trigger,
        case .entersState(_, _, "ringing") = anchor?.kind
      else { return nil }
      return message
    }
    let candidates = floods.filter { $0.type == "ice_candidate" }
    #expect(candidates.map(\.like) == ["call_offer"])
    // The call, and whom it is for, are those of the offer.
    #expect(candidates.map { $0.fields.entries.map(\.name) } == [["candidate"]])
  }

  @Test func `moves in a state to which no run comes are no rows, and are counted`() throws {
    let omission = try #require(Self.known().omissions.first { $0.lack == .state })
    #expect(omission.missing.contains("bob ended") && !omission.missing.contains("bob ringing"))
    #expect(omission.count > 0)
  }

  @Test func `a message waits within the state for the one whose content it has`() {
    let table = Self.known()
    #expect(Set(Self.delays(table, "call_hangup", like: "call_offer", in: "ringing")) == [.milliseconds(10)])
    #expect(Set(Self.delays(table, "call_answer", like: "call_answer", in: "connecting")) == [.milliseconds(60)])
    #expect(Self.delays(table, "call_answer", like: "call_answer", in: "ringing").isEmpty)
    #expect(table.omissions.contains { $0.lack == .model && $0.missing.contains("call_answer") })
  }

  @Test func `nothing is sent to a peer without a connection`() {
    let table = Self.known { $0.connections[0].until = Self.at(1_000) }
    #expect(Self.delays(table, "call_hangup", like: "call_offer", in: "connected").isEmpty)
    #expect(table.omissions.contains { $0.lack == .connection && $0.missing.contains("bob connected") })
  }

  @Test func `a message that never passes is made up of plain values`() throws {
    let made = Self.known().rows.compactMap { row -> RawMessage? in
      guard case .send(let message) = row[0].effect, message.to == "bob", message.like == nil else { return nil }
      return message
    }
    #expect(!made.isEmpty && !made.contains { $0.type == "call_offer" })
    #expect(made.allSatisfy { !$0.fields.isEmpty })
  }

  @Test func `most drawn messages come when their content has passed and their receiver is connected`() throws {
    let alphabet = Self.knownAlphabet { $0.connections[0].until = Self.at(3_000) }
    var states: [String: Int] = [:]
    var count = 0
    for seed in 1...200 as ClosedRange<UInt64> {
      let varied = try #require(Variation(.drawn(choices: [], seed: seed), kinds: [.send]).scenario(alphabet))
      for move in varied.moves {
        guard case .send(let message) = move.effect, message.to == "bob", message.like == "call_answer" else {
          continue
        }
        count += 1
        guard case .after(_, let anchor) = move.trigger, case .entersState("bob", _, let state) = anchor.kind else {
          continue
        }
        states[state, default: 0] += 1
      }
    }
    let fit = (states["connecting"] ?? 0) + (states["connected"] ?? 0)
    #expect(count > 50 && fit * 10 > count * 7, "\(count) \(states)")
  }

  /// A meeting in which Alice is told that she is connected, by a message without a revision.
  private static func meeting() -> MoveAlphabet {
    let text = """
      callsim: 1
      id: base
      peers: { alice: { profile: twilio, network: wifi } }
      timeline:
        - { at: 0s, do: alice.connect, room: daily }
      expect: invariants
      """
    let loaded = ScenarioFile.load(text: text, registry: registry)
    var record = BaseRecord()
    record.course = RunCourse()
    var connected = RawMessage(type: "connected", from: "alice", to: "alice")
    connected.fields.entries = [("description", Located(.text(#"{"type":"answer","sdp":"v=0"}"#)))]
    record.messages = [connected]
    return MoveAlphabet(loaded.scenario!.cells[0].scenario, registry: registry, record: record)
  }

  @Test func `a drawn mutation changes what a message has`() throws {
    var messages: [String: Int] = [:]
    var paths: Set<String> = []
    for seed in 1...200 as ClosedRange<UInt64> {
      let varied = try #require(Variation(.drawn(choices: [], seed: seed), kinds: [.corrupt]).scenario(Self.meeting()))
      for case .fault(let fault, _) in varied.moves.map(\.effect) {
        messages[fault.arguments.text("message") ?? "", default: 0] += 1
        if fault.arguments.text("message") == "connected" { paths.insert(fault.arguments.text("field") ?? "") }
      }
    }
    let count = messages.values.reduce(0, +)
    #expect((messages["connected"] ?? 0) * 10 > count * 8, "\(messages)")
    #expect(paths.contains("description.sdp") && !paths.contains("description.revision"), "\(paths)")
  }

  @Test func `the table changes descriptions within objects, and members that pass`() throws {
    let alphabet = Self.meeting()
    let table = MoveTable(alphabet, kinds: [.corrupt])
    let changes = table.rows.compactMap { row -> String? in
      guard case .fault(let fault, _) = row[0].effect else { return nil }
      return [fault.arguments.text("field"), fault.arguments.text("mutation")].compactMap(\.self).joined(separator: " ")
    }
    #expect(changes.contains("changed-fingerprint") && changes.contains("description.sdp missing"))
    #expect(!changes.contains("description.revision missing"))
    let omission = try #require(table.omissions.first { $0.lack == .field })
    #expect(omission.missing.contains("connected.description.revision"))
  }

  @Test func `an action has the arguments that the timeline gives it`() throws {
    let text = """
      callsim: 1
      id: base
      peers:
        alice: { profile: twilio, network: wifi }
        bob: { profile: twilio, network: wifi }
      timeline:
        - { at: 0s, do: alice.connect, room: daily }
      expect: invariants
      """
    let loaded = ScenarioFile.load(text: text, registry: Self.registry)
    let alphabet = MoveAlphabet(loaded.scenario!.cells[0].scenario, registry: Self.registry)
    let table = MoveTable(alphabet, kinds: [.action])
    let connects = table.rows.filter {
      guard $0.count == 1, case .action("bob", "connect", let arguments) = $0[0].effect else { return false }
      return arguments.text("room") == "daily"
    }
    #expect(connects.count == 5)
  }

  @Test func `actions in the state in which a peer begins come at a time`() {
    let table = Self.known()
    #expect(table.rows.contains { $0[0].trigger == .at(Self.at(10)) })
  }
}
