import CallCore
import Pictures
import Testing

@Suite struct PNGImageTests {
  /// The chunks of a file: type and content. The CRC of each is checked bit by bit.
  private func chunks(_ file: [UInt8]) throws -> [(type: String, content: [UInt8])] {
    #expect(file.starts(with: [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]))
    var result: [(String, [UInt8])] = []
    var offset = 8
    while offset < file.count {
      let length = Int(try #require(number(file, at: offset)))
      let body = Array(file[offset + 4..<offset + 8 + length])
      let check = try #require(number(file, at: offset + 8 + length))
      #expect(check == crc(body))
      result.append((String(decoding: body[..<4], as: UTF8.self), Array(body[4...])))
      offset += 12 + length
    }
    return result
  }

  private func number(_ bytes: [UInt8], at offset: Int) -> UInt32? {
    bytes.span.bytes.bigEndian(UInt32.self, at: offset)
  }

  private func crc(_ bytes: [UInt8]) -> UInt32 {
    var register = UInt32.max
    for byte in bytes {
      for bit in 0..<8 {
        let isSet = (register ^ UInt32(byte) >> UInt32(bit)) & 1 == 1
        register = register >> 1 ^ (isSet ? 0xEDB8_8320 : 0)
      }
    }
    return ~register
  }

  /// Unpacks stored blocks.
  private func unpacked(_ stream: [UInt8]) throws -> [UInt8] {
    #expect((Int(stream[0]) * 256 + Int(stream[1])) % 31 == 0)
    var (result, offset, isLast): ([UInt8], Int, Bool) = ([], 2, false)
    while !isLast {
      isLast = stream[offset] == 1
      let length = Int(stream[offset + 1]) + 256 * Int(stream[offset + 2])
      #expect(stream[offset + 3] == ~stream[offset + 1] && stream[offset + 4] == ~stream[offset + 2])
      result += stream[offset + 5..<offset + 5 + length]
      offset += 5 + length
    }
    #expect(stream.count == offset + 4)
    return result
  }

  @Test func `the check values are those of the standards`() throws {
    // The CRC of IEND stands in every PNG file. Adler-32 of four zero bytes is 0x00040001.
    let file = PNGImage.encode(VideoFrame(filled: try #require(PictureSize(1, 1))))
    #expect(Array(file.suffix(12)) == [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
    let data = try #require(try chunks(file).first { $0.type == "IDAT" }).content
    #expect(Array(data.suffix(4)) == [0, 4, 0, 1])
  }

  @Test func `a picture of several blocks is complete`() throws {
    let parts = try chunks(PNGImage.encode(.texture(.qvga)))
    #expect(parts.map(\.type) == ["IHDR", "IDAT", "IEND"])
    #expect(parts[0].content == [0, 0, 1, 64, 0, 0, 0, 240, 8, 2, 0, 0, 0])
    #expect(try unpacked(parts[1].content).count == 240 * (1 + 3 * 320))
  }

  @Test(
    arguments: [(16, 128, 128, [0, 0, 0]), (235, 128, 128, [255, 255, 255]), (81, 90, 240, [255, 0, 0])]
      as [(UInt8, UInt8, UInt8, [UInt8])])
  func `colours are those of BT 601`(y: UInt8, u: UInt8, v: UInt8, rgb: [UInt8]) throws {
    let file = PNGImage.encode(VideoFrame(filled: try #require(PictureSize(1, 1)), luma: y, u: u, v: v))
    let row = try unpacked(try #require(try chunks(file).first { $0.type == "IDAT" }).content)
    #expect(row[0] == 0)
    for (value, wanted) in zip(row.dropFirst(), rgb) { #expect(abs(Int(value) - Int(wanted)) <= 1) }
  }
}
