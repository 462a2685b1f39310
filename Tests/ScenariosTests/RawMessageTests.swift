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

  /// Bob has no connection while the first message is sent, and an equal one passes later.
  private static let lost = """
      - { at: 1s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
      - { at: 5s, fault: signal.disconnect, peer: bob, for: 3s }
      - { id: raw, at: 6s, send: call_hangup, from: alice, to: bob, fields: { callId: alice-1 } }

    """

  @Test(arguments: [
    "  - { at: 40s, do: alice.hangup }",
    "  - { every: 15s, times: 2, send: call_hangup, from: alice, to: bob, fields: { callId: alice-1 } }",
    "  - { at: 20s, send: call_hangup, from: alice, to: alice, fields: { callId: alice-1 } }",
  ])
  func `a lost raw message is not made up for by an equal one`(other: String) throws {
    let result = try play(timeline: Self.lost + other, expect: "  - { never: bob.call.state == calling }")
    let lost = result.findings.filter { $0.title == "timeline entry 'raw'" }
    #expect(lost.map(\.actual) == ["bob was not connected to the server at 6.00 s"], "\(result.findings)")
  }

  @Test(arguments: ["every: 5ms", "every: 300ms"])
  func `the last of many raw messages may still be under way`(trigger: String) throws {
    let result = try play(
      "run: 10s",
      timeline: """
          - { at: 0s, fault: link.set, link: bob/wifi, delay: 400ms }
          - { \(trigger), send: call_busy, from: alice, to: bob, fields: { callId: q } }
        """, expect: "  - { never: bob.call.state == calling }")
    let late = result.findings.filter { $0.actual.contains("had not arrived") }
    #expect(late.isEmpty, "\(late)")
  }

  @Test func `a raw message has the sender that its fields give`() throws {
    let (_, lines) = try playJudgedByInvariants(
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { id: raw, after: 1s, of: bob.ringing, send: call_hangup, from: bob, to: bob, like: call_offer, fields: { fromUserId: alice } }
        """, lines: ["call.ended"])
    #expect(lines.contains("bob call.ended cancelled"))
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
    #expect(warnings.map(\.message) == ["call_hangup has no field 'callID'"])
    #expect(warnings.map(\.hint) == ["did you mean 'callId'?"])
  }

  @Test func `a role in place of a field is an error`() {
    let loaded = ScenarioFile.load(
      text: Self.scenario("  - { at: 1s, send: call_hangup, from: mallory, to: bob, fields: { call-id: m1 } }"),
      registry: ProfileCatalogue.builtIn.registry)
    #expect(loaded.diagnostics.filter { $0.code == .unknownMessage }.map(\.hint) == ["write callId"])
  }

  private static let misplaced: [(entry: String, message: String, hint: String?)] = [
    (
      "fault: signal.corrupt, message: disconnected, mutation: changed-fingerprint",
      "disconnected has no description that 'changed-fingerprint' can change", "name a message that has one"
    ),
    (
      "fault: signal.corrupt, message: update, mutation: stale-call-id",
      "update has no call-id that 'stale-call-id' can change", "name a message that has one"
    ),
    (
      "fault: signal.corrupt, message: update, field: description.spd", "unknown message field 'description.spd'",
      "did you mean 'description.sdp'?"
    ),
    (
      "fault: signal.corrupt, message: disconnected, field: description.sdp",
      "disconnected has no field 'description.sdp'", nil
    ),
    (
      "send: update, from: mallory, to: bob, fields: { candidate: x }",
      "update has no field 'candidate': that is the role of 'ice.candidates.candidate'",
      "write ice, with the JSON of all its members"
    ),
  ]

  @Test(arguments: misplaced.indices) func `a member of an object is named by its path`(index: Int) {
    let (entry, message, hint) = Self.misplaced[index]
    let text = """
      callsim: 1
      id: test
      peers: { bob: { profile: twilio, network: wifi }, mallory: { stack: puppet } }
      timeline:
        - { at: 1s, \(entry) }
      expect: invariants
      """
    let loaded = ScenarioFile.load(text: text, registry: ProfileCatalogue.builtIn.registry)
    let problem = loaded.diagnostics.first { $0.code.severity == .error }
    #expect(problem?.message == message)
    #expect(problem?.hint == hint)
    #expect(problem?.span.line == 5)
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

  // MARK: Messages that do not arrive

  private static func scenario(_ timeline: String, expect: String = "  - { never: alice.call.state == ringing }")
    -> String
  {
    """
    callsim: 1
    id: test
    peers:
      alice: { profile: knotos, network: wifi }
      bob: { profile: knotos, network: wifi }
      mallory: { stack: puppet }
    run: 30s
    timeline:
    \(timeline)
    expect:
    \(expect)
    """
  }

  private static let offer = "send: call_offer, from: mallory, to: bob, fields: { callId: m1, offer: v=0 }"

  private func missing(_ timeline: String) throws -> [String] {
    try play(Self.scenario(timeline)).findings.filter { $0.kind == .vacuous }.map(\.actual)
  }

  @Test func `a raw message that arrived is not confused with a message of an app that did not`() throws {
    let result = try play(
      Self.scenario(
        """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 2s, do: bob.accept }
          - { at: 10s, send: call_hangup, from: mallory, to: bob, fields: { callId: alice-1 } }
        """, expect: "  - { never: bob.call.state == ended, between: [5s, 29s] }"))
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `a raw message to a device without a network tests nothing`() throws {
    let actual = try missing(
      """
        - { at: 4s, fault: link.down, link: bob/wifi, for: 20s }
        - { at: 6s, \(Self.offer) }
        - { at: 6s, send: call_hangup, from: mallory, to: bob, fields: { callId: m1 } }
      """)
    #expect(
      actual.allSatisfy {
        $0 == "it left the server at 6.00 s, and had not arrived when the run ended"
      })
    #expect(actual.count == 2)
  }

  @Test func `a raw message to an app that never connects tests nothing`() throws {
    let actual = try missing(
      """
        - { at: 0s, fault: link.down, link: bob/wifi }
        - { at: 5s, \(Self.offer) }
      """)
    #expect(actual == ["bob had no connection to the server that could take it"])
  }

  @Test func `a raw message that a reordering holds until the end of the run tests nothing`() throws {
    let actual = try missing(
      """
        - { at: 1s, fault: signal.reorder, message: call_offer, count: 1 }
        - { at: 29500ms, \(Self.offer) }
      """)
    #expect(actual.contains("a fault still held it when the run ended"))
  }

  @Test func `a raw message that a fault takes is met`() throws {
    let result = try play(
      Self.scenario(
        """
          - { at: 1s, fault: signal.drop, message: call_offer, count: 1 }
          - { at: 5s, \(Self.offer) }
        """, expect: "  - { never: bob.call.state == ringing }"))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `of two raw messages of one type the one that is lost is named`() throws {
    let result = try play(
      Self.scenario(
        """
          - { at: 1s, fault: signal.delay, message: call_offer, by: 5s, count: 1 }
          - { id: first, at: 2s, \(Self.offer) }
          - { id: second, at: 3s, send: call_offer, from: mallory, to: bob, fields: { callId: m2, offer: v=0 } }
          - { at: 5s, fault: signal.disconnect, peer: bob, for: 20s }
        """))
    #expect(result.findings.filter { $0.kind == .vacuous }.map(\.title) == ["timeline entry 'first'"])
  }

  // MARK: What changes nothing

  @Test(arguments: ["swapped-setup", "changed-fingerprint", "rejected", "removed-section", "removed-credentials"])
  func `a mutation that leaves a description as it is meets nothing`(word: String) throws {
    let actual = try missing(
      """
        - { at: 1s, fault: signal.corrupt, message: call_offer, mutation: \(word) }
        - { at: 2s, \(Self.offer) }
      """)
    #expect(actual.count == 1, "\(actual)")
  }

  @Test func `an equal corruption finds nothing to change`() throws {
    let actual = try missing(
      """
        - { at: 1s, fault: signal.corrupt, message: call_offer, field: callId, value: m2 }
        - { at: 1s, fault: signal.corrupt, message: call_offer, field: call-id, value: m2 }
        - { at: 2s, \(Self.offer) }
      """)
    #expect(actual == ["it met nothing: another fault made the same change, wrote over it or undid it"])
  }

  @Test(arguments: ["mutation: truncated", "mutation: empty"])
  func `a text that is damaged has no field left to mutate`(damage: String) throws {
    let result = try play(
      Self.scenario(
        """
          - { id: text, at: 1s, fault: signal.corrupt, message: call_offer, \(damage) }
          - { id: field, at: 1s, fault: signal.corrupt, message: call_offer, mutation: unknown-type }
          - { at: 2s, \(Self.offer) }
        """))
    #expect(result.findings.filter { $0.kind == .vacuous }.map(\.title) == ["timeline entry 'field'"])
  }

  @Test(arguments: [
    "mutation: stale-call-id",
    "field: callId }\n  - { at: 1s, fault: signal.corrupt, message: call_offer, mutation: stale-call-id",
  ])
  func `there is no stale id where there was no earlier call`(fault: String) throws {
    let actual = try missing(
      """
        - { at: 1s, fault: signal.corrupt, message: call_offer, \(fault) }
        - { at: 2s, \(Self.offer) }
      """)
    #expect(!actual.isEmpty)
  }

  @Test func `a changed call id does not make the present call an earlier one`() throws {
    let result = try play(
      Self.scenario(
        """
          - { at: 1s, fault: signal.corrupt, message: call_offer, field: callId, value: x }
          - { id: stale, at: 1s, fault: signal.corrupt, message: call_offer, mutation: stale-call-id }
          - { at: 2s, \(Self.offer) }
        """))
    #expect(result.findings.filter { $0.kind == .vacuous }.map(\.title) == ["timeline entry 'stale'"])
  }

  @Test func `a message that is padded shows it`() throws {
    let actual = try missing(
      """
        - { at: 1s, fault: signal.corrupt, message: call_offer, mutation: padded }
        - { at: 2s, \(Self.offer) }
      """)
    #expect(actual.isEmpty, "\(actual)")
  }

  @Test func `of three values of one field the last one leaves`() throws {
    let result = try play(
      Self.scenario(
        """
          - { id: a, at: 1s, fault: signal.corrupt, message: call_offer, field: callId, value: x }
          - { id: b, at: 1s, fault: signal.corrupt, message: call_offer, field: callId, value: y }
          - { id: c, at: 1s, fault: signal.corrupt, message: call_offer, field: callId, value: x }
          - { at: 2s, \(Self.offer) }
        """))
    #expect(
      result.findings.filter { $0.kind == .vacuous }.map(\.title) == ["timeline entry 'b'", "timeline entry 'c'"])
  }

  @Test func `a change that is undone while the message is held meets nothing`() throws {
    let actual = try missing(
      """
        - { at: 1s, fault: signal.corrupt, message: call_offer, mutation: swapped-setup }
        - { at: 1s, fault: signal.delay, message: call_offer, by: 3s }
        - { at: 4s, fault: signal.corrupt, message: call_offer, mutation: swapped-setup }
        - { at: 2s, send: call_offer, from: mallory, to: bob, fields: { callId: m1, offer: "a=setup:active\\r\\n" } }
      """)
    #expect(actual.count == 2, "\(actual)")
  }

  // MARK: The end of the run

  @Test func `nothing begins after the end of a run`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers: { alice: { profile: knotos, network: wifi }, bob: { profile: knotos, network: wifi } }
      run: 3s
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 2999ms, do: bob.accept }
      expect:
        - { eventually: bob.call.state == ringing, within: 2s }
      """)
    #expect(result.findings.map(\.actual) == ["its trigger never came"])
  }

  @Test(arguments: ["after: 20s, of: x", "every: 15s, times: 2", "every: 30s, times: 1"])
  func `an entry at the very end of a run is an error, however it is written`(trigger: String) {
    let loaded = ScenarioFile.load(
      text: Self.scenario(
        """
          - { id: x, at: 10s, do: alice.call, to: bob }
          - { \(trigger), do: alice.hangup }
        """), registry: ProfileCatalogue.builtIn.registry)
    #expect(loaded.diagnostics.map(\.code).contains(.beyondEnd))
  }

  @Test func `a run in which nothing happens is judged by no invariant`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers: { alice: { profile: knotos, network: wifi } }
      run: 5s
      timeline: [{ mark: x, at: 1s }]
      expect: invariants
      """)
    #expect(result.verdict == .vacuous)
    #expect(result.findings.map(\.actual) == ["no user acted and no message reached an app: no invariant could break"])
  }

  // MARK: Equal messages

  private static let outage = """
      - { at: 0s, do: alice.call, to: bob }
      - { when: bob.call.state == ringing, after: 2s, do: bob.accept }
      - { at: 10s, fault: link.down, link: bob/wifi, for: 1s }
    """

  @Test func `an equal message of the app does not stand for a raw one that was lost`() throws {
    let result = try play(
      Self.scenario(
        """
        \(Self.outage)
          - { id: early, at: 10500ms, send: call_hangup, from: alice, to: bob, fields: { callId: alice-1 } }
          - { at: 15s, do: alice.hangup }
        """, expect: "  - { eventually: alice.call.state == ended, within: 1s, of: 15s }"))
    #expect(result.findings.filter { $0.kind == .vacuous }.map(\.title) == ["timeline entry 'early'"])
  }

  @Test func `of equal raw messages the lost ones are named`() throws {
    let bye = "send: call_hangup, from: mallory, to: bob, fields: { callId: zzz }"
    let result = try play(
      Self.scenario(
        """
        \(Self.outage)
          - { at: 0s, fault: signal.duplicate }
          - { id: first, at: 10500ms, \(bye) }
          - { id: second, at: 15s, \(bye) }
        """, expect: "  - { eventually: alice.call.state == connected, within: 5s }"))
    #expect(result.findings.filter { $0.kind == .vacuous }.map(\.title) == ["timeline entry 'first'"])
  }

  @Test func `a raw message that repeats to the end of the run may be under way then`() throws {
    let result = try play(
      Self.scenario(
        """
          - { at: 0s, do: alice.call, to: bob }
          - { every: 10ms, send: call_hangup, from: mallory, to: bob, fields: { callId: zzz } }
        """, expect: "  - { eventually: bob.call.state == ringing, within: 5s }"))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `an entry that fires when the run ends is not tested, though only the run knows`() throws {
    let result = try play(
      Self.scenario(
        """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, do: bob.accept }
          - { at: 15s, do: alice.hangup }
          - { id: late, after: 15s, of: alice.ended, do: alice.call, to: bob }
        """, expect: "  - { eventually: alice.call.state == ended, within: 1s, of: 15s }"))
    #expect(
      result.findings.map(\.actual) == ["it fired when the run ended, so that nothing that came of it was judged"])
  }

  @Test func `a message that the app cannot read is something to judge`() throws {
    let (result, _) = try playJudgedByInvariants(
      timeline: """
          - { at: 0s, fault: signal.corrupt, message: call_hangup, mutation: empty }
          - { at: 5s, send: call_hangup, from: alice, to: bob, fields: { callId: zzz } }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }
}
