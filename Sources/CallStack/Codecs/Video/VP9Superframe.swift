import CallCore

/// Several VP9 frames in one payload, with an index at its end (VP9 bitstream specification, annex B).
enum VP9Superframe {
  /// Returns the ranges of the frames; the whole payload without a valid index.
  static func frames(of payload: RawSpan) -> [Range<Int>] {
    let whole = [0..<payload.byteCount]
    guard let marker = payload.byte(at: payload.byteCount - 1), marker & 0xE0 == 0xC0 else { return whole }
    let count = Int(marker & 7) + 1
    let width = Int(marker >> 3 & 3) + 1
    let end = payload.byteCount - 2 - count * width
    guard end >= 0, payload.byte(at: end) == marker else { return whole }
    var ranges: [Range<Int>] = []
    var start = 0
    for index in 0..<count {
      var length = 0
      for byte in 0..<width {
        length |= Int(payload.byte(at: end + 1 + index * width + byte) ?? 0) << (8 * byte)
      }
      guard length <= end - start else { return whole }
      if length > 0 { ranges.append(start..<start + length) }
      start += length
    }
    return ranges.isEmpty ? whole : ranges
  }
}
