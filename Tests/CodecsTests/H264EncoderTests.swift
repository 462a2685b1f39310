import Bitstreams
import CallCore
import Codecs
import Pictures
import Testing

@Suite struct H264EncoderTests {
  @Test func `parameter sets precede each key frame, and one slice follows`() throws {
    let run = try VideoRun(.h264, seconds: 1, videoSettings { $0.dropsFrames = false }, keyFramesAt: [10])
    for coded in run.frames {
      let types = H264ByteStream.units(of: coded.bytes.span.bytes).map { $0.header & 0x1F }
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
