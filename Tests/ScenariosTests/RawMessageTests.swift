import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

/// Messages that no app sends, with the content of messages that passed.
@Suite struct RawMessageTests {
  @Test func `a raw message takes what is not given from the message that it is like`() throws {
    let trace = TraceLines(["signal.received", "message.rejected", "call.ended"])
    var outputs = RunOutputs()
    outputs.observers = [trace]
    _ = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { after: 1s, of: bob.ringing, send: call_hangup, from: alice, to: bob, like: call_offer }
      expect: invariants
      """, outputs: outputs)
    #expect(trace.lines.contains("bob signal.received call_hangup alice"))
    #expect(trace.lines.contains("bob call.ended cancelled"))
  }

  @Test func `a raw message like one that never passed tests nothing`() throws {
    let result = try play(
      timeline: """
          - { at: 0s, send: call_hangup, from: alice, to: bob, like: call_answer }
          - { at: 1s, send: call_hangup, from: alice, to: bob, like: call_answer, number: 3 }
        """, expect: "  - { never: bob.call.state == ringing }")
    let actual = result.findings.filter { $0.kind == .vacuous }.map(\.actual)
    #expect(actual.contains("no message of that type passed by 0.000 s"))
    #expect(actual.contains("fewer than 3 messages of that type passed by 1.000 s"))
  }

  @Test func `a mutated message is met once, and the app says what it makes of it`() throws {
    let trace = TraceLines(["signal.faulted", "code"])
    var outputs = RunOutputs()
    outputs.observers = [trace]
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 0s, fault: signal.corrupt, message: call_offer, field: call-id, mutation: missing }
        - { at: 5s, do: alice.hangup }
      expect: invariants
      """, outputs: outputs)
    #expect(trace.lines.filter { $0.contains("corrupt call_offer") }.count == 1)
    #expect(trace.lines.contains("bob code kn.bad_event"))
    #expect(result.verdict == .pass)
  }

  @Test func `a description with a changed fingerprint ends the call and plays nothing`() throws {
    let trace = TraceLines(["call.ended"])
    var outputs = RunOutputs()
    outputs.observers = [trace]
    _ = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 0s, fault: signal.corrupt, message: call_offer, mutation: changed-fingerprint }
        - { when: bob.call.state == ringing, do: bob.accept }
      expect: invariants
      """, outputs: outputs)
    #expect(trace.lines.contains { $0.hasPrefix("bob call.ended") && !$0.contains("hangup") })
  }

  @Test func `a scenario that expects the invariants alone is judged by them`() throws {
    let result = try play("", timeline: sevenSeconds, expect: "")
    #expect(result.verdict == .vacuous)
    let judged = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
      \(sevenSeconds)
      expect: invariants
      """)
    #expect(judged.verdict == .pass)
  }

  @Test(arguments: [
    ("send: offer, from: alice, to: bob, number: 2", "E412"),
    ("send: offer, from: alice, to: bob, like: nothing", "E209"),
    ("fault: signal.corrupt, message: offer, mutation: missing", "E412"),
    ("fault: signal.corrupt, message: offer, mutation: inline-candidates", "E412"),
    ("fault: signal.corrupt, message: offer, mutation: sideways", "E206"),
  ])
  func `a raw message or mutation that cannot be is an error`(entry: String, code: String) {
    let loaded = FormatTest.load(timeline: "- { at: 1s, \(entry) }")
    #expect(loaded.diagnostics.map(\.code.rawValue).contains(code), "\(loaded.diagnostics.map(\.message))")
  }
}
