import CallCore
import Testing

@testable import SDP

struct ParserTests {
  private let minimal = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"

  @Test(arguments: Recorded.allCases)
  func `a recorded description survives reading and writing byte for byte`(_ recorded: Recorded) throws {
    let text = try recorded.text
    let description = try SessionDescription(parsing: text)
    #expect(description.text == text)
    #expect(try SessionDescription(parsing: description.text) == description)
  }

  @Test func `bare line feeds, a missing last line end and trailing blank lines are read`() throws {
    let crlf = try SessionDescription(parsing: minimal)
    #expect(try SessionDescription(parsing: "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0") == crlf)
    #expect(try SessionDescription(parsing: minimal + "\r\n\r\n") == crlf)
  }

  @Test func `an RFC 4317 offer is read with its static payload types`() throws {
    let text = """
      v=0
      o=alice 2890844526 2890844526 IN IP4 host.atlanta.example.com
      s=
      c=IN IP4 host.atlanta.example.com
      t=0 0
      m=audio 49170 RTP/AVP 0 8 97
      a=rtpmap:0 PCMU/8000
      a=rtpmap:97 iLBC/8000
      m=video 51372 RTP/AVP 31 32
      a=rtpmap:32 MPV/90000

      """
    let description = try SessionDescription(parsing: text)
    #expect(description.name == "")
    #expect(description.lines.connection?.address == "host.atlanta.example.com")
    #expect(description.media[0].codecs.map(\.name) == ["PCMU", "PCMA", "iLBC"])
    #expect(description.media[1].codecs.map(\.name) == ["H261", "MPV"])
    #expect(description.direction(of: description.media[0]) == .sendrecv)
  }

  @Test func `every typed attribute of a Chromium offer can be read`() throws {
    let offer = try Recorded.chromiumOfferGathered.parsed
    let (audio, video, data) = (offer.media[0], offer.media[1], offer.media[2])
    #expect(offer.bundle == ["0", "1", "2"])
    #expect(offer.origin.sessionID == "1382054767235721737" && offer.origin.version == 2)
    #expect(audio.attributes.iceUsernameFragment == "cnh5")
    #expect(audio.attributes.iceOptions == ["trickle"])
    #expect(audio.attributes.fingerprints.first?.digest.count == 32)
    #expect(audio.attributes.setup == .actpass)
    #expect(audio.attributes.candidates.count == 2)
    #expect(audio.codecs.first?.parameters["useinbandfec"] == "1")
    #expect(audio.codecs.first?.feedback == [.transportCC])
    #expect(audio.attributes.headerExtensions.first == HeaderExtension(id: 1, uri: URN.audioLevel))
    #expect(video.codecs.retransmission(of: 96) == 97)
    #expect(video.attributes.sources.first?.retransmission == 1_169_589_039)
    #expect(video.attributes.sources.first?.cname == "PqtFZr7AL/aOhAfA")
    #expect(video.attributes.streamIDs.first?.stream == "770278cb-3440-4ba8-87c6-2c13468070ed")
    #expect(data.attributes.sctpPort == 5_000 && data.kind == nil)
  }

  @Test func `lines and attributes nobody knows are kept`() throws {
    let text =
      minimal
      + "a=x-future:1 2 3\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\nb=AS:64\r\nb=TIAS:64000\r\na=x-flag\r\na=rid:1 send\r\n"
    let description = try SessionDescription(parsing: text)
    #expect(description.text == text)
    #expect(description.attributes.value("x-future") == "1 2 3")
    #expect(description.media[0].lines.bandwidths.map(\.value) == [64, 64_000])
  }

  @Test(arguments: [
    ("", 0, SDPError.Reason.missingLine("v")),
    ("v=1\r\n", 1, .malformed("v")),
    ("v=0\r\ns=-\r\n", 2, .missingLine("o")),
    ("v=0\r\no=- x 1 IN IP4 0.0.0.0\r\n", 2, .malformed("o")),
    ("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n", 2, .missingLine("s")),
  ])
  func `a broken preamble names its line`(_ text: String, line: Int, reason: SDPError.Reason) {
    #expect(throws: SDPError(line: line, reason: reason)) { try SessionDescription(parsing: text) }
  }

  @Test(arguments: [
    ("audio 9 UDP/TLS/RTP/SAVPF 0\r\n", SDPError.Reason.notTypeEqualsValue),
    ("y=1\r\n", .unexpectedLine("y")),
    ("v=0\r\n", .unexpectedLine("v")),
    ("\r\na=x\r\n", .notTypeEqualsValue),
    ("a=x\0y\r\n", .invalidCharacter),
    ("a=x\ry\r\n", .invalidCharacter),
    ("c=IN IP4\r\n", .malformed("c")),
    ("b=AS:lots\r\n", .malformed("b")),
    ("m=audio 70000 UDP/TLS/RTP/SAVPF 0\r\n", .malformed("m")),
    ("m=audio 9 UDP/TLS/RTP/SAVPF 128\r\n", .malformed("m")),
    ("m=audio 9 UDP/TLS/RTP/SAVPF 0 0\r\n", .malformed("m")),
    ("m=audio 9 UDP/TLS/RTP/SAVPF\r\n", .malformed("m")),
    ("a=rtpmap:111 opus\r\n", .malformed("rtpmap")),
    ("a=ice-pwd:short\r\n", .malformed("ice-pwd")),
    ("a=fingerprint:sha-256 GG:00\r\n", .malformed("fingerprint")),
    ("a=setup:both\r\n", .malformed("setup")),
    ("a=extmap:0 urn:x\r\n", .malformed("extmap")),
    ("a=ssrc:4294967296 cname:x\r\n", .malformed("ssrc")),
    ("a=mid\r\n", .malformed("mid")),
  ])
  func `a malformed line is refused with its number and reason`(_ line: String, reason: SDPError.Reason) {
    #expect(throws: SDPError(line: 5, reason: reason)) { try SessionDescription(parsing: minimal + line) }
  }

  @Test func `a session line inside a media section is refused`() {
    let text = minimal + "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\nt=0 0\r\n"
    #expect(throws: SDPError(line: 6, reason: .unexpectedLine("t"))) { try SessionDescription(parsing: text) }
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    let bytes = [UInt8](minimal.utf8) + [0x61, 0x3D, 0xFF, 0x0A]
    #expect(throws: SDPError(line: 5, reason: .invalidCharacter)) {
      try SessionDescription(parsing: bytes.span.bytes)
    }
  }

  @Test func `every limit holds`() {
    var limits = SDPLimits()
    limits.bytes = 400
    limits.bytesPerLine = 60
    limits.linesPerSection = 6
    limits.mediaSections = 2
    let section = "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n"
    let cases: [(String, SDPError.Reason)] = [
      (String(repeating: "a", count: 401), .tooLarge),
      (minimal + "a=" + String(repeating: "x", count: 59), .lineTooLong),
      (minimal + String(repeating: section, count: 3), .tooManyMediaSections),
      (minimal + section + String(repeating: "a=x\r\n", count: 6), .tooManyLines),
    ]
    for (text, reason) in cases {
      let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: text, limits: limits) }
      #expect(error?.reason == reason)
    }
  }

  @Test(arguments: Recorded.allCases)
  func `no mutation of a real description traps the parser or the session`(_ recorded: Recorded) throws {
    let original = [UInt8](try recorded.text.utf8)
    var random = RandomSource(seed: 7).stream(recorded.rawValue)
    for _ in 0..<40 {
      var bytes = original
      for _ in 0...random.uniform(below: 4) {
        let at = Int(random.uniform(below: UInt64(bytes.count)))
        switch random.uniform(below: 4) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.removeSubrange(at..<min(bytes.count, at + Int(random.uniform(below: 40))))
        case 2: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 60)], at: at)
        default: bytes[at] = UInt8(ascii: "0") + UInt8(random.uniform(below: 10))
        }
        if bytes.isEmpty { bytes = original }
      }
      guard let description = try? SessionDescription(parsing: bytes.span.bytes) else { continue }
      let again = try SessionDescription(parsing: description.text)
      #expect(again == description)
      var side = Side("A")
      guard (try? side.session.setRemoteDescription(.offer, description)) != nil else { continue }
      _ = try? side.answer()
    }
  }
}
