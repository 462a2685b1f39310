import CallCore
import Codecs
import Pictures
import Testing

@Suite struct VideoCodecTests {
  @Test(arguments: VideoCodec.allCases)
  func `every codec carries a picture's number to the other side`(codec: VideoCodec) throws {
    let encoder = try VideoEncoder(codec, settings: videoSettings(), random: RandomStream(seed: 1))
    let decoder = try VideoDecoder(codec)
    #expect(encoder.codec == codec && decoder.codec == codec)
    #expect(encoder.needsPictures == decoder.producesPictures)
    let video = GeneratedVideo(.talkingHead, size: .qvga)
    for number in 0..<5 as Range<UInt32> {
      let coded = try #require(try encoder.encode(video.frame(number, at: .zero + .milliseconds(Int64(number) * 33))))
      let result = try #require(try decoder.decode(coded.bytes.span.bytes, at: .zero + .seconds(1)))
      #expect(result.contentID ?? result.picture.flatMap(FrameNumberCode.read) == number)
      if let picture = result.picture { #expect(picture.timestamp == .zero + .seconds(1)) }
    }
  }

  @Test(arguments: VideoCodec.allCases)
  func `only the synthetic codec works without pictures`(codec: VideoCodec) throws {
    let encoder = try VideoEncoder(codec, settings: videoSettings(), random: RandomStream(seed: 1))
    if encoder.needsPictures {
      #expect(throws: VideoCodecError.pictureRequired) { try encoder.encode(contentID: 1, at: .zero) }
    } else {
      #expect(try encoder.encode(contentID: 1, at: .zero).contentID == 1)
    }
    #expect(throws: VideoCodecError.wrongSize(.vga, expected: .qvga)) { try encoder.encode(VideoFrame(filled: .vga)) }
  }

  @Test(arguments: VideoCodec.allCases)
  func `settings that are refused leave those before in force`(codec: VideoCodec) throws {
    let encoder = try VideoEncoder(codec, settings: videoSettings(), random: RandomStream(seed: 1))
    #expect(throws: VideoCodecError.unsupportedSetting("frameRate")) {
      try encoder.update(videoSettings { $0.frameRate = 121 })
    }
    #expect(encoder.settings == videoSettings())
    #expect(try encoder.encode(VideoFrame(filled: .qvga)) != nil)
  }
}
