package import CallCore

/// A frame rate as a fraction.
package struct FrameRate: Hashable, Sendable, BitwiseCopyable {
  package let numerator: UInt32
  package let denominator: UInt32

  /// Makes a rate, or returns nil if a term is zero.
  package init?(_ numerator: UInt32, per denominator: UInt32 = 1) {
    guard numerator > 0, denominator > 0 else { return nil }
    self.init(unchecked: numerator, denominator)
  }

  private init(unchecked numerator: UInt32, _ denominator: UInt32) {
    self.numerator = numerator
    self.denominator = denominator
  }

  package static let fps30 = FrameRate(unchecked: 30, 1)

  /// Frames per second.
  package var perSecond: Double { Double(numerator) / Double(denominator) }

  /// Returns the time of a frame, at most the last that an instant can tell.
  package func time(ofFrame number: UInt64) -> Instant {
    let seconds = Double(number) / perSecond
    return Instant(nanoseconds: seconds < 9e9 ? Int64((seconds * 1e9).rounded()) : .max)
  }
}
