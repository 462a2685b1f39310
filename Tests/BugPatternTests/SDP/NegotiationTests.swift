import CallCore
import SDP
import Testing

/// Patterns 44 to 46: descriptions that lose their shape, their memory or their numbers.
@Suite struct NegotiationPatternTests {
  private final class Peer {
    var session: JSEPSession
    let parameters: TransportParameters

    init(_ name: Character, audio: [CodecCapability] = [.opus], video: [CodecCapability] = [.vp8]) {
      session = JSEPSession(
        JSEPSession.Configuration(
          sessionID: 4_711, audio: MediaCapabilities(codecs: audio), video: MediaCapabilities(codecs: video)))
      parameters = TransportParameters(
        usernameFragment: "frag\(name)", password: String(repeating: name, count: 24),
        fingerprints: [
          Fingerprint(algorithm: "sha-256", digest: Array(repeating: name.asciiValue ?? 0, count: 32))
        ])
    }

    func add(_ kind: MediaKind) throws {
      try session.addTrack(
        kind, sender: Transceiver.Sender(trackID: "\(kind)", streamIDs: ["s"], cname: "c", ssrc: nextSSRC))
    }

    private var nextSSRC: UInt32 { 1_000 + UInt32(session.transceivers.count) }

    /// Creates and sets an offer, and returns it as the far side reads it.
    func offer() throws -> SessionDescription {
      let offer = try session.createOffer(parameters)
      try session.setLocalDescription(.offer, offer)
      return try SessionDescription(parsing: offer.text)
    }

    func answer() throws -> SessionDescription {
      let answer = try session.createAnswer(parameters)
      try session.setLocalDescription(.answer, answer)
      return try SessionDescription(parsing: answer.text)
    }

    func take(_ type: DescriptionType, _ description: SessionDescription) throws {
      try session.setRemoteDescription(type, description)
    }

    // Copies, because claims cannot look into a session that cannot be copied.
    var transceivers: [Transceiver] { session.transceivers }
    var media: [NegotiatedMedia] { session.media }
  }

  private func negotiate(_ a: Peer, _ b: Peer) throws {
    try b.take(.offer, try a.offer())
    try a.take(.answer, try b.answer())
  }

  @Test func `44 - a section that is rejected stays in the answer`() throws {
    try proves(.rejectedSectionOmitted) { claims in
      let (a, b) = (Peer("a"), Peer("b", video: []))
      try a.add(.video)
      try a.add(.audio)
      try b.add(.audio)
      let offer = try a.offer()
      try b.take(.offer, offer)
      let answer = try b.answer()
      claims("each section is answered", answer.media.map(\.mid) == offer.media.map(\.mid))
      claims("video is refused", answer.media.map { $0.port == 0 } == [true, false])
      try a.take(.answer, answer)
      claims("audio is agreed on", a.media.map(\.kind) == [.audio])
    }
  }

  @Test func `44 - sections keep their order when the other side offers`() throws {
    try proves(.sectionsInOwnOrder) { claims in
      let (a, b) = (Peer("a"), Peer("b"))
      try a.add(.audio)
      try a.add(.video)
      // Bob has turned his camera on first.
      try b.add(.video)
      try b.add(.audio)
      try negotiate(a, b)
      let offer = try b.offer()
      claims("audio is still the first", offer.media.map(\.kind) == [.audio, .video])
      try a.take(.offer, offer)
      try b.take(.answer, try a.answer())
      claims("both agree", a.media.map(\.mid) == b.media.map(\.mid))
    }
  }

  @Test func `44 - a new section gets a name that nobody has used`() throws {
    try proves(.takenMidGivenOut) { claims in
      let (a, b) = (Peer("a"), Peer("b"))
      try a.add(.audio)
      try b.add(.audio)
      try negotiate(a, b)
      try b.add(.video)
      let offer = try b.offer()
      claims("names differ: \(offer.media.map(\.mid))", Set(offer.media.map(\.mid)).count == 2)
      try a.take(.offer, offer)
      try b.take(.answer, try a.answer())
      claims("both sections are in force", b.media.count == 2)
    }
  }

  @Test func `45 - a rolled back offer leaves no name behind`() throws {
    try proves(.rollbackKeepsMid) { claims in
      let (a, b) = (Peer("a"), Peer("b"))
      try a.add(.audio)
      _ = try a.offer()
      try a.session.rollback()
      claims("the microphone has no section", a.transceivers.map(\.mid) == [nil])
      // What follows is the other side's offer, in which the first section is video.
      try b.add(.video)
      try b.add(.audio)
      try a.take(.offer, try b.offer())
      try b.take(.answer, try a.answer())
      claims("the microphone is in the second section", a.media.last?.kind == .audio)
      claims("and sends there", a.media.last?.direction == .sendrecv)
    }
  }

  @Test func `45 - a rolled back offer leaves no transceiver behind`() throws {
    try proves(.rollbackKeepsTransceivers) { claims in
      let (a, b) = (Peer("a"), Peer("b"))
      try a.add(.audio)
      try b.add(.audio)
      try b.add(.video)
      try a.take(.offer, try b.offer())
      try a.session.rollback()
      claims("only the microphone is left", a.transceivers.map(\.kind) == [.audio])
      let offer = try a.offer()
      claims("only it is offered", offer.media.map(\.kind) == [.audio])
    }
  }

  @Test func `46 - a payload type keeps its meaning when the other side offers`() throws {
    try proves(.payloadTypeRemapped) { claims in
      // Bob would number his codecs otherwise, and give Alice's number for Opus to VP8.
      let opus = CodecCapability("opus", clockRate: 48_000, channels: 2, preferredPayloadType: 109)
      let vp8 = CodecCapability("VP8", clockRate: 90_000, preferredPayloadType: 111)
      let (a, b) = (Peer("a"), Peer("b", audio: [opus], video: [vp8]))
      try a.add(.audio)
      try b.add(.audio)
      try negotiate(a, b)
      try b.add(.video)
      let offer = try b.offer()
      claims("Opus keeps its number", offer.media.first?.codecs.map(\.payloadType) == [111])
      try a.take(.offer, offer)
      try b.take(.answer, try a.answer())
      let numbers = b.media.flatMap { $0.receiveCodecs.map(\.payloadType) }
      claims("no number means two things", Set(numbers).count == numbers.count)
      claims("what Bob hears is still what Alice sends", a.media.first?.sendCodecs.first?.payloadType == 111)
    }
  }
}
