import CallCore
import Codecs
import Pictures
import RTP
import Testing

@Suite struct AV1CodecTests {
  private func run(layers: Int, seconds: Double = 1) throws -> VideoRun {
    let settings = videoSettings {
      $0.temporalLayers = layers; $0.dropsFrames = false
    }
    return try VideoRun(.av1, seconds: seconds, settings)
  }

  @Test func `a busy machine does not change the bytes`() async throws {
    let settings = videoSettings { $0.temporalLayers = 3 }
    let quiet = try VideoRun(.av1, seconds: 1, settings).frames.map(\.digest)
    // Far more work than the machine has processors, of which each run gets a varying share.
    let digests = try await withThrowingTaskGroup(of: [[UInt64]].self) { group in
      for index in 0..<8 {
        group.addTask {
          if index % 2 == 1 { _ = try VideoRun(.vp9, seconds: 0.5 * Double(index), settings) }
          return try VideoRun(.av1, seconds: 1, settings).frames.map(\.digest)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(digests.allSatisfy { $0 == quiet } && digests.count == 8)
  }

  @Test func `dependencies are those of three layers in libwebrtc`() throws {
    let frames = try run(layers: 3).frames.prefix(9)
    #expect(frames.map(\.layer.id) == [0, 2, 1, 2, 0, 2, 1, 2, 0])
    #expect(frames.map(\.layer.dependencies) == [[], [1], [2], [1], [4], [1], [2], [1], [4]])
    #expect(frames.map(\.layer.isSync) == [true, true, true, false, false, true, true, false, false])
    #expect(frames.map(\.layer.isDiscardable) == [false, true, false, true, false, true, false, true, false])
    #expect(frames.map(\.layer.baseIndex) == [0, 0, 0, 0, 1, 1, 1, 1, 2])
  }

  @Test func `dependencies are those of two layers in libwebrtc`() throws {
    #expect(try run(layers: 2).frames.prefix(5).map(\.layer.dependencies) == [[], [1], [2], [1], [2]])
    #expect(try run(layers: 1).frames.prefix(3).map(\.layer.dependencies) == [[], [1], [1]])
  }

  @Test(arguments: [2, 3])
  func `whatever the encoder drops, the stated dependencies suffice to decode`(layers: Int) throws {
    let settings = videoSettings {
      $0.temporalLayers = layers; $0.bitrate = .kilobitsPerSecond(30)
    }
    let run = try VideoRun(.av1, .movingBars, seconds: 4, settings)
    #expect(run.dropped > 5)
    let whole = try VideoDecoder(.av1)
    let wanted = try run.frames.map { try whole.decode($0.bytes)?.picture?.digest }
    // The closure of the last frame's dependencies, in order.
    var needed: Set<UInt32> = []
    var open = [run.frames[run.frames.count - 1].number]
    while let number = open.popLast() {
      guard needed.insert(number).inserted else { continue }
      open += run.frames[Int(number)].layer.dependencies.map { number - $0 }
    }
    #expect(needed.count < run.frames.count)
    let part = try VideoDecoder(.av1)
    for number in needed.sorted() {
      #expect(try part.decode(run.frames[Int(number)].bytes)?.picture?.digest == wanted[Int(number)])
    }
  }

  @Test(arguments: [1, 3])
  func `the packetizer takes each frame, and what it sends decodes to the same pictures`(layers: Int) throws {
    let run = try run(layers: layers)
    let (whole, sent) = (try VideoDecoder(.av1), try VideoDecoder(.av1))
    for coded in run.frames {
      var packetizer = AV1Packetizer()
      let begins = packetizer.begin(
        coded.bytes.span.bytes, isKeyFrame: coded.isKeyFrame, limits: PayloadLimits(maximum: 1_200))
      #expect(begins)
      // Units without delimiters and padding, as they travel.
      var offset = 0
      var bytes: [UInt8] = [0x12, 0]
      while true {
        let start = offset
        guard let unit = AV1OBU(parsing: coded.bytes.span.bytes, at: &offset) else { break }
        if unit.kind != .temporalDelimiter, unit.kind != .padding { bytes += coded.bytes[start..<offset] }
      }
      #expect(offset == coded.bytes.count)
      let wanted = try whole.decode(coded.bytes)?.picture?.digest
      #expect(try sent.decode(bytes)?.picture?.digest == wanted && wanted != nil)
    }
  }

  @Test func `text on a screen stays sharp`() throws {
    let settings = videoSettings {
      $0.content = .screen; $0.bitrate = .kilobitsPerSecond(500)
    }
    let run = try VideoRun(.av1, .screenText, seconds: 1, settings)
    let decoder = try VideoDecoder(.av1)
    for coded in run.frames {
      let picture = try #require(try decoder.decode(coded.bytes)?.picture)
      #expect(try PSNR.luma(run.video.frame(try #require(coded.contentID)), picture) > 30)
    }
    #expect(run.frames.count > 10)
  }

  @Test(arguments: [5, 10]) func `each speed writes a stream of its own`(speed: Int) throws {
    let settings = videoSettings { $0.speed = speed }
    let frames = try VideoRun(.av1, seconds: 0.3, settings).frames
    #expect(frames.map(\.digest) != (try VideoRun(.av1, seconds: 0.3, videoSettings()).frames.map(\.digest)))
    #expect(throws: VideoCodecError.unsupportedSetting("speed")) {
      try AV1Encoder(settings: videoSettings { $0.speed = speed == 5 ? 4 : 11 })
    }
  }

  @Test func `a key frame of a huge picture is refused before anything is allocated`() throws {
    let bytes = try run(layers: 1, seconds: 0.1).frames[0].bytes
    #expect(throws: VideoCodecError.tooManyPixels(width: 320, height: 240)) {
      try AV1Decoder(maximumPixels: 320 * 240 - 1).decode(bytes)
    }
    #expect(try AV1Decoder(maximumPixels: 320 * 240).decode(bytes)?.size == .qvga)
  }

  @Test func `a size below a block is refused`() throws {
    let size = try #require(PictureSize(8, 8))
    #expect(throws: VideoCodecError.unsupportedSetting("size")) {
      try AV1Encoder(settings: videoSettings { $0.size = size })
    }
  }

  @Test func `the linked libraries state their versions`() {
    for version in [CodecLibraries.aomVersion, CodecLibraries.dav1dVersion] {
      #expect(version.first.map { $0.isNumber || $0 == "v" } == true, "\(version)")
    }
  }
}

extension AV1Decoder {
  func decode(_ bytes: [UInt8]) throws(VideoCodecError) -> DecodedVideoFrame? { try decode(bytes.span.bytes) }
}
