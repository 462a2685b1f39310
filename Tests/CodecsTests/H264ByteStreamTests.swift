import CallCore
import Codecs
import Pictures
import Testing

@Suite struct H264ByteStreamTests {
  func units(_ bytes: [UInt8]) -> [Range<Int>] { H264ByteStream.units(of: bytes.span.bytes) }

  @Test func `units lie between start codes of three or four bytes`() {
    #expect(units([0, 0, 0, 1, 7, 8, 0, 0, 1, 9]) == [4..<6, 9..<10])
    #expect(units([0, 0, 1, 7, 0, 0, 0, 0, 1, 9, 0, 0]) == [3..<4, 9..<10])
    #expect(units([0, 0, 1, 0, 0, 1, 5]) == [6..<7])
  }

  @Test func `bytes without a start code are no unit`() {
    for bytes in [[], [1], [0, 0], [0, 1, 5], [0, 0, 2, 5], [0, 0, 0, 1]] as [[UInt8]] { #expect(units(bytes).isEmpty) }
  }

  @Test func `parameter sets precede each key frame, and one slice follows`() throws {
    let run = try VideoRun(.h264, seconds: 1, videoSettings { $0.dropsFrames = false }, keyFramesAt: [10])
    for coded in run.frames {
      let types = H264ByteStream.units(of: coded.bytes.span.bytes).map { coded.bytes[$0.lowerBound] & 0x1F }
      #expect(types == (coded.isKeyFrame ? [7, 8, 5] : [1]), "frame \(coded.number)")
    }
    #expect(run.frames.filter(\.isKeyFrame).map(\.number) == [0, 10])
  }

  @Test func `sizes that OpenH264 cannot code are refused`() throws {
    let size = try #require(PictureSize(161, 90))
    #expect(throws: VideoCodecError.unsupportedSetting("size")) {
      try H264Encoder(settings: videoSettings { $0.size = size })
    }
    #expect(throws: VideoCodecError.unsupportedSetting("speed")) {
      try H264Encoder(settings: videoSettings { $0.speed = 6 })
    }
  }
}
