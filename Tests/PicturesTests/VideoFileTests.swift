import CallCore
import Pictures
import Testing

@Suite struct VideoFileTests {
  func y4m(_ header: String, frames: Int = 1, bytes: Int = 6) -> [UInt8] {
    Array(header.utf8)
      + (0..<frames).flatMap { _ in Array("FRAME\n".utf8) + [UInt8](repeating: 9, count: bytes) }
  }

  func failure(_ body: () throws -> Void) -> VideoFileError? {
    do {
      try body()
      return nil
    } catch { return error as? VideoFileError }
  }

  @Test func `a written Y4M file is read back`() throws {
    let size = try #require(PictureSize(33, 21))
    let rate = try #require(FrameRate(30_000, per: 1_001))
    var writer = Y4MWriter(size: size, frameRate: rate)
    let frames = [VideoFrame.texture(size), .chessboard(size)]
    for frame in frames { try writer.append(frame) }
    #expect(throws: PictureError.sizesDiffer(size, .vga)) { try writer.append(.texture(.vga)) }
    let file = try Y4MFile(parsing: writer.bytes)
    #expect(file.size == size)
    #expect(file.frameRate == rate)
    #expect(file.frameCount == 2)
    #expect(file.frame(at: 0)?.samples == frames[0].samples)
    #expect(file.frame(at: 1)?.samples == frames[1].samples)
    #expect(file.frame(at: 1)?.timestamp == .zero + .nanoseconds(33_366_667))
    #expect(file.frame(at: 2) == nil)
  }

  @Test func `a Y4M header is written as ffmpeg expects it`() {
    let writer = Y4MWriter(size: .vga, frameRate: .fps30)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "YUV4MPEG2 W640 H480 F30:1 Ip A1:1 C420jpeg\n")
  }

  @Test func `parameters of frames and unknown parameters of Y4M are passed over`() throws {
    let bytes = Array("YUV4MPEG2 H2 Xa=b W2\nFRAME Ip\n".utf8) + [1, 2, 3, 4, 5, 6]
    #expect(try Y4MFile(parsing: bytes).frame(at: 0)?.samples == [1, 2, 3, 4, 5, 6])
  }

  @Test(
    arguments: [
      ("MPEG4YUV2 W2 H2\n", 0, .wrongSignature), ("YUV4MPEG22 W2 H2\n", 0, .wrongSignature),
      ("YUV4MPEG2 W0 H2\n", 10, .invalid("W0")), ("YUV4MPEG2 W2 H-2\n", 13, .invalid("H-2")),
      ("YUV4MPEG2 W2 H99999999999999999999\n", 13, .invalid("H99999999999999999999")),
      ("YUV4MPEG2 W2\n", 12, .missing("H")), ("YUV4MPEG2 H2\n", 12, .missing("W")),
      ("YUV4MPEG2 W2 H2 C444\n", 16, .unsupported("C444")), ("YUV4MPEG2 W2 H2 It\n", 16, .unsupported("It")),
      ("YUV4MPEG2 W2 H2 F30:0\n", 16, .invalid("F30:0")), ("YUV4MPEG2 W2 H2 F30\n", 16, .invalid("F30")),
    ] as [(String, Int, VideoFileError.Reason)])
  func `a Y4M header that lies is refused at its place`(header: String, offset: Int, reason: VideoFileError.Reason) {
    #expect(
      failure { _ = try Y4MFile(parsing: y4m(header)) } == VideoFileError(offset: offset, reason: reason))
  }

  @Test func `a Y4M file that ends early is refused at its place`() {
    let file = y4m("YUV4MPEG2 W2 H2\n", frames: 2)
    #expect(
      failure { _ = try Y4MFile(parsing: Array(file.dropLast(2))) }
        == VideoFileError(offset: 34, reason: .truncated(missing: 2)))
    #expect(
      failure { _ = try Y4MFile(parsing: Array("YUV4MPEG2 W2 H2".utf8)) }
        == VideoFileError(offset: 15, reason: .headerTooLong))
    #expect(
      failure { _ = try Y4MFile(parsing: file + Array("FRAMF\n".utf8)) }
        == VideoFileError(offset: 40, reason: .wrongSignature))
  }

  func ivf(_ change: (inout [UInt8]) -> Void = { _ in }) throws -> [UInt8] {
    var writer = try #require(IVFWriter(codec: "VP80", size: .vga, timeBase: .fps30))
    try writer.append(IVFFile.Frame(time: 0, bytes: [1, 2, 3]))
    try writer.append(IVFFile.Frame(time: 1 << 40, bytes: []))
    var bytes = writer.bytes
    change(&bytes)
    return bytes
  }

  @Test func `a written IVF file is read back`() throws {
    let file = try IVFFile(parsing: ivf())
    #expect(file.codec == "VP80")
    #expect(file.size == .vga)
    #expect(file.timeBase == .fps30)
    #expect(file.frames.map(\.bytes) == [[1, 2, 3], []])
    #expect(file.frames.map(\.time) == [0, 1 << 40])
  }

  @Test func `an IVF header is laid out as others expect it`() throws {
    let header = try ivf()[..<32]
    #expect(
      Array(header) == [
        0x44, 0x4B, 0x49, 0x46, 0, 0, 32, 0, 0x56, 0x50, 0x38, 0x30, 0x80, 2, 0xE0, 1, 30, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0,
        0, 0, 0, 0, 0,
      ])
  }

  @Test func `an IVF file in pieces, whose count is written last, is the same`() throws {
    var whole = try #require(IVFWriter(codec: "VP80", size: .vga, timeBase: .fps30))
    var writer = whole
    var pieces = writer.beginning
    for frame in [IVFFile.Frame(time: 0, bytes: [1, 2, 3]), IVFFile.Frame(time: 1, bytes: [4])] {
      try whole.append(frame)
      try writer.append(frame)
      pieces += writer.take()
    }
    #expect(try IVFFile(parsing: pieces).frames.count == 2)
    pieces.replaceSubrange(IVFWriter.countOffset..<IVFWriter.countOffset + 4, with: writer.count)
    #expect(pieces == whole.bytes)
  }

  @Test func `an IVF file without a count is a stream`() throws {
    #expect(try IVFFile(parsing: ivf { $0[24] = 0 }).frames.count == 2)
  }

  @Test(
    arguments: [
      (0, 0x45, 0, .wrongSignature), (4, 1, 4, .unsupported("version")), (6, 31, 6, .invalid("header length")),
      (8, 0, 8, .invalid("codec")), (16, 0, 16, .invalid("time base")), (20, 0, 16, .invalid("time base")),
      (24, 3, 24, .wrongFrameCount(promised: 3, found: 2)), (32, 200, 44, .truncated(missing: 185)),
      (35, 255, 44, .truncated(missing: 4_278_190_068)),
    ] as [(Int, UInt8, Int, VideoFileError.Reason)])
  func `an IVF header that lies is refused at its place`(
    place: Int, value: UInt8, offset: Int, reason: VideoFileError.Reason
  ) throws {
    let bytes = try ivf { $0[place] = value }
    #expect(failure { _ = try IVFFile(parsing: bytes) } == VideoFileError(offset: offset, reason: reason))
  }

  @Test func `an IVF codec has four printable characters`() {
    #expect(IVFWriter(codec: "VP8", size: .vga, timeBase: .fps30) == nil)
    #expect(IVFWriter(codec: "VP8\n", size: .vga, timeBase: .fps30) == nil)
  }

  @Test func `no prefix or mutation of a file traps`() throws {
    let files = [y4m("YUV4MPEG2 W2 H2 F30:1 Ip C420\n", frames: 2), try ivf()]
    var random = RandomSource(seed: 3).stream("files")
    for file in files {
      for length in 0..<file.count {
        _ = try? Y4MFile(parsing: Array(file[..<length]))
        _ = try? IVFFile(parsing: Array(file[..<length]))
      }
      for _ in 0..<2_000 {
        var bytes = file
        for _ in 0..<3 {
          bytes[Int(random.uniform(below: UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: random.next())
        }
        if let parsed = try? Y4MFile(parsing: bytes) { _ = parsed.frame(at: 0) }
        _ = try? IVFFile(parsing: bytes)
      }
    }
  }
}
