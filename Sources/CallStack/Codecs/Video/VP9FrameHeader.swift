import CallCore

/// The beginning of the uncompressed header of a VP9 frame of profile 0 (VP9 bitstream specification, section 6.2).
package struct VP9FrameHeader: Hashable, Sendable {
  package let isKeyFrame: Bool
  /// Whether the frame only shows a picture that was decoded before.
  package let showsExisting: Bool
  /// The size in pixels; zero if it is that of an earlier picture.
  package let width: Int
  package let height: Int

  /// Parses the header, or returns nil if the bytes are too few or violate the format.
  package init?(parsing bytes: RawSpan) {
    var bits = BitReader(bytes.byteCount > 40 ? bytes.extracting(first: 40) : bytes)
    guard bits.read(2) == 2, bits.read(2) == 0, let existing = bits.read(1) else { return nil }
    showsExisting = existing == 1
    if showsExisting {
      isKeyFrame = false
      (width, height) = (0, 0)
      return
    }
    guard let isInter = bits.read(1), let isShown = bits.read(1), let isResilient = bits.read(1) else { return nil }
    isKeyFrame = isInter == 0
    var size: (width: Int, height: Int)?
    if isKeyFrame {
      guard bits.read(24) == 0x49_83_42, let space = bits.read(3), space != 7, bits.read(1) != nil else { return nil }
      size = bits.readSize()
    } else {
      var intraOnly = 0
      if isShown == 0 {
        guard let bit = bits.read(1) else { return nil }
        intraOnly = bit
      }
      if isResilient == 0 { guard bits.read(2) != nil else { return nil } }
      if intraOnly == 1 {
        guard bits.read(24) == 0x49_83_42, bits.read(8) != nil else { return nil }
        size = bits.readSize()
      } else {
        // Buffers to refresh, and three references with signs.
        guard bits.read(8) != nil, bits.read(12) != nil else { return nil }
        size = (0, 0)
        var found = 0
        for _ in 0..<3 where found == 0 {
          guard let bit = bits.read(1) else { return nil }
          found = bit
        }
        if found == 0 { size = bits.readSize() }
      }
    }
    guard let size else { return nil }
    (width, height) = size
  }
}

/// Reads bits from the most significant one on.
private struct BitReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ span: RawSpan) { bytes = span.copied }

  mutating func read(_ count: Int) -> Int? {
    guard position + count <= bytes.count * 8 else { return nil }
    var value = 0
    for _ in 0..<count {
      value = value << 1 | Int(bytes[position / 8] >> (7 - position % 8) & 1)
      position += 1
    }
    return value
  }

  mutating func readSize() -> (width: Int, height: Int)? {
    guard let width = read(16), let height = read(16) else { return nil }
    return (width + 1, height + 1)
  }
}
