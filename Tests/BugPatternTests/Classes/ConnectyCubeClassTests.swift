import CallCore
import Formats
import ScenarioRun
import Testing

@testable import Profiles

/// The classes in the app of ConnectyCube.
@Suite struct ConnectyCubeClassTests {
  private func call(
    rest: String = "", length: String = "20s", sender: String = "mallory", _ timeline: String
  ) -> Provocation {
    Provocation(
      peers: """
          alice: { profile: connectycube, network: wifi, devices: { mic: tone } }
          bob: { profile: connectycube, network: wifi, devices: { mic: tone } }
          carol: { profile: connectycube, network: wifi }
        """, rest: rest, length: length, sender: sender, timeline: timeline)
  }

  @Test func `class 1 - a ringing session does not obey an accept of its initiator`() throws {
    try proves(
      .callersAnswerObeyed, breaks: "consent",
      by: call(
        sender: "alice",
        """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, send: accept, from: mallory, to: bob, like: call }
        """))
  }

  @Test func `class 3 - who mutes a session before it is connected is silent from the first packet on`() throws {
    try proves(
      .muteCompletesLate, breaks: "mute",
      by: call(
        length: "8s",
        """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 2s, do: alice.mute }
          - { at: 3s, do: bob.accept }
        """))
  }

  @Test func `class 4 - the repeated call of a ringing session is not answered before the user accepts`() throws {
    try proves(.updateAppliedWhileRinging, breaks: "consent", by: call("  - { at: 1s, do: alice.call, to: bob }"))
  }

  @Test func `class 5 - an opponent who accepts does not pick up for another one`() throws {
    try proves(
      .participantJoinsRinging, breaks: "consent",
      by: call(
        """
          - { at: 1s, do: alice.call, to: [bob, carol] }
          - { at: 3s, do: carol.accept }
        """))
  }

  @Test func `class 6 - an opponent takes no refusal from the initiator`() throws {
    try proves(
      .refusalObeyedByCallee, breaks: "partner-only",
      by: call(
        sender: "alice",
        """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, send: reject, from: mallory, to: bob, like: call }
        """))
  }

  @Test func `class 7 - a session that closes during its setup gives the microphone back`() throws {
    try proves(.captureOutlivesSetup, breaks: "capture-scope", by: call(length: "8s", hungUpInSetup))
  }

  private let hungUpInSetup = """
      - { at: 1s, do: alice.call, to: bob }
      - { at: 3s, do: bob.accept }
      - { at: 3020ms, do: bob.hangup }
    """

  @Test func `class 8 - a muted opponent stays silent through the initiator's restart`() throws {
    try proves(
      .muteLostInRenegotiation, breaks: "mute",
      by: call(
        length: "12s",
        """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: bob.accept }
          - { at: 6s, do: bob.mute }
          - { at: 8s, do: alice.ice-restart }
        """))
  }

  @Test func `class 9 - a ringing session reveals no address`() throws {
    try proves(
      .addressesRevealedWhileRinging, breaks: "pre-accept-privacy",
      by: call(rest: "invariants: [+pre-accept-privacy]", "  - { at: 1s, do: alice.call, to: bob }"))
  }

  /// Also in a call of users whom this one has called before.
  private static let earlierCall = """
      - { at: 1s, do: bob.call, to: [alice, carol] }
      - { at: 2s, do: bob.hangup }

    """

  @Test(arguments: [("bob", ""), ("[bob, carol]", ""), ("[bob, carol]", earlierCall)])
  func `class 10 - a session does not ring whose hangUp overtook its call`(called: String, before: String) throws {
    try proves(
      .earlyHangupForgotten, breaks: "ghost-ring",
      by: call(
        before + """
            - { at: 4s, fault: signal.delay, message: call, to: bob, by: 2s }
            - { at: 5s, do: alice.call, to: \(called) }
            - { at: 6s, do: alice.hangup }
          """))
  }

  @Test func `class 11 - the call of a session that is over does not ring`() throws {
    try proves(
      .endedCallRevived, breaks: "ended-calls",
      by: call(
        sender: "alice",
        """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: bob.accept }
          - { at: 6s, do: alice.hangup }
          - { at: 12s, send: call, from: mallory, to: bob, like: call }
        """))
  }

  @Test func `class 12 - somebody who is not in the session cannot end it`() throws {
    try proves(
      .strangersObeyed, breaks: "partner-only",
      by: call(
        """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: bob.accept }
          - { at: 8s, send: hangUp, from: mallory, to: bob, like: call }
        """))
  }

  @Test func `class 16 - a session whose hangUp is lost stops ringing`() throws {
    try proves(
      .ringTimerForgotten, breaks: "stuck-state",
      by: call(
        length: "10s",
        """
          - { at: 0s, fault: signal.drop, message: hangUp }
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: alice.hangup }
        """))
  }

  @Test func `class 17 - who leaves during the setup is not told that the opponent did`() throws {
    try proves(.hangupBlamedOnOther, breaks: "agreement", by: call(length: "8s", hungUpInSetup))
  }

  @Test func `class 18 - no timer of a session outlives it`() throws {
    try proves(.lossTimerLeaks, breaks: "quiescence", by: call(length: "4s", hungUpInSetup))
  }

  @Test func `class 19 - an alert of a stranger does not end the handshake with an opponent`() throws {
    try proves(
      .strangersHandshakeRead, breaks: "unverified-sources",
      by: call(
        length: "8s",
        """
          - { at: 0s, fault: packet.forge, protocol: dtls, to: bob, count: 1 }
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: bob.accept }
        """))
  }

  @Test func `class 20 - no media flow to an opponent's certificate that was not signalled`() throws {
    try proves(
      .fingerprintNotCompared, breaks: "signalled-certificate",
      by: call(
        length: "8s",
        """
          - { at: 0s, fault: signal.corrupt, message: call, mutation: changed-fingerprint }
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: bob.accept }
        """))
  }

  @Test func `class 25 - the index of a candidate's section is checked before it is converted`() async throws {
    #expect(CallSignal.Candidate(["candidate": "", "sdpMLineIndex": -1]) == nil)
    await #expect(processExitsWith: .failure) {
      Defect.ofProcess = .candidateIndexTraps
      _ = CallSignal.Candidate(["candidate": "", "sdpMLineIndex": -1])
    }
  }

  @Test func `class 26 - candidates that wait for an offer to be answered are limited`() throws {
    try proves(
      .waitingCandidatesUnbounded, breaks: "bounded-backlog",
      by: call(
        length: "8s", sender: "alice",
        """
          - { at: 1s, do: alice.call, to: bob }
          - { every: 2ms, of: bob.session.state.pending, times: 2000, send: iceCandidates, from: mallory, to: bob, like: call, fields: { iceCandidates: '[{"candidate":"candidate:1 1 udp 1 192.0.2.1 9 typ host","sdpMid":"0"}]' } }
        """))
  }

  @Test func `class 27 - a packet of an opponent that comes late is not counted as lost`() throws {
    try proves(
      .latePacketStaysLost, breaks: "honest-stats",
      by: call(
        """
          - { at: 1s, do: alice.call, to: bob }
          - { at: 3s, do: bob.accept }
          - { at: 6s, fault: link.set, link: bob/wifi, jitter: { dist: normal, amount: 40ms, order: allow }, for: 5s }
        """))
  }

  @Test func `class 28 - the ids of sessions are the same after another run`() throws {
    let provocation = call(length: "4s", "  - { at: 1s, do: alice.call, to: bob }")
    try proves(.callIDsOfProcess) { claims in
      let hashes = try (0..<2).map { _ in try provocation.play().traceHash }
      claims("the traces are equal", hashes[0] == hashes[1])
    }
  }
}
