/// A point in time, in nanoseconds since the start of the run.
///
/// In a simulation it is virtual time; a live driver uses its monotonic clock. Arithmetic saturates and never traps.
public struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The nanoseconds since virtual time zero.
  public var nanoseconds: Int64

  /// Makes an instant from nanoseconds since virtual time zero.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The start of the run.
  public static let zero = Instant(nanoseconds: 0)

  /// Compares two instants.
  @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
  /// Returns the instant that is `b` after `a`.
  @inlinable public static func + (a: Instant, b: Interval) -> Instant {
    Instant(nanoseconds: a.nanoseconds.addingSaturating(b.nanoseconds))
  }
  /// Returns the instant that is `b` before `a`.
  @inlinable public static func - (a: Instant, b: Interval) -> Instant {
    Instant(nanoseconds: a.nanoseconds.subtractingSaturating(b.nanoseconds))
  }
  /// Returns the time from `b` to `a`, which is negative when `a` is earlier.
  @inlinable public static func - (a: Instant, b: Instant) -> Interval {
    Interval(nanoseconds: a.nanoseconds.subtractingSaturating(b.nanoseconds))
  }
  /// Moves an instant by an interval.
  @inlinable public static func += (a: inout Instant, b: Interval) { a = a + b }

  /// Seconds since the start, for display and statistics only; never for ordering events.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }
}

extension Instant: CustomStringConvertible {
  public var description: String { Interval(nanoseconds: nanoseconds).description }
}
