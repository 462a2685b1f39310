internal import Codecs

/// What the Opus packets of a stream carry, counted as they are sent.
package struct OpusPacketCounts: Hashable, Sendable {
  /// The packets that follow speech while redundancy is asked for and loss expected: an encoder that has room gives them
  /// some of it.
  package private(set) var askedForRedundancy = 0
  /// Those of them that have redundancy.
  package private(set) var withRedundancy = 0
  /// The packets with sound, from narrow to full band.
  private var bandwidths = SIMD8<UInt32>()
  private var followsSpeech = false

  package init() {}

  /// The highest frequency that a packet of each bandwidth carries, in Hz (RFC 6716 section 2), with the number of
  /// packets.
  package var packets: [(frequency: Int, count: Int)] {
    [4_000, 6_000, 8_000, 12_000, 20_000].enumerated().map { ($1, Int(bandwidths[$0])) }
  }

  /// Counts a packet.
  mutating func add(_ payload: RawSpan, settings: OpusEncoder.Settings) {
    guard let packet = OpusPacket(parsing: payload), !packet.isDTX else {
      followsSpeech = false
      return
    }
    bandwidths[packet.bandwidth.rawValue] &+= 1
    if settings.usesInBandFEC, settings.expectedPacketLoss > 0, followsSpeech {
      askedForRedundancy += 1
      if packet.hasRedundancy { withRedundancy += 1 }
    }
    // CELT marks no speech, and carries no redundancy whatever was said.
    followsSpeech = packet.isVoiced ?? true
  }
}
