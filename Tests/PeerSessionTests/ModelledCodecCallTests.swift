import CallCore
import Codecs
import SDP
import StackWorlds
import Statistics
import Testing

@testable import PeerSession

/// Calls of two sessions with iLBC and iSAC, which are modelled.
@Suite struct ModelledCodecCallTests {
  func pair(
    _ codecs: [AudioCodec], ptime: Int64 = 20, adjust: @escaping (inout SessionConfiguration) -> Void = { _ in }
  )
    -> SessionPair
  {
    SessionPair {
      $0.media = .synthetic
      $0.audio.codecs = codecs
      $0.audio.ptime = .milliseconds(ptime)
      adjust(&$0)
    }
  }

  /// The steps of the timestamps that `a` has sent since a time, and the encoding.
  func steps(_ pair: SessionPair, since start: Instant = .zero) -> Set<UInt32> {
    let times = pair.sent.filter { $0.fromA && $0.isRTP && $0.time >= start }.map {
      $0.bytes.span.bytes.bigEndian(UInt32.self, at: 4) ?? 0
    }
    return Set(zip(times, times.dropFirst()).map { $1 &- $0 })
  }

  func rate(_ pair: SessionPair, over duration: Interval) throws -> Double {
    func bytes() -> Int64 {
      guard case .integer(let count)? = pair.b.session.statistics(at: pair.now).first("inbound-rtp")?["bytesReceived"]
      else { return 0 }
      return count
    }
    let before = bytes()
    pair.run(for: duration)
    return Double(bytes() - before) * 8 / duration.seconds
  }

  @Test func `both are offered with their names, clocks and libwebrtc's payload types`() throws {
    let sdp = try pair([.isac, .ilbc], ptime: 30).a.session.createOffer().sdp
    let lines = sdp.split(separator: "\r\n").map(String.init)
    #expect(lines.filter { $0.hasPrefix("a=rtpmap") } == ["a=rtpmap:103 isac/16000", "a=rtpmap:102 iLBC/8000"])
    #expect(lines.filter { $0.hasPrefix("a=fmtp") } == ["a=fmtp:102 mode=30"])
  }

  @Test(
    arguments: [(20, 160, 15_200.0), (30, 240, 13_333), (40, 320, 15_200), (60, 480, 13_333)]
      as [(Int64, UInt32, Double)])
  func `iLBC has packets of whole frames at one of its two rates`(ptime: Int64, ticks: UInt32, rate: Double) throws {
    let pair = pair([.ilbc], ptime: ptime)
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(steps(pair) == [ticks])
    #expect(abs(try self.rate(pair, over: .seconds(6)) - rate) < rate / 50)
    let inbound = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
    #expect(inbound["concealedSamples"] == .integer(0) && pair.b.loudest > AudioLevel(25))
  }

  @Test(arguments: [(20, 30), (30, 20)] as [(Int64, Int64)])
  func `both directions of iLBC have the mode of the lower rate`(
    ours: Int64, theirs: Int64
  ) throws {
    let pair = pair([.ilbc], ptime: ours)
    pair.replaceB {
      $0.media = .synthetic
      $0.audio.codecs = [.ilbc]
      $0.audio.ptime = .milliseconds(theirs)
    }
    try pair.negotiate()
    pair.run(for: .seconds(2))
    for side in [pair.a, pair.b] {
      #expect(side.session.media.audioChannel?.send?.encoding.packetDuration == .ms30)
    }
    #expect(steps(pair) == [240])
  }

  @Test(arguments: ["", "mode=0", "mode=25"]) func `iLBC without a known mode has frames of 30 ms`(mode: String) throws
  {
    let pair = pair([.ilbc])
    var offer = try pair.b.session.createOffer()
    try pair.b.session.setLocalDescription(offer, at: pair.now)
    offer.sdp.replace("a=fmtp:102 mode=20\r\n", with: mode.isEmpty ? "" : "a=fmtp:102 \(mode)\r\n")
    try pair.answer(offer, of: pair.b, by: pair.a)
    #expect(pair.a.session.media.audioChannel?.send?.encoding.packetDuration == .ms30)
  }

  @Test(arguments: [(20, 480), (30, 480), (40, 480), (60, 960)] as [(Int64, UInt32)])
  func `packets of iSAC have 30 or 60 ms`(
    ptime: Int64, ticks: UInt32
  ) throws {
    let pair = pair([.isac], ptime: ptime)
    try pair.negotiate()
    pair.run(for: .seconds(3))
    #expect(steps(pair) == [ticks])
    #expect(pair.b.session.statistics(at: pair.now).first("inbound-rtp")?["concealedSamples"] == .integer(0))
    #expect(pair.b.loudest > AudioLevel(25))
  }

  @Test func `iSAC begins at about 20 kbit per second, and goes up to 32 on a free path`() throws {
    let pair = pair([.isac])
    try pair.negotiate()
    pair.run(for: .seconds(1))
    #expect((17_000...22_000).contains(try rate(pair, over: .seconds(1))))
    pair.run(for: .seconds(10))
    #expect(abs(try rate(pair, over: .seconds(6)) - 32_000) < 500)
  }

  @Test func `iSAC goes down to what a narrow path carries, and up again after it`() throws {
    let pair = pair([.isac])
    try pair.negotiate()
    pair.run(for: .seconds(12))
    pair.rate = .kilobitsPerSecond(35)
    pair.run(for: .seconds(10))
    let narrow = try rate(pair, over: .seconds(6))
    #expect((10_000...24_000).contains(narrow))
    pair.rate = nil
    pair.run(for: .seconds(15))
    #expect(try rate(pair, over: .seconds(3)) > 1.3 * narrow)
  }

  @Test(arguments: [("b=TIAS:14000", 14_000), ("b=AS:26", 15_334), ("b=TIAS:8000", 10_000)] as [(String, Int64)])
  func
    `iSAC keeps to what the far side takes, not below 10 kbit per second`(line: String, limit: Int64) throws
  {
    let pair = pair([.isac])
    var offer = try pair.b.session.createOffer()
    try pair.b.session.setLocalDescription(offer, at: pair.now)
    offer.sdp = offer.sdp.split(separator: "\r\n").map { $0.hasPrefix("c=") ? "\($0)\r\n\(line)\r\n" : "\($0)\r\n" }
      .joined()
    try pair.answer(offer, of: pair.b, by: pair.a)
    #expect(pair.a.session.media.audioChannel?.send?.encoding.bitrate == .bitsPerSecond(limit))
  }

  @Test(arguments: [AudioCodec.ilbc, .isac]) func `real media refuse a modelled codec`(codec: AudioCodec) throws {
    let pair = SessionPair()
    var configuration = pair.a.session.configuration
    configuration.media = .real
    configuration.audio.codecs = [.opus, codec]
    let session = CallSession(configuration: configuration, random: RandomSource(seed: 1), at: .zero)
    let problem = "\(codec.rawValue) with real media: it is modelled, and takes synthetic media"
    #expect(throws: SessionError.notSupported(problem)) { try session.addTrack() }
  }

  @Test func `a call goes from Opus to iLBC and to iSAC without a gap`() throws {
    let pair = pair([.opus, .ilbc, .isac])
    try pair.negotiate()
    pair.run(for: .seconds(2))
    for name in ["iLBC", "isac", "opus"] {
      let wanted = pair.a.session.codecs(for: .audio).filter { $0.name == name }
      try pair.a.session.setCodecPreferences(wanted, of: pair.a.microphone)
      try pair.negotiate()
      pair.run(for: .seconds(2))
      #expect(pair.b.session.statistics(at: pair.now).first("codec")?["mimeType"] == .text("audio/\(name)"))
    }
    let inbound = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
    #expect(inbound["packetsLost"] == .integer(0) && inbound["concealedSamples"] == .integer(0))
  }
}
