import Bitstreams
import CallCore
import Codecs
import Pictures
import Testing

/// Everything that reaches a decoder comes from a network.
@Suite struct DamagedVideoTests {
  func run(_ codec: VideoCodec) throws -> VideoRun {
    try VideoRun(codec, seconds: 1, videoSettings { $0.size = .qqvga }, keyFramesAt: [15])
  }

  @Test(arguments: PictureCodecTests.codecs, 0..<4 as Range<UInt64>)
  func `damaged bytes never trap, and a key frame repairs the picture`(codec: VideoCodec, seed: UInt64) throws {
    let run = try run(codec)
    let decoder = try VideoDecoder(codec)
    var random = RandomStream(seed: seed)
    var (failures, pictures) = (0, 0)
    for _ in 0..<20 {
      for coded in run.frames {
        var bytes = coded.bytes
        // The first bytes hold the sizes, and are hit as often as all others together. Half of the frames stay whole:
        // some decoders wait for a whole key frame.
        let hits = random.chance(0.5) ? 0 : 1 + Int(random.uniform(below: 4))
        for _ in 0..<hits {
          let limit = random.chance(0.5) ? min(12, bytes.count) : bytes.count
          bytes[Int(random.uniform(below: UInt64(limit)))] = UInt8(truncatingIfNeeded: random.next())
        }
        if hits > 0, random.chance(0.2) { bytes.removeLast(Int(random.uniform(below: UInt64(bytes.count)))) }
        do {
          if try decoder.decode(bytes) != nil { pictures += 1 }
        } catch { failures += 1 }
      }
    }
    #expect(failures > 20 && pictures > 20)
    let reference = try VideoDecoder(codec)
    for coded in run.frames {
      let picture = try decoder.decode(coded.bytes)?.picture
      #expect(picture?.digest == (try reference.decode(coded.bytes)?.picture?.digest))
    }
  }

  @Test(arguments: PictureCodecTests.codecs)
  func `every prefix of a key frame is refused or marked`(codec: VideoCodec) throws {
    let bytes = try run(codec).frames[0].bytes
    let whole = try #require(try VideoDecoder(codec).decode(bytes))
    #expect(!whole.isCorrupted)
    for length in stride(from: 0, to: bytes.count, by: 7) {
      let result = try? VideoDecoder(codec).decode(Array(bytes[..<length]))
      #expect(result == nil || result?.isCorrupted == true || codec == .vp8 && length > 10, "\(length) bytes")
    }
  }

  @Test(arguments: PictureCodecTests.codecs)
  func `random bytes are no video`(codec: VideoCodec) throws {
    let decoder = try VideoDecoder(codec)
    var random = RandomStream(seed: 9)
    for _ in 0..<2_000 {
      let bytes = random.bytes(Int(random.uniform(below: 60)))
      #expect(throws: VideoCodecError.self) { try decoder.decode(bytes) }
    }
  }

  @Test func `a key frame that names a huge picture is refused before anything is allocated`() throws {
    var vp8 = try run(.vp8).frames[0].bytes
    (vp8[6], vp8[7], vp8[8], vp8[9]) = (0xFF, 0x3F, 0xFF, 0x3F)
    #expect(throws: VideoCodecError.tooManyPixels(width: 16_383, height: 16_383)) {
      try VPXDecoder(.vp8).decode(vp8)
    }
    var vp9 = try run(.vp9).frames[0].bytes
    // Behind 8 bits, sync code, colour space and range come 16 bits each of width and height less one.
    for index in 4..<8 { vp9[index] |= index == 4 ? 0x0F : 0xFF }
    #expect {
      try VPXDecoder(.vp9).decode(vp9)
    } throws: { error in
      guard case .tooManyPixels(let width, let height) = error as? VideoCodecError else { return false }
      return width == 65_536 && height > 60_000
    }
  }

  @Test func `the limit of pixels is the owner's`() throws {
    let bytes = try run(.vp8).frames[0].bytes
    #expect(throws: VideoCodecError.tooManyPixels(width: 160, height: 120)) {
      try VPXDecoder(.vp8, maximumPixels: 160 * 120 - 1).decode(bytes)
    }
    #expect(try VPXDecoder(.vp8, maximumPixels: 160 * 120).decode(bytes)?.size == .qqvga)
  }

  @Test(arguments: [VideoCodec.vp8, .vp9])
  func `headers tell key frames and sizes as the encoder does`(codec: VideoCodec) throws {
    for coded in try run(codec).frames {
      if codec == .vp8 {
        let header = try #require(VP8FrameHeader(bytes: coded.bytes))
        #expect(header.isKeyFrame == coded.isKeyFrame && header.isShown)
        #expect((header.width ?? 0, header.height ?? 0) == (coded.isKeyFrame ? (160, 120) : (0, 0)))
      } else if codec == .vp9 {
        let header = try #require(VP9FrameHeader(bytes: coded.bytes))
        #expect(header.isKeyFrame == coded.isKeyFrame && !header.showsExisting)
        #expect((header.width, header.height) == (coded.isKeyFrame ? (160, 120) : (0, 0)))
      }
    }
  }
}

extension VP8FrameHeader {
  init?(bytes: [UInt8]) { self.init(parsing: bytes.span.bytes) }
}

extension VP9FrameHeader {
  init?(bytes: [UInt8]) { self.init(parsing: bytes.span.bytes) }
}
