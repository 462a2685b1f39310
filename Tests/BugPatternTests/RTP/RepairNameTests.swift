import CallCore
import Pictures
import RTP
import StackWorlds
import Testing

@testable import PeerSession

/// Pattern 42: which section the stream that retransmits belongs to. Firefox binds sources to a section by MID alone once
/// it has seen one (RFC 9143 section 15).
@Suite struct RepairNamePatternTests {
  private static let (media, repair): (UInt8, UInt8) = (96, 97)

  @Test func `42 - the stream that retransmits names its section until it is itself reported`() throws {
    try proves(.repairMIDEndsWithMedia) { claims in
      let pair = try call()
      // One picture in ten needs a retransmission, and nobody has had one yet.
      var (count, losesRepair) = (0, true)
      pair.drops = { sent in
        if Self.type(of: sent) == Self.media { count += 1 }
        return Self.type(of: sent) == Self.repair
          ? losesRepair : Self.type(of: sent) == Self.media && count % 10 == 0
      }
      pair.run(for: .seconds(3))
      losesRepair = false
      pair.run(for: .seconds(3))
      let (mediaNames, early, late) = (
        try names(of: Self.media, in: 2..<3, pair), try names(of: Self.repair, in: 2..<3, pair),
        try names(of: Self.repair, in: 5..<6, pair)
      )
      claims("the media are reported, and name it no more", mediaNames.count > 20 && !mediaNames.contains(true))
      claims("retransmissions that were never heard of name it", early.count > 2 && !early.contains(false))
      claims("those that were reported name it no more", late.count > 2 && !late.contains(true))
      claims("all fit", pair.sent.filter { Self.type(of: $0) > 0 }.allSatisfy { $0.bytes.count <= 1_200 })
    }
  }

  private func call() throws -> SessionPair {
    var video = VideoSettings()
    (video.width, video.height) = (320, 240)
    let pair = SessionPair {
      $0.media = .synthetic
      $0.protection = .none
      $0.video = video
    }
    let size = try #require(PictureSize(video.width, video.height))
    for side in [pair.a, pair.b] {
      try side.session.addTrack(.camera)
      side.camera = GeneratedVideo(.movingBars, size: size)
    }
    try pair.negotiate()
    return pair
  }

  /// The payload type of a packet of RTP from the first side; 0 of others.
  private static func type(of sent: SessionPair.Sent) -> UInt8 {
    guard sent.fromA, sent.isMedia, !(192...223).contains(sent.bytes[1]) else { return 0 }
    return sent.bytes[1] & 0x7F
  }

  /// Says of each packet of a type, sent within these seconds, whether it has a MID.
  private func names(of type: UInt8, in seconds: Range<Int64>, _ pair: SessionPair) throws -> [Bool] {
    let negotiated = pair.a.session.media.midExtensionID
    let mid = try #require(negotiated)
    let times = Instant.zero + .seconds(seconds.lowerBound)..<Instant.zero + .seconds(seconds.upperBound)
    return pair.sent.filter { Self.type(of: $0) == type && times.contains($0.time) }.map { sent in
      RTPPacket(parsing: sent.bytes.span.bytes)?.extensionElement(id: mid, in: sent.bytes.span.bytes) != nil
    }
  }
}
