import CallCore

/// The facts of a sequence parameter set: its number and the picture's size (ITU-T H.264 section 7.3.2.1.1).
package struct H264SequenceParameterSet: Hashable, Sendable, BitwiseCopyable {
  package var id: UInt8
  package var profile: UInt8
  package var level: UInt8
  /// The width in pixels after cropping.
  package var width: UInt16
  /// The height in pixels after cropping.
  package var height: UInt16

  /// Reads a NAL unit with its header. Returns nil when it is malformed or describes no picture.
  package init?(parsing unit: RawSpan) {
    // Only the first bytes matter, and scaling lists bound them.
    let payload = rawByteSequence(of: unit, limit: 512)
    self.init(payload: payload)
  }

  private init?(payload: [UInt8]) {
    var reader = BitReader(payload)
    profile = UInt8(reader.bits(8))
    reader.skip(8)
    level = UInt8(reader.bits(8))
    let number = reader.exponentialGolomb()
    guard reader.isValid, number < 32 else { return nil }
    id = UInt8(number)
    var chroma: UInt32 = 1
    if Self.highProfiles.contains(profile) {
      chroma = reader.exponentialGolomb()
      guard chroma < 4 else { return nil }
      // Whether the colour planes are coded apart; then a picture is as if it were monochrome.
      if chroma == 3, reader.flag() { chroma = 0 }
      _ = reader.exponentialGolomb()
      _ = reader.exponentialGolomb()
      reader.skip(1)
      if reader.flag() { Self.skipScalingLists(count: chroma == 3 ? 12 : 8, &reader) }
    }
    _ = reader.exponentialGolomb()
    Self.skipOrderCount(&reader)
    _ = reader.exponentialGolomb()
    reader.skip(1)
    let macroblocksAcross = Int64(reader.exponentialGolomb()) + 1
    let unitsDown = Int64(reader.exponentialGolomb()) + 1
    let isFramesOnly = reader.flag()
    if !isFramesOnly { reader.skip(1) }
    reader.skip(1)
    var (across, down) = (Int64(0), Int64(0))
    if reader.flag() {
      let (left, right) = (Int64(reader.exponentialGolomb()), Int64(reader.exponentialGolomb()))
      let (top, bottom) = (Int64(reader.exponentialGolomb()), Int64(reader.exponentialGolomb()))
      // Cropping counts in samples of the colour planes.
      across = (left + right) * (chroma == 1 || chroma == 2 ? 2 : 1)
      down = (top + bottom) * (chroma == 1 ? 2 : 1) * (isFramesOnly ? 1 : 2)
    }
    let width = 16 * macroblocksAcross - across
    let height = 16 * unitsDown * (isFramesOnly ? 1 : 2) - down
    guard reader.isValid, width > 0, height > 0, width <= 0xFFFF, height <= 0xFFFF else { return nil }
    self.width = UInt16(width)
    self.height = UInt16(height)
  }

  /// The profiles whose sets describe the colour format.
  private static let highProfiles: [UInt8] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

  private static func skipScalingLists(count: Int, _ reader: inout BitReader) {
    for list in 0..<count where reader.flag() {
      var (last, next) = (Int64(8), Int64(8))
      for _ in 0..<(list < 6 ? 16 : 64) where reader.isValid {
        if next != 0 { next = (last + Int64(reader.signedExponentialGolomb()) + 256) & 0xFF }
        if next != 0 { last = next }
      }
    }
  }

  private static func skipOrderCount(_ reader: inout BitReader) {
    switch reader.exponentialGolomb() {
    case 0: _ = reader.exponentialGolomb()
    case 1:
      reader.skip(1)
      _ = reader.exponentialGolomb()
      _ = reader.exponentialGolomb()
      let count = reader.exponentialGolomb()
      guard count < 256 else { return reader.invalidate() }
      for _ in 0..<count { _ = reader.exponentialGolomb() }
    default: break
    }
  }
}

/// The numbers of a picture parameter set (ITU-T H.264 section 7.3.2.2).
package struct H264PictureParameterSet: Hashable, Sendable, BitwiseCopyable {
  package var id: UInt8
  package var sequenceParameterSet: UInt8

  /// Reads a NAL unit with its header. Returns nil when it is malformed.
  package init?(parsing unit: RawSpan) {
    let payload = rawByteSequence(of: unit, limit: 16)
    var reader = BitReader(payload)
    let (picture, sequence) = (reader.exponentialGolomb(), reader.exponentialGolomb())
    guard reader.isValid, picture < 256, sequence < 32 else { return nil }
    id = UInt8(picture)
    sequenceParameterSet = UInt8(sequence)
  }
}

/// The facts of a slice header (ITU-T H.264 section 7.3.3).
package struct H264SliceHeader: Hashable, Sendable, BitwiseCopyable {
  package var firstMacroblock: UInt32
  package var pictureParameterSet: UInt8

  /// Reads a NAL unit with its header. Returns nil when it is malformed.
  package init?(parsing unit: RawSpan) {
    let payload = rawByteSequence(of: unit, limit: 16)
    var reader = BitReader(payload)
    firstMacroblock = reader.exponentialGolomb()
    _ = reader.exponentialGolomb()
    let set = reader.exponentialGolomb()
    guard reader.isValid, set < 256 else { return nil }
    pictureParameterSet = UInt8(set)
  }
}

/// Returns the first bytes of a NAL unit without its header and without the bytes that prevent start codes (ITU-T H.264
/// section 7.3.1).
private func rawByteSequence(of unit: RawSpan, limit: Int) -> [UInt8] {
  var result: [UInt8] = []
  result.reserveCapacity(min(limit, unit.byteCount))
  var (zeros, offset) = (0, 1)
  while result.count < limit, let byte = unit.byte(at: offset) {
    offset += 1
    if zeros >= 2, byte == 3 {
      zeros = 0
      continue
    }
    zeros = byte == 0 ? zeros + 1 : 0
    result.append(byte)
  }
  return result
}
