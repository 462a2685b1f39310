package import CallCore

/// How much audio one packet carries: what SDP calls ptime.
package enum PacketDuration: Int, CaseIterable, Comparable, Hashable, Sendable {
  /// Raw values are samples a channel at 48 kHz.
  case ms2_5 = 120, ms5 = 240, ms10 = 480, ms20 = 960, ms40 = 1_920, ms60 = 2_880
  /// Of several frames of Opus (RFC 6716 section 3.2.5).
  case ms80 = 3_840, ms100 = 4_800, ms120 = 5_760

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  package var samplesPerChannel: Int { rawValue }
  package var interval: Interval { .microseconds(Int64(rawValue) * 1_000 / 48) }

  /// The duration for a ptime, or nil when no such packet exists.
  package init?(_ interval: Interval) {
    guard let duration = Self.allCases.first(where: { $0.interval == interval }) else { return nil }
    self = duration
  }
}

/// The rate of every audio clock here: RFC 7587 gives Opus 48 kHz whatever bandwidth it codes.
package let audioSampleRate = 48_000

/// How much an audio device records and plays at a time, as browsers ask of audio hardware.
package let audioDevicePeriod = PacketDuration.ms10
