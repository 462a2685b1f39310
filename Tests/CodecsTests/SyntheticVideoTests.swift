import CallCore
import Codecs
import Pictures
import Testing

@Suite struct SyntheticVideoTests {
  func encoder(
    seed: UInt64 = 1, _ change: (inout VideoEncoderSettings) -> Void = { _ in }
  ) throws -> SyntheticVideoEncoder {
    try SyntheticVideoEncoder(settings: videoSettings(change), random: RandomStream(seed: seed))
  }

  func frames(_ encoder: SyntheticVideoEncoder, _ count: UInt32, keyFramesAt: [UInt32] = []) -> [EncodedVideoFrame] {
    (0..<count).map { number in
      encoder.encode(
        contentID: number, at: .zero + .milliseconds(Int64(number) * 33), forcingKeyFrame: keyFramesAt.contains(number))
    }
  }

  @Test func `the same seed gives the same bytes, another seed other sizes`() throws {
    let first = frames(try encoder(), 50)
    #expect(frames(try encoder(), 50).map(\.digest) == first.map(\.digest))
    #expect(frames(try encoder(seed: 2), 50).map(\.bytes.count) != first.map(\.bytes.count))
  }

  @Test(arguments: [50, 300, 2_000] as [Int64], [1, 2, 3])
  func `the bitrate is met over five seconds, key frames included`(kilobits: Int64, layers: Int) throws {
    let encoder = try encoder {
      $0.bitrate = .kilobitsPerSecond(kilobits); $0.temporalLayers = layers
    }
    let total = frames(encoder, 150, keyFramesAt: [60]).reduce(0) { $0 + $1.bytes.count }
    let share = Double(total) * 8 / 5_000 / Double(kilobits)
    #expect((0.95...1.05).contains(share), "\(share) of the target")
  }

  @Test func `a key frame is several times as large as the mean`() throws {
    let frames = frames(try encoder(), 60, keyFramesAt: [30])
    #expect(frames.filter(\.isKeyFrame).map(\.number) == [0, 30])
    let mean = 300_000 / 8 / 30
    #expect((3 * mean...12 * mean).contains(frames[30].bytes.count))
  }

  /// The mean deviation of a Laplace distribution is its scale.
  @Test func `sizes deviate as RFC 8593 says`() throws {
    let sizes = frames(try encoder { $0.bitrate = .megabitsPerSecond(4) }, 3_000).dropFirst(100).map(\.bytes.count)
    let mean = Double(sizes.reduce(0, +)) / Double(sizes.count)
    let deviation = sizes.reduce(0) { $0 + abs(Double($1) - mean) } / Double(sizes.count) / mean
    #expect((0.1...0.2).contains(deviation), "\(deviation)")
  }

  @Test func `the number of the picture arrives`() throws {
    let decoder = SyntheticVideoDecoder()
    for coded in frames(try encoder { $0.temporalLayers = 3 }, 40) {
      let result = try decoder.decode(coded.bytes)
      #expect(result.contentID == coded.contentID)
      #expect(result.isKeyFrame == coded.isKeyFrame)
      #expect(result.size == .qvga)
      #expect(result.hasNewSize == (coded.number == 0))
      #expect(!result.isCorrupted)
    }
  }

  @Test func `a missing frame damages all up to the next key frame`() throws {
    let decoder = SyntheticVideoDecoder()
    var corrupted: [UInt32] = []
    for coded in frames(try encoder(), 20, keyFramesAt: [15]) where coded.number != 5 {
      if try decoder.decode(coded.bytes).isCorrupted { corrupted.append(coded.number) }
    }
    #expect(corrupted == Array(6..<15))
  }

  @Test(arguments: [0, 1])
  func `upper layers can be left away`(kept: Int) throws {
    let decoder = SyntheticVideoDecoder()
    for coded in frames(try encoder { $0.temporalLayers = 3 }, 40) where coded.layer.id <= kept {
      #expect(try !decoder.decode(coded.bytes).isCorrupted)
    }
  }

  @Test func `a decoder begins with a key frame`() throws {
    let frames = frames(try encoder(), 2)
    let decoder = SyntheticVideoDecoder()
    #expect(throws: VideoCodecError.keyFrameRequired) { try decoder.decode(frames[1].bytes) }
    _ = try decoder.decode(frames[0].bytes)
    _ = try decoder.decode(frames[1].bytes)
  }

  @Test func `every change of a byte and every cut is noticed`() throws {
    let bytes = try encoder { $0.bitrate = .kilobitsPerSecond(30) }.encode(contentID: 9, at: .zero).bytes
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x10
      #expect(throws: VideoCodecError.self) { try SyntheticVideoDecoder().decode(damaged) }
      #expect(throws: VideoCodecError.self) { try SyntheticVideoDecoder().decode(Array(bytes[..<index])) }
    }
  }

  @Test func `a black picture takes next to nothing at any rate`() throws {
    let encoder = try encoder {
      $0.size = .vga; $0.bitrate = .kilobitsPerSecond(1_000)
    }
    let sizes = (0..<30 as Range<UInt32>).map { encoder.encode(contentID: $0, isBlack: true, at: .zero).bytes.count }
    #expect(sizes[0] == 582 && sizes.dropFirst().allSatisfy { $0 == 97 }, "\(sizes)")
    #expect(encoder.encode(contentID: 30, at: .zero).bytes.count > 1_000)
  }

  @Test func `another size begins with a key frame`() throws {
    let encoder = try encoder()
    _ = frames(encoder, 3)
    try encoder.update(videoSettings { $0.size = .vga })
    let coded = encoder.encode(contentID: 3, at: .zero)
    #expect(coded.isKeyFrame && coded.size == .vga && coded.number == 3)
    try encoder.update(
      videoSettings {
        $0.size = .vga; $0.bitrate = .kilobitsPerSecond(900)
      })
    #expect(!encoder.encode(contentID: 4, at: .zero).isKeyFrame)
  }
}
