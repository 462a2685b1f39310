import CallCore
import Codecs
import Pictures
import Testing

@Suite struct TemporalLayerTests {
  func run(_ codec: VideoCodec, layers: Int, seconds: Double = 1, keyFramesAt: [UInt32] = []) throws -> VideoRun {
    let settings = videoSettings {
      $0.temporalLayers = layers; $0.dropsFrames = false
    }
    return try VideoRun(codec, seconds: seconds, settings, keyFramesAt: keyFramesAt)
  }

  @Test(arguments: [(1, [0, 0, 0, 0, 0]), (2, [0, 1, 0, 1, 0]), (3, [0, 2, 1, 2, 0, 2, 1, 2, 0])])
  func `layers follow the pattern of their number`(layers: Int, ids: [Int]) throws {
    for codec in PictureCodecTests.codecs {
      #expect(try run(codec, layers: layers).frames.prefix(ids.count).map(\.layer.id) == ids)
    }
  }

  /// libwebrtc's frame differences of `L1T3` in its first two rounds.
  @Test func `dependencies are those of three layers in libwebrtc`() throws {
    let frames = try run(.vp8, layers: 3).frames
    #expect(
      frames.prefix(16).map(\.layer.dependencies) == [
        [], [1], [2], [1, 3], [4], [1, 3], [2, 4], [1, 3], [4], [1], [2], [1, 3], [4], [1, 3], [2, 4], [1, 3],
      ])
    #expect(frames.prefix(9).map(\.layer.isSync) == [true, true, true, false, false, false, false, false, false])
    #expect(frames.prefix(9).map(\.layer.baseIndex) == [0, 0, 0, 0, 1, 1, 1, 1, 2])
    #expect(frames.prefix(4).map(\.layer.isDiscardable) == [false, true, false, true])
  }

  @Test func `dependencies are those of two layers in libwebrtc`() throws {
    let frames = try run(.vp8, layers: 2).frames
    #expect(frames.prefix(8).map(\.layer.dependencies) == [[], [1], [2], [1, 2], [2], [1], [2], [1, 2]])
  }

  /// What is left must decode to the very pictures of the whole stream.
  @Test(arguments: PictureCodecTests.codecs, [(2, 0), (3, 0), (3, 1)])
  func `upper layers can be dropped and the rest decodes to the same pictures`(
    codec: VideoCodec, layers: (count: Int, kept: Int)
  ) throws {
    let run = try run(codec, layers: layers.count)
    let (whole, part) = (try VideoDecoder(codec), try VideoDecoder(codec))
    var compared = 0
    for coded in run.frames {
      let wanted = try #require(try whole.decode(coded.bytes)?.picture)
      guard coded.layer.id <= layers.kept else { continue }
      let picture = try #require(try part.decode(coded.bytes)?.picture)
      #expect(picture.digest == wanted.digest)
      compared += 1
    }
    #expect(compared >= 8 && compared < run.frames.count)
  }

  @Test(arguments: PictureCodecTests.codecs)
  func `a receiver can step up at a frame of synchronisation`(codec: VideoCodec) throws {
    let run = try run(codec, layers: 3)
    let (whole, part) = (try VideoDecoder(codec), try VideoDecoder(codec))
    // Only layer 0 up to the second round, and then all from the synchronisation of layer 2 on.
    var isOpen = [true, false, false]
    var compared = 0
    for coded in run.frames {
      let wanted = try #require(try whole.decode(coded.bytes)?.picture)
      if coded.number > 4, coded.layer.isSync { isOpen[coded.layer.id] = true }
      guard isOpen[coded.layer.id], coded.layer.id < 2 || isOpen[1] || coded.layer.isSync else { continue }
      #expect(try part.decode(coded.bytes)?.picture?.digest == wanted.digest)
      if coded.layer.id > 0 { compared += 1 }
    }
    #expect(isOpen == [true, true, true])
    #expect(compared > 10)
  }

  @Test func `the rate of the lowest of three layers is two fifths`() throws {
    let settings = videoSettings { $0.temporalLayers = 3 }
    let run = try VideoRun(.vp8, seconds: 5, settings)
    let lowest = run.frames.filter { $0.layer.id == 0 }.reduce(0) { $0 + $1.bytes.count }
    let share = Double(lowest) * 8 / 5_000 / 300
    #expect((0.3...0.55).contains(share), "\(share) of the rate")
  }

  @Test func `a requested key frame begins the pattern anew`() throws {
    let frames = try run(.vp8, layers: 3, keyFramesAt: [6]).frames
    #expect(frames[..<12].map(\.layer.id) == [0, 2, 1, 2, 0, 2, 0, 2, 1, 2, 0, 2])
    #expect(frames[6].isKeyFrame && frames[6].layer.isSync && frames[6].layer.dependencies.isEmpty)
  }

  @Test(arguments: [1, 2, 3])
  func `whatever the encoder drops, no frame depends on a dropped one`(layers: Int) throws {
    let settings = videoSettings {
      $0.temporalLayers = layers; $0.bitrate = .kilobitsPerSecond(40)
    }
    let run = try VideoRun(.vp8, .movingBars, seconds: 4, settings)
    #expect(run.dropped > 5)
    #expect(run.frames.map(\.number) == Array(0..<UInt32(run.frames.count)))
    for coded in run.frames {
      #expect(coded.layer.dependencies.allSatisfy { $0 > 0 && $0 <= coded.number })
      for distance in coded.layer.dependencies {
        #expect(run.frames[Int(coded.number - distance)].layer.id <= coded.layer.id)
      }
      #expect(coded.layer.dependencies.isEmpty == coded.isKeyFrame)
    }
  }

  @Test func `another number of layers begins a new stream`() throws {
    var settings = videoSettings()
    let encoder = try VideoEncoder(.vp8, settings: settings, random: RandomStream(seed: 1))
    let video = GeneratedVideo(.movingBars, size: settings.size)
    _ = try encoder.encode(video.frame(0))
    settings.temporalLayers = 2
    try encoder.update(settings)
    let first = try #require(try encoder.encode(video.frame(1, at: .zero + .milliseconds(33))))
    let second = try #require(try encoder.encode(video.frame(2, at: .zero + .milliseconds(66))))
    #expect(first.isKeyFrame && first.number == 1 && first.layer.baseIndex == 1)
    #expect(second.layer.id == 1 && second.layer.dependencies == [1])
  }
}
