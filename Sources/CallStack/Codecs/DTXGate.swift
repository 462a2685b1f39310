package import CallCore

/// Selects the packets of an encoder with discontinuous transmission to send: all audio, the first marker of a silence,
/// and then one every 400 ms to keep the remote comfort noise up to date.
///
/// Packets that are not sent use no sequence number, but the media clock advances (RFC 7587 section 3.1.3).
package struct DTXGate: Sendable {
  package static let refreshInterval = Interval.milliseconds(400)
  private let refreshInterval: Interval

  /// The time since the last sent marker; nil outside silence.
  private var sinceMark: Interval?

  package init(refreshInterval: Interval = Self.refreshInterval) { self.refreshInterval = refreshInterval }

  /// Returns whether to send this packet.
  package mutating func admits(_ packet: EncodedAudio) -> Bool {
    guard packet.isDTX else {
      sinceMark = nil
      return true
    }
    let length = Interval.microseconds(Int64(packet.samplesPerChannel) * 1_000 / 48)
    if let elapsed = sinceMark, elapsed + length < refreshInterval {
      sinceMark = elapsed + length
      return false
    }
    sinceMark = .zero
    return true
  }
}
