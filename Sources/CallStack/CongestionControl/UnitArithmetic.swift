package import CallCore

extension DataRate {
  /// Makes the rate at which `byteCount` bytes take the interval, which must be positive.
  package init(byteCount: Int, per interval: Interval) { self.init(Double(byteCount) * 8 / interval.seconds) }

  /// Makes the nearest rate, clamped to what can be represented.
  init(_ bitsPerSecond: Double) {
    self.init(bitsPerSecond: bitsPerSecond >= 0x1p62 ? 1 << 62 : Int64(max(0, bitsPerSecond).rounded()))
  }

  package static func * (a: DataRate, factor: Double) -> DataRate { DataRate(a.bits * factor) }

  /// The rate in bits per second, for calculations.
  var bits: Double { Double(bitsPerSecond) }
  /// The rate in kilobits per second, for calculations.
  var kilobits: Double { Double(bitsPerSecond) / 1_000 }

  /// Returns the number of bytes that leave within an interval.
  func byteCount(in interval: Interval) -> Int { Int(min(max(0, bits * interval.seconds / 8), 0x1p62)) }
}

extension Interval {
  /// The length in milliseconds, for calculations.
  var inMilliseconds: Double { Double(nanoseconds) / 1e6 }
}

extension Instant {
  /// The last whole millisecond.
  var wholeMillisecond: Instant {
    let rest = nanoseconds % 1_000_000
    return Instant(nanoseconds: nanoseconds - (rest < 0 ? rest + 1_000_000 : rest))
  }
}
