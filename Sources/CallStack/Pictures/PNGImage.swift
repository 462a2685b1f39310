import CallCore

/// Writes PNG images (RFC 2083): 8-bit RGB, not compressed.
///
/// The data is in stored blocks of deflate (RFC 1951 section 3.2.4), so that no library is needed. It has about three
/// bytes a pixel: scale pictures down first (``VideoFrame/scaled(to:)``).
package enum PNGImage {
  /// The limit of a stored block in bytes.
  private static let longestBlock = 65_535

  /// Returns a picture as a PNG file. Colours are converted from BT.601 limited range.
  package static func encode(_ frame: VideoFrame) -> [UInt8] {
    var header: [UInt8] = []
    header.append(bigEndian: UInt32(frame.size.width))
    header.append(bigEndian: UInt32(frame.size.height))
    // 8 bits, RGB, deflate, adaptive filters, no interlace.
    header += [8, 2, 0, 0, 0]
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    appendChunk("IHDR", header, to: &file)
    appendChunk("IDAT", stored(rows(of: frame)), to: &file)
    appendChunk("IEND", [], to: &file)
    return file
  }

  /// Returns the rows, each behind a zero: no filter.
  private static func rows(of frame: VideoFrame) -> [UInt8] {
    let (y, u, v) = (frame.layout(of: .y), frame.layout(of: .u), frame.layout(of: .v))
    var rows: [UInt8] = []
    rows.reserveCapacity(y.height * (3 * y.width + 1))
    for row in 0..<y.height {
      rows.append(0)
      for column in 0..<y.width {
        let chroma = row / 2 * u.width + column / 2
        let luma = 298 * (Int(frame.samples[row * y.width + column]) - 16) + 128
        let cb = Int(frame.samples[u.offset + chroma]) - 128
        let cr = Int(frame.samples[v.offset + chroma]) - 128
        rows.append(UInt8(clamping: (luma + 409 * cr) >> 8))
        rows.append(UInt8(clamping: (luma - 100 * cb - 208 * cr) >> 8))
        rows.append(UInt8(clamping: (luma + 516 * cb) >> 8))
      }
    }
    return rows
  }

  /// Wraps bytes in a zlib stream (RFC 1950) of stored blocks.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    for start in stride(from: 0, to: bytes.count, by: longestBlock) {
      let end = min(bytes.count, start + longestBlock)
      let length = UInt16(end - start)
      result.append(end == bytes.count ? 1 : 0)
      result.append(bigEndian: length.byteSwapped)
      result.append(bigEndian: (~length).byteSwapped)
      result += bytes[start..<end]
    }
    result.append(bigEndian: adler32(bytes))
    return result
  }

  private static func appendChunk(_ type: String, _ content: [UInt8], to file: inout [UInt8]) {
    let body = Array(type.utf8) + content
    file.append(bigEndian: UInt32(content.count))
    file += body
    file.append(bigEndian: crc32(body))
  }

  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return b << 16 | a
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var register = UInt32.max
    for byte in bytes { register = register >> 8 ^ crcTable[Int((register ^ UInt32(byte)) & 0xFF)] }
    return ~register
  }

  private static let crcTable: [UInt32] = (0..<256).map { index in
    var value = UInt32(index)
    for _ in 0..<8 { value = value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
    return value
  }
}
