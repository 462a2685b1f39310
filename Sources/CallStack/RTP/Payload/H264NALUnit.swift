import CallCore

/// The header and the place of one NAL unit of H.264 (RFC 6184 section 1.3).
package struct H264NALUnit: Hashable, Sendable {
  /// The kinds of NAL units that packetization and key frames depend on (ITU-T H.264 table 7-1, RFC 6184 section 5.2).
  package enum Kind: UInt8, Sendable {
    case slice = 1
    case instantaneousRefresh = 5
    case supplementalInformation = 6
    case sequenceParameterSet = 7
    case pictureParameterSet = 8
    case accessUnitDelimiter = 9
    /// Several NAL units of the same time in one packet (STAP-A).
    case aggregation = 24
    /// A part of a NAL unit (FU-A).
    case fragment = 28
  }

  /// The bytes with the header, without a start code.
  package var range: Range<Int>
  package var header: UInt8

  init(range: Range<Int>, header: UInt8) {
    self.range = range
    self.header = header
  }

  /// The kind; nil when nothing here depends on it.
  package var kind: Kind? { Kind(rawValue: header & 0x1F) }

  /// The F bit and the NRI of a header.
  static let referenceMask: UInt8 = 0xE0
  /// The start code that precedes each NAL unit in a byte stream (ITU-T H.264 annex B).
  package static let startCode: [UInt8] = [0, 0, 0, 1]
}

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
