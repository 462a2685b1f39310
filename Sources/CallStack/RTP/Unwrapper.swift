/// Extends a wrapping wire counter to 64 bits by choosing the value nearest to the previous one.
public struct Unwrapper<Raw: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  @usableFromInline var reference: Int64?

  /// The last extended value, or nil before the first.
  @inlinable public var last: Int64? { reference }

  /// Makes an unwrapper without a reference.
  @inlinable public init() {}

  /// Returns the extended value of `raw`, which becomes the new reference.
  ///
  /// The first value is returned unchanged; a later one may be negative if the stream began just after a wrap.
  @inlinable public mutating func unwrap(_ raw: Raw) -> Int64 {
    let value = peek(raw)
    reference = value
    return value
  }

  /// Returns the extended value of `raw` without changing the reference, for packets that may still be rejected.
  @inlinable public func peek(_ raw: Raw) -> Int64 {
    guard let reference else { return Int64(truncatingIfNeeded: raw) }
    let distance = raw &- Raw(truncatingIfNeeded: reference)
    if distance <= Raw.max / 2 { return reference &+ Int64(truncatingIfNeeded: distance) }
    return reference &- Int64(truncatingIfNeeded: 0 &- distance)
  }
}

package typealias SequenceUnwrapper = Unwrapper<UInt16>
package typealias TimestampUnwrapper = Unwrapper<UInt32>
