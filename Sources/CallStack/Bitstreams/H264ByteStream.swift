internal import CallCore

/// The NAL units of a byte stream, in order (ITU-T H.264 annex B).
package struct H264ByteStream: Sendable {
  private var offset: Int

  /// Begins at the first start code. Bytes before it belong to no NAL unit.
  package init(_ bytes: RawSpan) { offset = Self.startCode(from: 0, in: bytes)?.upperBound ?? bytes.byteCount }

  /// Returns the next NAL unit that is not empty, or nil at the end. Always pass the same bytes.
  package mutating func next(in bytes: RawSpan) -> H264NALUnit? {
    while offset < bytes.byteCount {
      let code = Self.startCode(from: offset, in: bytes)
      let (start, limit) = (offset, code?.lowerBound ?? bytes.byteCount)
      offset = code?.upperBound ?? bytes.byteCount
      var end = limit
      // Zero bytes after a NAL unit belong to the byte stream: a unit ends with a byte that is not zero.
      while end > start, bytes.byte(at: end - 1) == 0 { end -= 1 }
      if end > start, let header = bytes.byte(at: start) { return H264NALUnit(range: start..<end, header: header) }
    }
    return nil
  }

  /// Returns the NAL units of a byte stream.
  package static func units(of bytes: RawSpan) -> [H264NALUnit] {
    var (stream, units) = (H264ByteStream(bytes), [H264NALUnit]())
    while let unit = stream.next(in: bytes) { units.append(unit) }
    return units
  }

  /// Returns the place of the next `00 00 01`.
  private static func startCode(from start: Int, in bytes: RawSpan) -> Range<Int>? {
    var index = start + 2
    while index < bytes.byteCount {
      let byte = bytes.byte(at: index) ?? 0
      if byte > 1 {
        index += 3
      } else if byte == 1 {
        if bytes.byte(at: index - 1) == 0, bytes.byte(at: index - 2) == 0 { return index - 2..<index + 1 }
        index += 3
      } else {
        index += 1
      }
    }
    return nil
  }
}
