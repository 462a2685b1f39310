/// A signed span of time in whole nanoseconds.
///
/// An `Int64` costs a fraction of `Duration` on hot paths; convert with ``init(_:)`` and ``duration`` at the edges.
public struct Interval: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The length in nanoseconds; negative for a time backwards.
  public var nanoseconds: Int64

  /// Makes an interval from nanoseconds.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Makes an interval from nanoseconds.
  @inlinable public static func nanoseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count) }
  /// Makes an interval from microseconds.
  @inlinable public static func microseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count &* 1_000) }
  /// Makes an interval from milliseconds.
  @inlinable public static func milliseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count &* 1_000_000) }
  /// Makes an interval from seconds.
  @inlinable public static func seconds(_ count: Int64) -> Interval { Interval(nanoseconds: count &* 1_000_000_000) }
  /// Makes an interval from minutes.
  @inlinable public static func minutes(_ count: Int64) -> Interval { .seconds(count &* 60) }

  /// The interval of no length.
  public static let zero = Interval(nanoseconds: 0)

  /// Whole milliseconds, rounded towards zero.
  @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }
  /// Seconds as a fraction, for display and statistics only; never for ordering events.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// Compares two intervals.
  @inlinable public static func < (a: Interval, b: Interval) -> Bool { a.nanoseconds < b.nanoseconds }
  /// Returns the sum of two intervals.
  @inlinable public static func + (a: Interval, b: Interval) -> Interval {
    Interval(nanoseconds: a.nanoseconds.addingSaturating(b.nanoseconds))
  }
  /// Returns the difference of two intervals.
  @inlinable public static func - (a: Interval, b: Interval) -> Interval {
    Interval(nanoseconds: a.nanoseconds.subtractingSaturating(b.nanoseconds))
  }
  /// Returns an interval of `factor` times the length.
  @inlinable public static func * (a: Interval, factor: Int64) -> Interval {
    let (product, overflow) = a.nanoseconds.multipliedReportingOverflow(by: factor)
    guard overflow else { return Interval(nanoseconds: product) }
    return Interval(nanoseconds: (a.nanoseconds < 0) == (factor < 0) ? .max : .min)
  }
  /// Returns an interval of the length divided by `divisor`, rounded towards zero.
  @inlinable public static func / (a: Interval, divisor: Int64) -> Interval {
    Interval(nanoseconds: a.nanoseconds / divisor)
  }
  /// Returns an interval of the same length in the other direction.
  @inlinable public static prefix func - (a: Interval) -> Interval { .zero - a }
  /// Lengthens an interval by another.
  @inlinable public static func += (a: inout Interval, b: Interval) { a = a + b }
  /// Shortens an interval by another.
  @inlinable public static func -= (a: inout Interval, b: Interval) { a = a - b }

  /// Returns the interval scaled by a fraction, rounded to the nearest nanosecond and clamped to the representable
  /// range.
  @inlinable public func scaled(by factor: Double) -> Interval {
    let product = (Double(nanoseconds) * factor).rounded()
    if product >= 0x1p63 { return Interval(nanoseconds: .max) }
    if product < -0x1p63 { return Interval(nanoseconds: .min) }
    return product.isNaN ? .zero : Interval(nanoseconds: Int64(product))
  }
}

extension Interval {
  /// Makes the nearest interval to a `Duration`, clamped to about ±292 years.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = .seconds(1) * seconds + Interval(nanoseconds: attoseconds / 1_000_000_000)
  }

  /// The same span as a standard-library `Duration`.
  public var duration: Duration { .nanoseconds(nanoseconds) }
}

extension Interval: CustomStringConvertible {
  /// The span with the largest unit that keeps it readable: `250ms`, `1.5s`, `40us`.
  public var description: String {
    let magnitude = nanoseconds.magnitude
    switch magnitude {
    case 0: return "0s"
    case ..<1_000: return "\(nanoseconds)ns"
    case ..<1_000_000: return decimal(unit: 1_000) + "us"
    case ..<1_000_000_000: return decimal(unit: 1_000_000) + "ms"
    default: return decimal(unit: 1_000_000_000) + "s"
    }
  }

  private func decimal(unit: UInt64) -> String {
    let sign = nanoseconds < 0 ? "-" : ""
    let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: unit)
    guard rest != 0 else { return "\(sign)\(whole)" }
    var digits = String(rest + unit).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(sign)\(whole).\(digits)"
  }
}

extension Int64 {
  @inlinable func addingSaturating(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  @inlinable func subtractingSaturating(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}
