import CallCore
import Testing

/// Media before the user's consent: the five cases that became known.
@Suite struct ConsentClassTests {
  @Test func `class 1 - a ringing phone does not obey an answer from its caller`() throws {
    try proves(
      .callersAnswerObeyed, breaks: "consent",
      by: Provocation(
        sender: "alice",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, send: call_answer, from: mallory, to: bob, fields: { callId: alice-1, offer: "v=0" } }
          """))
  }

  @Test func `class 2 - candidates that overtake the offer connect nothing before the user accepts`() throws {
    try proves(
      .earlyCandidatesConnect, breaks: "consent",
      by: Provocation(
        // Her address is reachable before she knows his, which he withholds.
        peers: """
            alice: { profile: knotos, network: internet, devices: { mic: tone } }
            bob: { profile: knotos, network: wifi, devices: { mic: tone } }
          """,
        timeline: """
            - { at: 0s, fault: signal.delay, message: call_offer, by: 400ms }
            - { at: 1s, do: alice.call, to: bob }
            - { at: 10s, do: bob.accept }
          """))
  }

  @Test func `class 2 - candidates of messages wait for the user`() throws {
    let provocation = Provocation(
      peers: """
          alice: { profile: knotos, network: internet }
          bob: { profile: knotos, network: wifi }
        """,
      timeline: """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 10s, do: bob.accept }
        """)
    let broken = try Defect.$planted.withValue(.earlyCandidatesConnect) { try provocation.violations() }
    // The connection is there too early, and with it the audio unit; nothing reaches anybody.
    #expect(!broken.contains { $0.invariant == "consent" }, "\(broken)")
  }

  @Test func `class 4 - an update of the ringing call is not applied before the user accepts`() throws {
    try proves(
      .updateAppliedWhileRinging, breaks: "consent",
      by: Provocation(
        timeline: """
            - { at: 0s, fault: signal.duplicate, message: call_offer }
            - { at: 1s, do: alice.call, to: bob }
          """))
  }

  @Test func `class 5 - somebody in the ringing call who joins it does not pick it up`() throws {
    try proves(
      .participantJoinsRinging, breaks: "consent",
      by: Provocation(
        sender: "alice",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, send: call_offer, from: mallory, to: bob, fields: { callId: group-1, callType: audio, offer: "v=0" } }
          """))
  }
}
