import Pictures
import Testing

@Suite struct FrameNumberCodeTests {
  @Test(arguments: [0, 1, 2, 0x55_5555, 0xAA_AAAA, 0xFF_FFFF] as [UInt32])
  func `every number can be read back`(number: UInt32) {
    var frame = VideoFrame.texture(.qqvga)
    #expect(FrameNumberCode.write(number, into: &frame))
    #expect(FrameNumberCode.read(frame) == number)
  }

  @Test func `numbers repeat after 24 bits`() {
    var frame = VideoFrame(filled: .qqvga)
    FrameNumberCode.write(FrameNumberCode.modulus + 5, into: &frame)
    #expect(FrameNumberCode.read(frame) == 5)
  }

  @Test func `plain and textured pictures hold no number`() {
    for luma in [0, 16, 128, 235, 255] as [UInt8] {
      #expect(FrameNumberCode.read(VideoFrame(filled: .vga, luma: luma)) == nil)
    }
    #expect(FrameNumberCode.read(.texture(.vga)) == nil)
    #expect(FrameNumberCode.read(.chessboard(.vga)) == nil)
  }

  @Test func `one wrong cell is noticed, whichever it is`() {
    var frame = VideoFrame(filled: .qvga)
    FrameNumberCode.write(123_456, into: &frame)
    for cell in 0..<32 {
      var damaged = frame
      let isWhite = frame.samples[cell * 10] > 128
      damaged.fill(.y, x: cell * 10..<(cell + 1) * 10, y: 0..<20, with: isWhite ? 16 : 235)
      #expect(FrameNumberCode.read(damaged) == nil, "cell \(cell)")
      damaged.fill(.y, x: cell * 10..<(cell + 1) * 10, y: 0..<20, with: 125)
      #expect(FrameNumberCode.read(damaged) == nil, "grey cell \(cell)")
    }
  }

  @Test func `the number survives blur, noise and lost contrast`() {
    var frame = VideoFrame(filled: .qvga)
    FrameNumberCode.write(0xC0_FFEE, into: &frame)
    let source = frame.samples
    let damaged = VideoFrame(.qvga) { x, y in
      let neighbours = [-1, 0, 1].map { Int(source[y * 320 + min(319, max(0, x + $0))]) }
      return 60 + neighbours.reduce(0, +) / 6 + (x * 31 + y * 17) % 31 - 15
    }
    #expect(FrameNumberCode.read(damaged) == 0xC0_FFEE)
  }

  @Test func `a picture that is too small stays as it is`() throws {
    var frame = VideoFrame(filled: try #require(PictureSize(127, 90)))
    let before = frame
    #expect(!FrameNumberCode.write(1, into: &frame))
    #expect(frame == before)
    #expect(FrameNumberCode.read(frame) == nil)
  }
}
