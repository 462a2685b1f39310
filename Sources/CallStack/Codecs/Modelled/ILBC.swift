package import CallCore

/// The frame size of iLBC (RFC 3951), which a description names as `mode` (RFC 3952 section 5). Only the sizes and
/// durations of its packets are here: the codec itself is modelled.
package enum ILBCMode: Int64, Sendable, CaseIterable {
  /// 38 bytes in 20 ms, 15.2 kbit/s.
  case ms20 = 20
  /// 50 bytes in 30 ms, 13.33 kbit/s.
  case ms30 = 30

  /// The size of a frame in bytes.
  package var frameSize: Int { self == .ms20 ? 38 : 50 }
  package var bitrate: DataRate { .bitsPerSecond(Int64(frameSize) * 8_000 / rawValue) }

  /// Returns the durations of packets with whole frames, up to the 60 ms that libwebrtc makes.
  package var packetDurations: [PacketDuration] { self == .ms20 ? [.ms20, .ms40, .ms60] : [.ms30, .ms60] }

  /// Returns the mode in which packets of a duration hold whole frames; of 60 ms, the one with the lower rate.
  package init(packetOf duration: Interval) {
    self = duration > .zero && duration.nanoseconds % Interval.milliseconds(30).nanoseconds == 0 ? .ms30 : .ms20
  }
}
