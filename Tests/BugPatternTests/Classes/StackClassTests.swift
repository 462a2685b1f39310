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
    try proves(.strangersHandshakeRead) { claims in
      let call = DTLSPair()
      try call.start()
      // handshake_failure, fatal, in the clear (RFC 6347 section 4.1)
      let alert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
      let path = Path(local: DTLSPair.serverEndpoint, remote: Endpoint("198.51.100.66:6666")!)
      call.server.receive(alert.span.bytes, on: path, at: call.now)
      call.drain()
      call.run(until: .zero + .seconds(2))
      claims("the handshake is done", call.bothConnected)
    }
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
    try proves(.waitingCandidatesUnbounded) { claims in
      let call = Call(id: "1", peer: "alice", isCaller: false)
      for number in 0..<10_000 {
        call.addRemoteCandidate(.init(text: "candidate:\(number)", mid: "0", mLineIndex: 0)) {}
      }
      claims("a hundred are kept", call.waitingCandidates.count == Call.waitingLimit)
    }
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
