import CallCore
import Testing

/// Calls whose state the app moves when it must not, or does not move when it must.
@Suite struct CallClassTests {
  @Test func `class 6 - a callee takes no refusal from its caller`() throws {
    try proves(
      .refusalObeyedByCallee, breaks: "partner-only",
      by: Provocation(
        sender: "alice",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, send: call_decline, from: mallory, to: bob, fields: { callId: alice-1 } }
          """))
  }

  @Test func `class 7 - a call that ends during its setup gives the microphone back`() throws {
    try proves(
      .captureOutlivesSetup, breaks: "capture-scope",
      by: Provocation(
        length: "8s",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
            - { at: 3020ms, do: bob.hangup }
          """))
  }

  @Test func `class 9 - a ringing phone reveals no address`() throws {
    try proves(
      .addressesRevealedWhileRinging, breaks: "pre-accept-privacy",
      by: Provocation(
        rest: "invariants: [+pre-accept-privacy]",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
          """))
  }

  @Test func `class 10 - a call does not ring whose end overtook its offer`() throws {
    try proves(
      .earlyHangupForgotten, breaks: "ghost-ring",
      by: Provocation(
        timeline: """
            - { at: 0s, fault: signal.delay, message: call_offer, by: 2s }
            - { at: 1s, do: alice.call, to: bob }
            - { at: 2s, do: alice.hangup }
          """))
  }

  @Test func `class 11 - the offer of a call that is over does not ring`() throws {
    try proves(
      .endedCallRevived, breaks: "ended-calls",
      by: Provocation(
        sender: "alice",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
            - { at: 6s, do: alice.hangup }
            - { at: 12s, send: call_offer, from: mallory, to: bob, fields: { callId: alice-1, callType: audio, offer: "v=0" } }
          """))
  }

  @Test func `class 12 - somebody else cannot end the call`() throws {
    try proves(
      .strangersObeyed, breaks: "partner-only",
      by: Provocation(
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
            - { at: 8s, send: call_hangup, from: mallory, to: bob, fields: { callId: alice-1 } }
          """))
  }

  @Test func `class 13 - of two calls that cross each other one is closed`() throws {
    try proves(
      .yieldedCallKeptOpen, breaks: "one-active-call",
      by: Provocation(
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 1s, do: bob.call, to: alice }
          """))
  }

  @Test func `class 15 - of two restarts that cross each other one gives way`() throws {
    try proves(
      .restartGlareIgnoredByBoth, breaks: "stuck-state",
      by: Provocation(
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
            - { at: 8s, do: alice.ice-restart }
            - { at: 8005ms, do: bob.ice-restart }
          """))
  }

  @Test func `class 16 - a call whose end is lost stops ringing`() throws {
    try proves(
      .ringTimerForgotten, breaks: "stuck-state",
      by: Provocation(
        length: "10s",
        timeline: """
            - { at: 0s, fault: signal.drop, message: call_hangup }
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: alice.hangup }
          """))
  }

  @Test func `class 17 - who hangs up during the setup is not told that the other did`() throws {
    try proves(
      .hangupBlamedOnOther, breaks: "agreement",
      by: Provocation(
        length: "8s",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
            - { at: 3020ms, do: bob.hangup }
          """))
  }

  @Test func `class 18 - no timer of a call outlives it`() throws {
    try proves(
      .lossTimerLeaks, breaks: "quiescence",
      by: Provocation(
        length: "4s",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
            - { at: 3010ms, fault: signal.disconnect, peer: bob, for: 20ms }
            - { at: 3050ms, do: bob.hangup }
            - { at: 3060ms, do: alice.hangup }
          """))
  }
}
