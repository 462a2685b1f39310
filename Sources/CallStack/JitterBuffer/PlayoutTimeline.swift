import CallCore
import RTP

/// Places RTP timestamps on one line of 48 kHz samples, whatever the rates of the media clocks.
///
/// A sender that changes the clock rate advances the timestamp up to the first packet of the new rate by the old one, as
/// RFC 7160 section 4.1 has it, so that the line has no gap. With a constant rate of 48 kHz a position is the unwrapped
/// timestamp.
struct PlayoutTimeline: Sendable {
  /// The packets with one clock rate.
  private struct Segment: Sendable {
    /// The number of 48 kHz samples in one tick.
    var scale: Int64
    var timestamp: Int64
    var position: Int64
    /// The sequence number of the first packet.
    var first: Int64

    func position(of timestamp: Int64) -> Int64 { position + (timestamp - self.timestamp) * scale }
  }

  private var unwrapper = TimestampUnwrapper()
  private var current: Segment?
  private var previous: Segment?

  /// Returns the position of a packet, and takes its timestamp as the new reference.
  mutating func place(_ timestamp: UInt32, sequence: Int64, scale: Int64) -> Int64 {
    let whole = unwrapper.unwrap(timestamp)
    let segment = segment(at: whole, sequence: sequence, scale: scale)
    if let current, current.scale != scale, sequence > current.first {
      previous = current
      self.current = segment
    } else if current == nil {
      current = segment
    }
    return segment.position(of: whole)
  }

  /// Returns the position of a packet that may still be rejected.
  func peek(_ timestamp: UInt32, sequence: Int64, scale: Int64) -> Int64 {
    let whole = unwrapper.peek(timestamp)
    return segment(at: whole, sequence: sequence, scale: scale).position(of: whole)
  }

  /// Returns the RTP timestamp of a position.
  func timestamp(at position: Int64) -> UInt32 {
    guard let current else { return UInt32(truncatingIfNeeded: position) }
    let segment = previous.map { position < current.position ? $0 : current } ?? current
    let (ticks, rest) = (position - segment.position).quotientAndRemainder(dividingBy: segment.scale)
    return UInt32(truncatingIfNeeded: segment.timestamp + ticks - (rest < 0 ? 1 : 0))
  }

  private func segment(at timestamp: Int64, sequence: Int64, scale: Int64) -> Segment {
    guard let current else { return Segment(scale: scale, timestamp: 0, position: 0, first: sequence) }
    if current.scale == scale { return current }
    // A late packet from before the change.
    if sequence < current.first, let previous, previous.scale == scale { return previous }
    return Segment(scale: scale, timestamp: timestamp, position: current.position(of: timestamp), first: sequence)
  }
}
