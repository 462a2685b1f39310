import CallCore
import DTLS
import Foundation
import ICE
import SDP
import StackWorlds
import Testing

@testable import PeerSession

/// Offers recorded from Chromium, aiortc and GStreamer, answered by a whole session that has audio and data channels.
@Suite struct RecordedOfferTests {
  /// An offer and what a session with one audio transceiver makes of it.
  struct Recorded: CustomTestStringConvertible, Sendable {
    let name: String
    /// Where the audio section stands, and the payload type under which it offers Opus.
    let audio: Int
    let opus: UInt8
    /// Where a UDP candidate of the transport in use waits for checks.
    let destinations: Set<String>

    var testDescription: String { name }

    func description() throws -> SessionDescriptionText {
      let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      let file = tests.appending(path: "SDPTests/Recorded/\(name).sdp")
      return SessionDescriptionText(.offer, sdp: try String(contentsOf: file, encoding: .utf8))
    }
  }

  static let offers = [
    Recorded(name: "aiortc-offer", audio: 0, opus: 96, destinations: ["127.0.0.2:53851"]),
    Recorded(name: "chromium-offer", audio: 0, opus: 111, destinations: []),
    Recorded(name: "chromium-offer-gathered", audio: 0, opus: 111, destinations: ["127.0.0.1:33848"]),
    // Bundle-only with port 0, `OPUS` and `UDP` in upper case, and TCP candidates among those for UDP.
    Recorded(name: "gstreamer-offer", audio: 1, opus: 97, destinations: ["198.51.100.1:46378"]),
  ]

  /// The session's answer to an offer, and the session.
  private func answer(
    _ offer: SessionDescriptionText, at address: String? = nil
  ) throws -> (pair: SessionPair, answer: SessionDescription) {
    let pair = SessionPair()
    if let address { pair.b.move(to: address, at: pair.now) }
    try pair.b.session.setRemoteDescription(offer, at: pair.now)
    let answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    pair.drain(pair.b)
    return (pair, try SessionDescription(parsing: answer.sdp))
  }

  @Test(arguments: offers) func `audio and data channels are taken and video rejected in its place`(
    _ recorded: Recorded
  ) throws {
    let offer = try SessionDescription(parsing: recorded.description().sdp)
    let (pair, answer) = try answer(recorded.description())
    #expect(pair.b.session.signalingState == .stable)
    #expect(answer.media.map(\.mid) == offer.media.map(\.mid))
    #expect(answer.media.map(\.type) == offer.media.map(\.type))
    #expect(answer.media.map(\.transportProtocol) == offer.media.map(\.transportProtocol))
    for (index, section) in answer.media.enumerated() {
      #expect((section.port != 0) == (index == recorded.audio || section.type == "application"))
    }
    let audio = answer.media[recorded.audio]
    #expect(audio.codecs.map(\.payloadType) == [recorded.opus])
    #expect(answer.bundle == answer.media.filter { $0.port != 0 }.map(\.mid))
    #expect(audio.attributes.setup == .active)
    #expect(audio.attributes.fingerprints.count == 1)
    #expect(answer.direction(of: audio) == .sendrecv)
    #expect(try SessionDescription(parsing: answer.text) == answer)
  }

  @Test(arguments: offers) func `checks go to the UDP candidates of the transport in use alone`(
    _ recorded: Recorded
  ) throws {
    // Who offers a loopback address is on this machine, and is reached from such an address alone.
    let isLocal = recorded.destinations.contains { $0.hasPrefix("127.") }
    let (pair, _) = try answer(recorded.description(), at: isLocal ? "127.0.0.9" : nil)
    pair.run(for: .seconds(2))
    let destinations = Set(pair.sent.filter { !$0.fromA }.map { "\($0.path.remote)" })
    #expect(destinations == recorded.destinations)
    #expect(pair.sent.allSatisfy { !$0.isMedia && !$0.isDTLS })
    #expect(pair.b.session.connectionState == (destinations.isEmpty ? .new : .connecting))
  }

  @Test func `a name that does not resolve is no error, and an address after it still counts`() throws {
    var offer = try Self.offers[2].description()
    offer.sdp.replace("2122260223 127.0.0.1 33848", with: "2122260223 8d3ae3fa-0d3c-4f1f-a5a5-c45e6a0ad9d6.local 33848")
    let (pair, _) = try answer(offer)
    pair.run(for: .seconds(2))
    #expect(pair.sent.isEmpty)
    try pair.b.session.addICECandidate(
      "candidate:1 1 udp 2122260223 198.51.100.7 4000 typ host", mid: "0", mLineIndex: 0, at: pair.now)
    pair.run(for: .seconds(1))
    #expect(Set(pair.sent.map { "\($0.path.remote)" }) == ["198.51.100.7:4000"])
  }

  @Test func `any one of several fingerprints is enough`() throws {
    let (pair, _) = try answer(Self.offers[0].description())
    let fingerprints = pair.b.session.jsep.transport?.remote.fingerprints.map(\.algorithm)
    #expect(fingerprints == ["sha-256", "sha-384", "sha-512"])
    #expect(pair.b.session.dtls.role == .client)
  }

  @Test(arguments: offers) func `re-offering the same is answered without disturbing what runs`(
    _ recorded: Recorded
  ) throws {
    let (pair, first) = try answer(recorded.description())
    let credentials = pair.b.session.ice.localCredentials
    var again = try recorded.description()
    let offer = try SessionDescription(parsing: again.sdp)
    var next = offer
    next.origin.version += 1
    again.sdp = next.text
    try pair.b.session.setRemoteDescription(again, at: pair.now)
    let answer = try pair.b.session.createAnswer()
    try pair.b.session.setLocalDescription(answer, at: pair.now)
    let second = try SessionDescription(parsing: answer.sdp)
    #expect(second.media.map(\.formats) == first.media.map(\.formats))
    #expect(second.media.map { $0.port == 0 } == first.media.map { $0.port == 0 })
    #expect(pair.b.session.ice.localCredentials == credentials)
    #expect(!pair.b.observations.contains { if case .iceRestart = $0 { true } else { false } })
  }
}
