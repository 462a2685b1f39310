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
}
