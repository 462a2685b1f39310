package import CallCore

/// A 64-bit NTP timestamp (RFC 3550 section 4): seconds since 1900 and a binary fraction.
package struct NTPTime: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Makes the time of `clock` at `instant`.
  package init(_ clock: WallClock, at instant: Instant) { rawValue = clock.ntpTimestamp(at: instant) }

  /// The middle 32 bits, in units of 1/65536 s, as in LSR.
  package var middle: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }

  /// Whether the sender has a wall clock: zero means none.
  package var isSet: Bool { rawValue != 0 }

  /// The milliseconds since 1970, as in W3C timestamps; nil when the sender has no wall clock.
  package var unixMilliseconds: Double? {
    guard isSet else { return nil }
    let seconds = Double(Int64(rawValue >> 32) - 2_208_988_800)
    return seconds * 1_000 + Double(rawValue & 0xFFFF_FFFF) * 1_000 / 4_294_967_296
  }

  /// Returns the time from one to another, to the nanosecond.
  package static func - (end: NTPTime, start: NTPTime) -> Interval {
    let ticks = Int64(bitPattern: end.rawValue &- start.rawValue)
    let fraction = ((ticks & 0xFFFF_FFFF) * 1_000_000_000) >> 32
    return Interval(nanoseconds: (ticks >> 32) * 1_000_000_000 + fraction)
  }

  package static func < (a: NTPTime, b: NTPTime) -> Bool { a.rawValue < b.rawValue }
}

/// An interval in units of 1/65536 s, as in DLSR.
struct ShortNTPInterval {
  var rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Makes an interval. It rounds down, and clamps negative intervals to zero and long ones to about 18 hours.
  init(_ interval: Interval) {
    let nanoseconds = UInt64(max(0, interval.nanoseconds))
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    guard seconds < 65_536 else {
      rawValue = .max
      return
    }
    rawValue = UInt32(seconds << 16) | UInt32((rest << 16) / 1_000_000_000)
  }

  var interval: Interval { Interval(nanoseconds: Int64((UInt64(rawValue) * 1_000_000_000) >> 16)) }
}

/// Returns the media clock at an instant, modulo 2³², for a clock that starts at zero with the run.
func mediaClock(_ rate: UInt32, at instant: Instant) -> UInt32 {
  let (seconds, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
  let ticks = seconds &* Int64(rate) &+ rest * Int64(rate) / 1_000_000_000
  return UInt32(truncatingIfNeeded: ticks)
}
