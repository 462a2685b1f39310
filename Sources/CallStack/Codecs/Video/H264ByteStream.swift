import CallCore

/// The byte stream format of H.264: NAL units behind start codes of three or four bytes (ITU-T H.264 annex B).
package enum H264ByteStream {
  /// The NAL unit type of a slice of a key frame (IDR).
  package static let keySlice: UInt8 = 5

  /// Returns the ranges of the NAL units without their start codes and trailing zeros; empty units are left out.
  package static func units(of bytes: RawSpan) -> [Range<Int>] {
    var units: [Range<Int>] = []
    var start: Int?
    var zeros = 0
    func end(_ offset: Int) {
      if let start, offset > start { units.append(start..<offset) }
    }
    for offset in 0..<bytes.byteCount {
      switch bytes.byte(at: offset) {
      case 0: zeros += 1
      case 1 where zeros >= 2:
        end(offset - zeros)
        start = offset + 1
        zeros = 0
      default: zeros = 0
      }
    }
    end(bytes.byteCount - zeros)
    return units
  }

  /// Returns the type of a NAL unit, 0 to 31 (table 7-1), or nil if the range is outside.
  package static func type(of bytes: RawSpan, _ unit: Range<Int>) -> UInt8? {
    bytes.byte(at: unit.lowerBound).map { $0 & 0x1F }
  }
}
