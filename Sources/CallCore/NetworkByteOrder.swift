/// Bounds-checked big-endian reads, for parsers of untrusted input.
extension RawSpan {
  /// Returns the byte at `offset`, or nil if it lies outside.
  @inlinable public func byte(at offset: Int) -> UInt8? {
    guard offset >= 0, offset < byteCount else { return nil }
    return unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// Returns the big-endian integer at `offset`, or nil if it does not lie wholly inside.
  @inlinable public func bigEndian<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type = T.self, at offset: Int) -> T? {
    let size = MemoryLayout<T>.size
    guard offset >= 0, byteCount >= size, offset <= byteCount - size else { return nil }
    return T(bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: T.self))
  }

  /// Returns a copy of the bytes in `range`, or nil if it does not lie wholly inside.
  @inlinable public func bytes(in range: Range<Int>) -> [UInt8]? {
    guard range.lowerBound >= 0, range.upperBound <= byteCount else { return nil }
    return [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      for index in 0..<range.count {
        buffer.initializeElement(
          at: index, to: unsafeLoad(fromUncheckedByteOffset: range.lowerBound + index, as: UInt8.self))
      }
      count = range.count
    }
  }

  /// A copy of all bytes.
  @inlinable public var copied: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension [UInt8] {
  /// Appends an integer in network byte order.
  @inlinable public mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
    for shift in stride(from: T.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> T(shift)))
    }
  }
}

extension OutputSpan<UInt8> {
  /// Appends an integer in network byte order.
  ///
  /// - Precondition: the span has room for it.
  @inlinable public mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
    for shift in stride(from: T.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> T(shift)))
    }
  }

  /// Appends every byte of `bytes`.
  ///
  /// - Precondition: the span has room for them.
  @inlinable public mutating func append(contentsOf bytes: RawSpan) {
    for offset in 0..<bytes.byteCount {
      append(bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self))
    }
  }
}
