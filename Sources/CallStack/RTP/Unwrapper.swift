/// Extends a wrapping counter of the wire to 64 bits by taking the value nearest to the previous one.
public struct Unwrapper<Raw: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  @usableFromInline var reference: Int64?

  /// The last extended value, or nil before the first.
  @inlinable public var last: Int64? { reference }

  @inlinable public init() {}

  /// The extended value of `raw`, which becomes the new reference.
  ///
  /// The first value is returned as it is; a later one may be negative when the stream began just after a wrap.
  @inlinable public mutating func unwrap(_ raw: Raw) -> Int64 {
    let value = peek(raw)
    reference = value
    return value
  }

  /// The extended value of `raw` without moving the reference: for packets that may yet be rejected.
  @inlinable public func peek(_ raw: Raw) -> Int64 {
    guard let reference else { return Int64(truncatingIfNeeded: raw) }
    let distance = raw &- Raw(truncatingIfNeeded: reference)
    if distance <= Raw.max / 2 { return reference &+ Int64(truncatingIfNeeded: distance) }
    return reference &- Int64(truncatingIfNeeded: 0 &- distance)
  }
}

package typealias SequenceUnwrapper = Unwrapper<UInt16>
package typealias TimestampUnwrapper = Unwrapper<UInt32>
