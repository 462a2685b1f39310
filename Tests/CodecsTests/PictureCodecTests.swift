import CallCore
import Codecs
import Pictures
import Testing

@Suite struct PictureCodecTests {
  static let codecs = [VideoCodec.vp8, .vp9, .h264, .av1]

  @Test(arguments: codecs)
  func `two encoders write the same bytes`(codec: VideoCodec) throws {
    let settings = videoSettings { $0.temporalLayers = 3 }
    let (first, second) = (
      try VideoRun(codec, seconds: 1, settings), try VideoRun(codec, seconds: 1, settings)
    )
    #expect(first.frames.map(\.digest) == second.frames.map(\.digest))
    #expect(first.frames.count > 20)
  }

  @Test(arguments: codecs)
  func `the picture comes back much as it was`(codec: VideoCodec) throws {
    let run = try VideoRun(codec, seconds: 0.5, videoSettings { $0.bitrate = .kilobitsPerSecond(800) })
    let decoder = try VideoDecoder(codec)
    for coded in run.frames {
      let result = try #require(try decoder.decode(coded.bytes))
      let picture = try #require(result.picture)
      let original = run.video.frame(try #require(coded.contentID))
      #expect(try PSNR.luma(original, picture) > 30)
      #expect(!result.isCorrupted)
      #expect(result.isKeyFrame == coded.isKeyFrame)
    }
  }

  @Test(arguments: codecs, [GeneratedVideo.Kind.talkingHead, .movingBars])
  func `the frame number survives 100 kbit per second`(codec: VideoCodec, kind: GeneratedVideo.Kind) throws {
    let settings = videoSettings { $0.bitrate = .kilobitsPerSecond(100) }
    let run = try VideoRun(codec, kind, seconds: 3, settings)
    let decoder = try VideoDecoder(codec)
    for coded in run.frames {
      let picture = try #require(try decoder.decode(coded.bytes)?.picture)
      #expect(FrameNumberCode.read(picture) == coded.contentID)
    }
    #expect(run.frames.count > 20)
  }

  @Test(arguments: codecs, [200, 400] as [Int64])
  func `the bitrate is met over five seconds`(codec: VideoCodec, kilobits: Int64) throws {
    let run = try VideoRun(codec, seconds: 5, videoSettings { $0.bitrate = .kilobitsPerSecond(kilobits) })
    let share = run.kilobits(over: 5) / Double(kilobits)
    #expect((0.8...1.15).contains(share), "\(share) of the target")
  }

  @Test(arguments: codecs, [1, 3])
  func `another bitrate takes effect without a key frame`(codec: VideoCodec, layers: Int) throws {
    var settings = videoSettings {
      $0.bitrate = .kilobitsPerSecond(500); $0.temporalLayers = layers
    }
    let encoder = try VideoEncoder(codec, settings: settings, random: RandomStream(seed: 1))
    let video = GeneratedVideo(.talkingHead, size: settings.size)
    var (before, after, keyFrames) = (0, 0, 0)
    for number in 0..<180 as Range<UInt32> {
      if number == 60 {
        settings.bitrate = .kilobitsPerSecond(150)
        try encoder.update(settings)
      }
      guard let coded = try encoder.encode(video.frame(number, at: VideoRun.time(number, settings))) else { continue }
      if number < 60 { before += coded.bytes.count }
      if number >= 120 { after += coded.bytes.count }
      if coded.isKeyFrame { keyFrames += 1 }
    }
    #expect(keyFrames == 1)
    #expect(Double(after) < 0.5 * Double(before))
    #expect(Double(after) * 8 / 2_000 < 150 * 1.3)
  }

  @Test(arguments: codecs)
  func `a lower frame rate gives larger frames`(codec: VideoCodec) throws {
    let fast = try VideoRun(codec, seconds: 2, videoSettings())
    let slow = try VideoRun(codec, seconds: 2, videoSettings { $0.frameRate = 10 })
    let mean = { (run: VideoRun) in run.frames.dropFirst().reduce(0) { $0 + $1.bytes.count } / (run.frames.count - 1) }
    #expect(mean(slow) > 2 * mean(fast))
  }

  @Test(arguments: codecs, [1, 3])
  func `a key frame comes on request, and at no other time`(codec: VideoCodec, layers: Int) throws {
    let settings = videoSettings {
      $0.temporalLayers = layers; $0.dropsFrames = false
    }
    let run = try VideoRun(codec, seconds: 1, settings, keyFramesAt: [11, 22])
    #expect(run.frames.filter(\.isKeyFrame).map(\.contentID) == [0, 11, 22])
    let decoder = try VideoDecoder(codec)
    #expect(throws: VideoCodecError.keyFrameRequired) { try decoder.decode(run.frames[10].bytes) }
    #expect(try decoder.decode(run.frames[11].bytes)?.isKeyFrame == true)
    #expect(try decoder.decode(run.frames[12].bytes)?.isKeyFrame == false)
  }

  @Test(arguments: [VideoCodec.vp8, .vp9, .av1])
  func `less bitrate means a higher quantizer, and the decoder reads the same`(codec: VideoCodec) throws {
    let (poor, rich) = (
      try VideoRun(codec, seconds: 1, videoSettings { $0.bitrate = .kilobitsPerSecond(80) }),
      try VideoRun(codec, seconds: 1, videoSettings { $0.bitrate = .kilobitsPerSecond(1_500) })
    )
    let mean = { (run: VideoRun) in run.frames.reduce(0) { $0 + ($1.quantizer ?? 0) } / run.frames.count }
    #expect(mean(poor) > mean(rich) + 20)
    #expect(rich.frames.allSatisfy { (0...(codec == .vp8 ? 127 : 255)).contains($0.quantizer ?? -1) })
    let decoder = try VideoDecoder(codec)
    for coded in poor.frames { #expect(try decoder.decode(coded.bytes)?.quantizer == coded.quantizer) }
  }

  @Test(arguments: codecs)
  func `an encoder that cannot keep the rate drops frames unless told not to`(codec: VideoCodec) throws {
    let rate = { (drops: Bool) in
      videoSettings {
        $0.size = .vga; $0.bitrate = .kilobitsPerSecond(40); $0.dropsFrames = drops
      }
    }
    #expect(try VideoRun(codec, .movingBars, seconds: 2, rate(true)).dropped > 5)
    #expect(try VideoRun(codec, .movingBars, seconds: 1, rate(false)).dropped == 0)
  }

  @Test(arguments: [VideoCodec.vp8, .vp9])
  func `a frame comes at least every two seconds, whatever the bitrate`(codec: VideoCodec) throws {
    let settings = videoSettings {
      $0.bitrate = .kilobitsPerSecond(10); $0.frameRate = 10
    }
    let run = try VideoRun(codec, .screenText, seconds: 7, settings)
    let times = run.frames.map(\.timestamp)
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(gaps.contains(.seconds(2)))
    #expect(gaps.allSatisfy { $0 <= .seconds(2) })
  }

  @Test(arguments: codecs)
  func `the decoder follows another size`(codec: VideoCodec) throws {
    var settings = videoSettings()
    let encoder = try VideoEncoder(codec, settings: settings, random: RandomStream(seed: 1))
    let decoder = try VideoDecoder(codec)
    var sizes: [PictureSize] = []
    for (index, size) in [PictureSize.qvga, .qvga, .qqvga, .vga].enumerated() {
      settings.size = size
      try encoder.update(settings)
      let frame = GeneratedVideo(.movingBars, size: size).frame(UInt32(index))
      let coded = try #require(try encoder.encode(frame))
      #expect(coded.number == UInt32(index))
      let result = try #require(try decoder.decode(coded.bytes))
      #expect(result.hasNewSize == (index != 1))
      sizes.append(result.size)
    }
    #expect(sizes == [.qvga, .qvga, .qqvga, .vga])
  }

  @Test(arguments: [VideoCodec.vp8, .vp9, .av1])
  func `an odd size survives`(codec: VideoCodec) throws {
    let size = try #require(PictureSize(161, 91))
    let encoder = try VideoEncoder(codec, settings: videoSettings { $0.size = size }, random: RandomStream(seed: 1))
    let frame = VideoFrame(filled: size, luma: 90, u: 60, v: 200)
    let coded = try #require(try encoder.encode(frame))
    let picture = try #require(try VideoDecoder(codec).decode(coded.bytes)?.picture)
    #expect(picture.size == size)
    #expect(zip(picture.samples, frame.samples).allSatisfy { abs(Int($0) - Int($1)) < 6 })
  }

  @Test(arguments: codecs)
  func `settings out of range are refused by name`(codec: VideoCodec) {
    let wrong: [(String, (inout VideoEncoderSettings) -> Void)] = [
      ("bitrate", { $0.bitrate = .bitsPerSecond(1) }), ("frameRate", { $0.frameRate = 0 }),
      ("temporalLayers", { $0.temporalLayers = 4 }), ("speed", { $0.speed = 0 }), ("speed", { $0.speed = 17 }),
    ]
    for (name, change) in wrong {
      let settings = videoSettings(change)
      #expect(throws: VideoCodecError.unsupportedSetting(name)) {
        try VideoEncoder(codec, settings: settings, random: RandomStream(seed: 1))
      }
    }
    #expect(throws: VideoCodecError.unsupportedSetting("codec")) { try VPXEncoder(.synthetic) }
    #expect(throws: VideoCodecError.unsupportedSetting("codec")) { try VPXDecoder(.synthetic) }
  }

  @Test func `a picture of another size is refused`() throws {
    let encoder = try VideoEncoder(.vp8, settings: videoSettings(), random: RandomStream(seed: 1))
    #expect(throws: VideoCodecError.wrongSize(.vga, expected: .qvga)) { try encoder.encode(VideoFrame(filled: .vga)) }
  }
}
