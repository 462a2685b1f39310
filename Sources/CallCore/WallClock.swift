/// A participant's date: a fixed date at virtual time zero, plus skew and drift.
///
/// TURN credentials, tokens, certificates and NTP timestamps use it; a simulation never reads the machine's clock.
public struct WallClock: Hashable, Sendable {
  /// Unix time, in nanoseconds, at ``Instant/zero``.
  public var unixNanosecondsAtStart: Int64
  /// The drift against true time, in parts per million; negative runs slow.
  public var driftPPM: Double

  /// Makes a clock.
  ///
  /// - Parameters:
  ///   - unixNanosecondsAtStart: true Unix time at ``Instant/zero``, in nanoseconds.
  ///   - skew: the time by which this clock is ahead of true time at ``Instant/zero``.
  ///   - driftPPM: the rate by which it gains on true time, in parts per million.
  public init(unixNanosecondsAtStart: Int64 = WallClock.simulationEpoch, skew: Interval = .zero, driftPPM: Double = 0) {
    self.unixNanosecondsAtStart = unixNanosecondsAtStart + skew.nanoseconds
    self.driftPPM = driftPPM
  }

  /// The date at which every simulation begins: 2026-01-01T00:00:00Z.
  public static let simulationEpoch: Int64 = 1_767_225_600_000_000_000

  /// Returns Unix time in nanoseconds at `instant`.
  public func unixNanoseconds(at instant: Instant) -> Int64 {
    let drift = driftPPM == 0 ? 0 : Int64((Double(instant.nanoseconds) * driftPPM / 1e6).rounded())
    return unixNanosecondsAtStart + instant.nanoseconds + drift
  }

  /// Returns Unix time in whole seconds at `instant`.
  public func unixSeconds(at instant: Instant) -> Int64 { unixNanoseconds(at: instant) / 1_000_000_000 }

  /// Returns the 64-bit NTP timestamp (RFC 3550 section 4): seconds since 1900 and a binary fraction.
  public func ntpTimestamp(at instant: Instant) -> UInt64 {
    let nanoseconds = unixNanoseconds(at: instant)
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let fraction = (UInt64(rest) << 32) / 1_000_000_000
    return UInt64(seconds + 2_208_988_800) << 32 | fraction
  }
}
