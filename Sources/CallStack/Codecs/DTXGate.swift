package import CallCore

/// Decides which packets of an encoder with discontinuous transmission leave: all audio, the first mark of a silence,
/// and then one every 400 ms so that the far side's comfort noise stays fresh.
///
/// Packets held back take no sequence number, but the media clock goes on (RFC 7587 section 3.1.3).
package struct DTXGate: Sendable {
  package static let refreshInterval = Interval.milliseconds(400)

  /// Time since the last mark sent; nil outside silence.
  private var sinceMark: Interval?

  package init() {}

  /// Whether to send this packet.
  package mutating func admits(_ packet: EncodedAudio) -> Bool {
    guard packet.isDTX else {
      sinceMark = nil
      return true
    }
    let length = Interval.microseconds(Int64(packet.samplesPerChannel) * 1_000 / 48)
    if let elapsed = sinceMark, elapsed + length < Self.refreshInterval {
      sinceMark = elapsed + length
      return false
    }
    sinceMark = .zero
    return true
  }
}
