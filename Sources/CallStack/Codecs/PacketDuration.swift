package import CallCore

/// The duration of the audio in one packet: SDP's ptime.
package enum PacketDuration: Int, CaseIterable, Comparable, Hashable, Sendable {
  /// Raw values are samples per channel at 48 kHz. Packets of 30 ms are of iLBC and iSAC alone.
  case ms2_5 = 120, ms5 = 240, ms10 = 480, ms20 = 960, ms30 = 1_440, ms40 = 1_920, ms60 = 2_880
  /// Packets of several Opus frames (RFC 6716 section 3.2.5).
  case ms80 = 3_840, ms100 = 4_800, ms120 = 5_760

  /// The durations that the encoder of Opus makes.
  package static let ofOpus = allCases.filter { $0 != .ms30 }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  package var samplesPerChannel: Int { rawValue }
  package var interval: Interval { .microseconds(Int64(rawValue) * 1_000 / 48) }

  /// Makes the duration for a ptime, or returns nil when no such packet exists.
  package init?(_ interval: Interval) {
    guard let duration = Self.allCases.first(where: { $0.interval == interval }) else { return nil }
    self = duration
  }
}

/// The rate of every audio clock: RFC 7587 uses 48 kHz for Opus at any bandwidth.
package let audioSampleRate = 48_000

/// The duration that an audio device records and plays at once, as browsers request it of audio hardware.
package let audioDevicePeriod = PacketDuration.ms10
