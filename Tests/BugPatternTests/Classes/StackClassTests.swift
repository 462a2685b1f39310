import CallCore
import DTLS
import Formats
import ScenarioRun
import StackWorlds
import Testing

@testable import Profiles

/// Classes of defects below the state machine of a call, and around it.
@Suite struct StackClassTests {
  @Test func `class 19 - an alert of an unverified address does not end the handshake`() throws {
    try proves(
      .strangersHandshakeRead, breaks: "unverified-sources",
      by: Provocation(
        length: "8s",
        timeline: """
            - { at: 0s, fault: packet.forge, protocol: dtls, to: bob, count: 1 }
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
          """))
  }

  @Test(arguments: SignalledCall.all)
  func `class 20 - no media flow to a certificate that was not signalled`(call: SignalledCall) throws {
    try proves(
      .fingerprintNotCompared, breaks: "signalled-certificate",
      by: Provocation(
        peers: """
            alice: { profile: \(call.profile), network: wifi }
            bob: { profile: \(call.profile), network: wifi }
          """, length: "8s",
        timeline: """
            - { at: 0s, fault: signal.corrupt, message: \(call.message), to: bob, mutation: changed-fingerprint }
          \(call.timeline)
          """))
  }

  @Test func `class 25 - the index of a section is checked before it is converted`() async throws {
    #expect(Self.candidate(index: -1) == nil)
    await #expect(processExitsWith: .failure) {
      Defect.ofProcess = .candidateIndexTraps
      _ = StackClassTests.candidate(index: -1)
    }
  }

  private static func candidate(index: Int64) -> KnotosMessage? {
    let fields: JSON = ["fromUserId": "alice", "callId": "1", "candidate": "", "sdpMLineIndex": .integer(index)]
    return KnotosMessage(name: "ice_candidate", arguments: [fields], isFromServer: true)
  }

  @Test func `class 26 - candidates that wait for their description are limited`() throws {
    try proves(
      .waitingCandidatesUnbounded, breaks: "bounded-backlog",
      by: Provocation(
        length: "8s", sender: "alice",
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { every: 2ms, of: bob.call.state.ringing, times: 2000, send: ice_candidate, from: mallory, to: bob, fields: { callId: alice-1, candidate: "candidate:1 1 udp 1 192.0.2.1 9 typ host", sdpMid: "0" } }
          """))
  }

  @Test func `class 27 - a packet that comes late is not counted as lost`() throws {
    try proves(
      .latePacketStaysLost, breaks: "honest-stats",
      by: Provocation(
        timeline: """
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
            - { at: 6s, fault: link.set, link: bob/wifi, jitter: { dist: normal, amount: 40ms, order: allow }, for: 5s }
          """))
  }

  @Test func `class 28 - a run is the same after another one in its process`() throws {
    let provocation = Provocation(length: "4s", timeline: "  - { at: 1s, do: alice.call, to: bob }")
    try proves(.callIDsOfProcess) { claims in
      let hashes = try (0..<2).map { _ in try provocation.play().traceHash }
      claims("the traces are equal", hashes[0] == hashes[1])
    }
  }
}

/// A call of a product, and the message that brings Bob the description of the other end.
struct SignalledCall: CustomTestStringConvertible, Sendable {
  let profile: String
  var name = ""
  let message: String
  let timeline: String

  var testDescription: String { profile + name }

  static let all = [
    SignalledCall(profile: "knotos", message: "call_offer", timeline: placed),
    SignalledCall(profile: "connectycube", message: "call", timeline: placed),
    SignalledCall(profile: "twilio", message: "connected", timeline: joined("room")),
    SignalledCall(profile: "vonage", message: "media", timeline: joined("session")),
    SignalledCall(
      profile: "vonage", name: " relayed", message: "media",
      timeline: "  - { at: 500ms, do: alice.create-session, session: daily, mode: relayed }\n" + joined("session")),
  ]

  private static let placed = """
      - { at: 1s, do: alice.call, to: bob }
      - { at: 3s, do: bob.accept }
    """

  private static func joined(_ place: String) -> String {
    """
      - { at: 1s, do: bob.connect, \(place): daily }
      - { at: 2s, do: alice.connect, \(place): daily }
    """
  }
}
