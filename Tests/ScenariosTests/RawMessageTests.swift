import CallCore
import Profiles
import ScenarioJudge
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

/// Messages that no app sends, with the content of messages that passed.
@Suite struct RawMessageTests {
  @Test func `a raw message takes what is not given from the message that it is like`() throws {
    let (result, lines) = try playJudgedByInvariants(
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { after: 1s, of: bob.ringing, send: call_hangup, from: alice, to: bob, like: call_offer }
        """, lines: ["signal.received", "message.rejected", "call.ended"])
    #expect(lines.contains("bob signal.received call_hangup alice"))
    #expect(lines.contains("bob call.ended cancelled"))
    #expect(result.findings.isEmpty)
  }

  @Test func `a raw message like one that never passed tests nothing`() throws {
    let result = try play(
      timeline: """
          - { at: 0s, send: call_hangup, from: alice, to: bob, like: call_answer }
          - { at: 1s, send: call_hangup, from: alice, to: bob, like: call_answer, number: 3 }
        """, expect: "  - { never: bob.call.state == ringing }")
    let actual = result.findings.filter { $0.kind == .vacuous }.map(\.actual)
    #expect(actual.contains("no message of that type passed by 0.00 s"))
    #expect(actual.contains("fewer than 3 messages of that type passed by 1.00 s"))
  }

  @Test func `a mutated message is met once, and the app says what it makes of it`() throws {
    let (result, lines) = try playJudgedByInvariants(
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { at: 0s, fault: signal.corrupt, message: call_offer, field: call-id, mutation: missing }
          - { at: 5s, do: alice.hangup }
        """, lines: ["signal.faulted", "code"])
    #expect(lines.filter { $0.contains("corrupt call_offer") }.count == 1)
    #expect(lines.contains("bob code kn.bad_event"))
    #expect(result.verdict == .pass)
  }

  @Test func `a description with a changed fingerprint ends the call and plays nothing`() throws {
    let (_, lines) = try playJudgedByInvariants(
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { at: 0s, fault: signal.corrupt, message: call_offer, mutation: changed-fingerprint }
          - { when: bob.call.state == ringing, do: bob.accept }
        """, lines: ["call.ended", "media.first-played"])
    #expect(lines.contains { $0.hasPrefix("bob call.ended") && !$0.contains("hangup") })
    #expect(lines.contains("bob call.ended fingerprint-mismatch"))
    #expect(!lines.contains { $0.contains("media.first-played") })
  }

  @Test func `a scenario that expects the invariants alone is judged by them`() throws {
    let (judged, _) = try playJudgedByInvariants(timeline: sevenSeconds)
    #expect(judged.verdict == .pass)
  }

  @Test(arguments: [
    ("send: offer, from: alice, to: bob, number: 2", "E412"),
    ("send: offer, from: alice, to: bob, like: nothing", "E223"),
    ("fault: signal.corrupt, message: offer, mutation: missing", "E412"),
    ("fault: signal.corrupt, message: offer, mutation: inline-candidates", "E412"),
    ("fault: signal.corrupt, message: offer, mutation: sideways", "E307"),
  ])
  func `a raw message or mutation that cannot be is an error`(entry: String, code: String) {
    let loaded = FormatTest.load(timeline: "  - { at: 1s, \(entry) }")
    #expect(loaded.diagnostics.map(\.code.rawValue).contains(code), "\(loaded.diagnostics.map(\.message))")
  }

  @Test func `a field that is probably misspelt is a warning, and any other is as it is given`() {
    let text = """
      callsim: 1
      id: test
      peers: { bob: { profile: knotos, network: wifi }, mallory: { stack: puppet } }
      timeline:
        - { at: 1s, send: call_hangup, from: mallory, to: bob, fields: { callID: m1, call-id: m1, sideways: 1 } }
      expect: invariants
      """
    let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: ProfileCatalogue.builtIn.registry)
    let warnings = loaded.diagnostics.filter { $0.code == .undeclaredField }
    #expect(warnings.map(\.message) == ["call_hangup has no field 'callID'", "call_hangup has no field 'call-id'"])
    #expect(warnings.map(\.hint) == ["did you mean 'callId'?", "did you mean 'callId'?"])
  }

  @Test func `a raw message that a fault holds until its addressee has gone tests nothing`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers: { bob: { profile: knotos, network: wifi }, mallory: { stack: puppet } }
      run: 60s
      timeline:
        - { at: 0s, fault: signal.delay, message: call_offer, from: mallory, by: 3s, for: 20s }
        - { at: 10s, send: call_offer, from: mallory, to: bob, fields: { callId: m1, offer: v=0 } }
        - { at: 11s, fault: signal.disconnect, peer: bob, for: 30s }
      expect:
        - { never: bob.call.state == ringing }
      """)
    let actual = result.findings.filter { $0.kind == .vacuous }.map(\.actual)
    #expect(actual.contains { $0.hasPrefix("bob was not connected to the server at 13.0") })
  }

  @Test func `a message that is held back and passed by none has met nothing`() throws {
    let result = try play(
      timeline: """
          - { at: 0s, fault: signal.reorder, message: call_hangup, count: 1 }
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: bob.accept }
          - { id: bye, at: 10s, do: alice.hangup }
        """, expect: "  - { ends: bob, code: remote-hangup }")
    #expect(result.findings.map(\.actual) == ["it met nothing: no message like this was passed by another"])
  }
}
