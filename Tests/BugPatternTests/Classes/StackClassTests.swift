import CallCore
import DTLS
import Formats
import ScenarioRun
import StackWorlds
import Testing
import VirtualPeer
import Vocabulary

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

  @Test func `class 20 - no media flow to a certificate that was not signalled`() throws {
    try proves(
      .fingerprintNotCompared, breaks: "signalled-certificate",
      by: Provocation(
        length: "8s",
        timeline: """
            - { at: 0s, fault: signal.corrupt, message: call_offer, field: description, value: foreign }
            - { at: 1s, do: alice.call, to: bob }
            - { at: 3s, do: bob.accept }
          """, profiles: try ForgingServer.profiles))
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

/// The server of Knotos, with a signal.corrupt that puts another fingerprint into a description: `value: foreign`.
final class ForgingServer: CallServer {
  static var profiles: ProfileCatalogue {
    get throws { try ProfileCatalogue([Profile(app: KnotosApp.self, server: ForgingServer.self)]) }
  }

  private let server: KnotosServer

  init(environment: ServerEnvironment) { server = KnotosServer(environment: environment) }

  static func frame(of text: String) -> SignallingFrame { KnotosServer.frame(of: text) }

  static func text(of message: MessageContent, in frame: String?) -> String {
    var message = message
    if message["offer"] == "foreign", let frame, case .message(let original) = KnotosServer.frame(of: frame),
      let description = original["offer"]?.string
    {
      let lines = description.split(separator: "\r\n").map { line in
        line.hasPrefix("a=fingerprint:")
          ? String(line.dropLast(2)) + (line.hasSuffix("00") ? "01" : "00") : String(line)
      }
      message["offer"] = .string(lines.joined(separator: "\r\n") + "\r\n")
    }
    return KnotosServer.text(of: message, in: frame)
  }

  func start() { server.start() }

  func inject(_ message: MessageContent, from: String, to: String) { server.inject(message, from: from, to: to) }

  func shutDown() { server.shutDown() }
}
