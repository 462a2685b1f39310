package import CallCore

/// An audio codec of the telephone network that every WebRTC endpoint knows beside Opus (RFC 7874 section 3, RFC 3551).
package enum TelephonyCodec: Hashable, Sendable, CaseIterable {
  /// G.711 with the µ-law and the A-law.
  case pcmu, pcma
  /// G.722 at 64 kbit/s.
  case g722

  /// The number of samples of the codec in each second.
  package var sampleRate: Int { self == .g722 ? 16_000 : 8_000 }
  /// The number of samples that one octet holds.
  var samplesPerByte: Int { self == .g722 ? 2 : 1 }
  /// The number of 48 kHz samples in one of the codec's.
  var stretch: Int { audioSampleRate / sampleRate }

  /// The delay of its sound behind its timestamps, in both directions together: the resampling filters, and for G.722 the
  /// filters that split the sound into two bands and join them.
  package var delay: Interval { self == .g722 ? .microseconds(3_375) : .milliseconds(4) }

  /// The bitrate of each of them in bit/s.
  package static let bitrate: Int64 = 64_000
  /// The number of 48 kHz samples in an octet of each of them.
  static let samplesPerByte = 6
  /// The maximum size of a payload: 120 ms.
  static let longestPayload = 960
}
