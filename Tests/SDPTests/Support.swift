import CallCore
import Foundation

@testable import SDP

/// Offers and answers recorded from Chromium 156, aiortc 1.16 and GStreamer 1.22.
enum Recorded: String, CaseIterable {
  case aiortcAnswer = "aiortc-answer"
  case aiortcOffer = "aiortc-offer"
  case chromiumAnswerToAiortc = "chromium-answer-to-aiortc"
  case chromiumAnswer = "chromium-answer"
  case chromiumOfferGathered = "chromium-offer-gathered"
  case chromiumOffer = "chromium-offer"
  case gstreamerOffer = "gstreamer-offer"

  static let offers = [aiortcOffer, chromiumOfferGathered, chromiumOffer, gstreamerOffer]

  var text: String {
    get throws {
      let folder = URL(filePath: #filePath).deletingLastPathComponent()
      return try String(contentsOf: folder.appending(path: "Recorded/\(rawValue).sdp"), encoding: .utf8)
    }
  }

  var parsed: SessionDescription { get throws { try SessionDescription(parsing: text) } }
}

enum URN {
  static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
  static let audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
  static let transportCC = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
}

/// One side of a negotiation with the transport values its owner would bring.
struct Side: ~Copyable {
  var session: JSEPSession
  var parameters: TransportParameters
  private let name: Character
  private var generation = 0

  init(
    _ name: Character, audio: [CodecCapability] = [.opus], video: [CodecCapability] = [.vp8],
    extensions: [String] = [URN.mid, URN.transportCC], answersPassively: Bool = false,
    receivesSimulcast: Bool = false, data: SCTPDescription? = nil
  ) {
    self.name = name
    var configuration = JSEPSession.Configuration(
      sessionID: 4_711, audio: MediaCapabilities(codecs: audio, headerExtensions: extensions),
      video: MediaCapabilities(codecs: video, headerExtensions: extensions))
    configuration.answersPassively = answersPassively
    configuration.video.receivesSimulcast = receivesSimulcast
    configuration.data = data
    session = JSEPSession(configuration)
    parameters = Self.parameters(name, generation: 0)
  }

  static func parameters(_ name: Character, generation: Int) -> TransportParameters {
    TransportParameters(
      usernameFragment: "frag\(name)\(generation)",
      password: String(repeating: name, count: 22) + "\(generation)",
      fingerprints: [Fingerprint(algorithm: "sha-256", digest: Array(repeating: name.asciiValue ?? 0, count: 32))])
  }

  mutating func renewCredentials() {
    generation += 1
    parameters = Self.parameters(name, generation: generation)
  }

  func sender(_ track: String) -> Transceiver.Sender {
    Transceiver.Sender(
      trackID: track, streamIDs: ["stream"], cname: "cname\(name)",
      ssrc: UInt32(track.utf8.reduce(1) { $0 * 31 + Int($1) } & 0xFFFF),
      retransmissionSSRC: 77)
  }

  @discardableResult
  mutating func add(_ kind: MediaKind, _ track: String) throws -> Transceiver.ID {
    try session.addTrack(kind, sender: sender(track))
  }

  /// Creates and sets an offer, and returns it as the far side reads it.
  mutating func offer() throws -> SessionDescription {
    let offer = try session.createOffer(parameters)
    try session.setLocalDescription(.offer, offer)
    return try SessionDescription(parsing: offer.text)
  }

  mutating func answer(_ type: DescriptionType = .answer) throws -> SessionDescription {
    let answer = try session.createAnswer(parameters)
    try session.setLocalDescription(type, answer)
    return try SessionDescription(parsing: answer.text)
  }
}

/// A whole round: `a` offers, `b` answers.
func negotiate(_ a: inout Side, _ b: inout Side) throws {
  let offer = try a.offer()
  let effects = try b.session.setRemoteDescription(.offer, offer)
  if effects.isRemoteICERestart { b.renewCredentials() }
  try a.session.setRemoteDescription(.answer, try b.answer())
}

/// Two sides with audio and video both ways, negotiated.
struct Call: ~Copyable {
  var a = Side("A")
  var b = Side("B")

  init() throws {
    for kind in MediaKind.allCases {
      try a.add(kind, "a-\(kind)")
      try b.add(kind, "b-\(kind)")
    }
    try negotiate(&a, &b)
  }

  mutating func renegotiateFromA() throws { try negotiate(&a, &b) }
  mutating func renegotiateFromB() throws { try negotiate(&b, &a) }
}

extension SessionDescription {
  /// The description with one part of its text replaced; it must be there.
  func replacing(_ part: String, with other: String) throws -> SessionDescription {
    precondition(text.contains(part), "nothing to replace")
    return try SessionDescription(parsing: text.replacingOccurrences(of: part, with: other))
  }
}
