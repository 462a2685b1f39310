public import CallCore

/// How much audio one packet carries: what SDP calls ptime.
public enum PacketDuration: Int, CaseIterable, Hashable, Sendable {
  /// Raw values are samples a channel at 48 kHz.
  case ms2_5 = 120, ms5 = 240, ms10 = 480, ms20 = 960, ms40 = 1_920, ms60 = 2_880

  public var samplesPerChannel: Int { rawValue }
  public var interval: Interval { .microseconds(Int64(rawValue) * 1_000 / 48) }

  /// The duration for a ptime in milliseconds, or nil when no such packet exists.
  public init?(milliseconds: Int) {
    guard let duration = PacketDuration(rawValue: milliseconds * 48) else { return nil }
    self = duration
  }
}

/// The rate of every audio clock here: RFC 7587 gives Opus 48 kHz whatever bandwidth it codes.
public let audioSampleRate = 48_000
