/// Extends a wrapping counter of the wire to 64 bits by taking the value nearest to the previous one.
public struct Unwrapper<Raw: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  /// The last extended value, or nil before the first.
  public private(set) var last: Int64?

  @inlinable public init() {}

  /// The extended value of `raw`, which becomes the new reference.
  ///
  /// The first value is returned as it is; a later one may be negative when the stream began just after a wrap.
  public mutating func unwrap(_ raw: Raw) -> Int64 {
    let value = peek(raw)
    last = value
    return value
  }

  /// The extended value of `raw` without moving the reference: for packets that may yet be rejected.
  public func peek(_ raw: Raw) -> Int64 {
    guard let last else { return Int64(truncatingIfNeeded: raw) }
    let distance = raw &- Raw(truncatingIfNeeded: last)
    let half: Raw = 1 << Raw(Raw.bitWidth - 1)
    if distance < half { return last &+ Int64(truncatingIfNeeded: distance) }
    return last &- Int64(truncatingIfNeeded: 0 &- distance)
  }
}

public typealias SequenceUnwrapper = Unwrapper<UInt16>
public typealias TimestampUnwrapper = Unwrapper<UInt32>
