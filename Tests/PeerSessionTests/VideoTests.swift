import CallCore
import Codecs
import PeerSession
import Pictures
import RTP
import SDP
import StackWorlds
import Statistics
import Testing

/// Video between two sessions, from the camera to the pictures that are shown.
@Suite struct VideoTests {
  /// Two sessions with video, whose cameras film moving bars.
  static func pair(
    _ codec: VideoSettings.Codec = .vp8, media: MediaFidelity = .synthetic, seed: UInt64 = 1,
    adjust: (inout VideoSettings) -> Void = { _ in }
  ) throws -> SessionPair {
    var video = VideoSettings()
    video.codecs = [codec]
    (video.width, video.height) = (320, 240)
    adjust(&video)
    let pair = SessionPair(seed: seed) { configuration in
      configuration.media = media
      configuration.video = video
    }
    for side in [pair.a, pair.b] { try side.session.addTrack(.camera) }
    let size = PictureSize(video.width, video.height)!
    for side in [pair.a, pair.b] { side.camera = GeneratedVideo(.movingBars, size: size) }
    return pair
  }

  @Test(arguments: VideoSettings.Codec.allCases, [MediaFidelity.synthetic, .real])
  func `pictures of both cameras are shown in order, each once`(_ codec: VideoSettings.Codec, _ media: MediaFidelity)
    throws
  {
    let pair = try Self.pair(codec, media: media)
    try pair.negotiate()
    pair.run(for: .seconds(4))
    for side in [pair.a, pair.b] {
      let numbers = side.shown.compactMap(\.contentID)
      #expect(numbers.count > 80)
      #expect(numbers.count == side.shown.count)
      #expect(numbers == numbers.sorted())
      #expect(Set(numbers).count == numbers.count)
    }
    #expect(pair.hotWakes == 0)
  }

  @Test func `a source that gives more pictures than the settings say is sent at its own rate`() throws {
    let pair = try Self.pair { $0.frameRate = 10 }
    pair.b.sourceFrameRate = 30
    try pair.negotiate()
    pair.run(for: .seconds(4))
    #expect((30...45).contains(pair.b.shown.count), "\(pair.b.shown.count)")
    #expect(pair.a.shown.count > 80, "\(pair.a.shown.count)")
  }

  @Test func `a call without a camera has no video section, and its packets are those of before`() throws {
    let pair = SessionPair { $0.video = VideoSettings() }
    try pair.negotiate()
    #expect(pair.a.session.localDescription?.sdp.contains("m=video") == false)
    pair.run(for: .seconds(1))
    #expect(pair.b.shown.isEmpty)
  }

  @Test func `a peer without video rejects the section, and audio goes on`() throws {
    let pair = try Self.pair()
    pair.replaceB { $0.media = .synthetic }
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(pair.b.loudest > .silence)
    #expect(pair.b.shown.isEmpty && pair.a.shown.isEmpty)
  }

  @Test func `lost packets are sent again on the retransmission stream, and no picture is missing`() throws {
    let pair = try Self.pair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    var count = 0
    pair.drops = { sent in
      guard sent.fromA, sent.bytes.count > 400 else { return false }
      count += 1
      return count % 10 == 0
    }
    pair.b.shown = []
    pair.run(for: .seconds(4))
    let numbers = pair.b.shown.compactMap(\.contentID)
    #expect(count > 100)
    #expect(numbers.count > 110)
    let statistics = pair.b.session.statistics(at: pair.now)
    let inbound = try #require(statistics.first("inbound-rtp", kind: "video"))
    guard case .integer(let repaired)? = inbound["retransmittedPacketsReceived"] else {
      Issue.record("no count of retransmissions")
      return
    }
    // Some of the retransmissions are lost too.
    #expect(repaired >= Int64(count / 10) * 3 / 4)
  }

  @Test func `a retransmission that comes before its stream is counted`() throws {
    // Browsers probe with retransmissions, which may overtake the first picture.
    let pair = try Self.pair()
    try pair.negotiate()
    let (media, retransmission): (UInt8, UInt8) = (96, 97)
    var arriving: [UInt8: Int] = [:]
    pair.drops = { sent in
      let type = sent.bytes.count > 12 && sent.bytes[0] >> 6 == 2 ? sent.bytes[1] & 0x7F : 0
      guard sent.fromA, type == media || type == retransmission else { return false }
      if type == media, arriving[retransmission] == nil { return true }
      arriving[type, default: 0] += 1
      return false
    }
    pair.run(for: .seconds(4))
    pair.drops = { _ in true }
    pair.run(for: .milliseconds(500))
    let inbound = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp", kind: "video"))
    #expect(arriving.count == 2)
    #expect(inbound["packetsReceived"] == .integer(Int64(arriving.values.reduce(0, +))))
  }

  @Test func `without retransmission a key frame is requested after three seconds, and pictures go on`() throws {
    let pair = try Self.pair {
      $0.nack = false
      $0.retransmission = false
    }
    try pair.negotiate()
    pair.run(for: .seconds(2))
    var count = 0
    pair.drops = { sent in
      guard sent.fromA, sent.bytes.count > 400 else { return false }
      count += 1
      return count == 1
    }
    pair.run(for: .seconds(5))
    let outbound = try #require(pair.a.session.statistics(at: pair.now).first("outbound-rtp", kind: "video"))
    #expect(outbound["pliCount"] == .integer(1))
    #expect(outbound["keyFramesEncoded"] == .integer(2))
    #expect(pair.b.shown.last.map { pair.now - $0.rendered < .milliseconds(200) } == true)
  }

  @Test func `the estimate rises to the maximum on a free link`() throws {
    let pair = try Self.pair { ($0.width, $0.height) = (640, 480) }
    try pair.negotiate()
    pair.run(for: .seconds(10))
    let outbound = try #require(pair.a.session.statistics(at: pair.now).first("outbound-rtp", kind: "video"))
    guard case .real(let target)? = outbound["targetBitrate"] else {
      Issue.record("no target")
      return
    }
    #expect(target > 1_500_000)
  }

  @Test func `the encoder keeps to its maximum on a free link, and what is beyond is room for repair`() throws {
    let pair = try Self.pair { $0.maximumBitrate = .kilobitsPerSecond(300) }
    try pair.negotiate()
    pair.run(for: .seconds(10))
    let before = pair.sent.count
    pair.run(for: .seconds(10))
    let outbound = try #require(pair.a.session.statistics(at: pair.now).first("outbound-rtp", kind: "video"))
    #expect(outbound["targetBitrate"] == .real(300_000))
    let bytes = pair.sent[before...].filter(\.fromA).reduce(0) { $0 + $1.bytes.count }
    // With 32 kbit/s of audio, headers and reports.
    #expect((250_000...420_000).contains(bytes * 8 / 10))
  }

  @Test func `the estimate follows a slow link, and audio arrives`() throws {
    let pair = try Self.pair { ($0.width, $0.height) = (640, 480) }
    pair.rate = .kilobitsPerSecond(500)
    try pair.negotiate()
    pair.run(for: .seconds(20))
    let before = pair.sent.count
    pair.run(for: .seconds(10))
    let bytes = pair.sent[before...].filter(\.fromA).reduce(0) { $0 + $1.bytes.count + 28 }
    #expect((250_000...510_000).contains(bytes * 8 / 10))
    let inbound = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp", kind: "video"))
    #expect(inbound["framesDecoded"] != .integer(0))
  }

  @Test func `a disabled track sends black pictures`() throws {
    let pair = try Self.pair(media: .real)
    pair.a.session.setVideoEnabled(false)
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(pair.b.shown.count > 30)
    for frame in pair.b.shown {
      let picture = try #require(frame.picture)
      #expect(picture.withPlane(.y) { $0.allSatisfy { $0 <= 20 } })
    }
  }

  @Test func `the same seed gives the same packets`() throws {
    var runs: [[[UInt8]]] = []
    for _ in 0..<2 {
      let pair = try Self.pair(media: .real)
      try pair.negotiate()
      pair.run(for: .seconds(2))
      runs.append(pair.sent.map(\.bytes))
    }
    #expect(runs[0] == runs[1])
  }
}
