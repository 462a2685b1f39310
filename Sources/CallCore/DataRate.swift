/// A transmission rate in whole bits per second.
public struct DataRate: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The rate in bits per second.
  public var bitsPerSecond: Int64

  /// Makes a rate from bits per second.
  @inlinable public init(bitsPerSecond: Int64) { self.bitsPerSecond = bitsPerSecond }
  /// Makes a rate from bits per second.
  @inlinable public static func bitsPerSecond(_ rate: Int64) -> DataRate { DataRate(bitsPerSecond: rate) }
  /// Makes a rate from kilobits (1000 bits) per second.
  @inlinable public static func kilobitsPerSecond(_ rate: Int64) -> DataRate { DataRate(bitsPerSecond: rate * 1_000) }
  /// Makes a rate from megabits (10⁶ bits) per second.
  @inlinable public static func megabitsPerSecond(_ rate: Int64) -> DataRate {
    DataRate(bitsPerSecond: rate * 1_000_000)
  }

  /// Compares two rates.
  @inlinable public static func < (a: DataRate, b: DataRate) -> Bool { a.bitsPerSecond < b.bitsPerSecond }

  /// Returns the time to serialise `byteCount` bytes, rounded up to a nanosecond.
  ///
  /// - Precondition: the rate is positive.
  @inlinable public func transmissionTime(byteCount: Int) -> Interval {
    precondition(bitsPerSecond > 0, "a rate of zero never transmits")
    let bits = UInt64(byteCount) * 8
    let (high, low) = bits.multipliedFullWidth(by: 1_000_000_000)
    let rate = UInt64(bitsPerSecond)
    guard high < rate else { return Interval(nanoseconds: .max) }
    let (quotient, remainder) = rate.dividingFullWidth((high, low))
    let rounded = quotient &+ (remainder == 0 ? 0 : 1)
    return Interval(nanoseconds: rounded > UInt64(Int64.max) ? .max : Int64(rounded))
  }
}

extension DataRate {
  package static let zero = DataRate(bitsPerSecond: 0)

  package static func + (a: DataRate, b: DataRate) -> DataRate {
    DataRate(bitsPerSecond: a.bitsPerSecond + b.bitsPerSecond)
  }
  /// Returns the difference, or zero if `b` is larger.
  package static func - (a: DataRate, b: DataRate) -> DataRate {
    DataRate(bitsPerSecond: max(0, a.bitsPerSecond - b.bitsPerSecond))
  }
  package static func += (a: inout DataRate, b: DataRate) { a = a + b }
  package static func -= (a: inout DataRate, b: DataRate) { a = a - b }
}

extension DataRate: CustomStringConvertible {
  public var description: String {
    switch bitsPerSecond {
    case 1_000_000... where bitsPerSecond % 100_000 == 0: return Self.scaled(bitsPerSecond, by: 1_000_000) + "Mbps"
    case 1_000... where bitsPerSecond % 100 == 0: return Self.scaled(bitsPerSecond, by: 1_000) + "kbps"
    default: return "\(bitsPerSecond)bps"
    }
  }

  private static func scaled(_ value: Int64, by unit: Int64) -> String {
    let tenths = value / (unit / 10)
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
