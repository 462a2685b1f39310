import Testing

@testable import Formats

/// What ``MP4File`` writes is read back by the standard.
@Suite struct `MP4 files` {
  private static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 1]
  private static let pps: [UInt8] = [0x68, 2]

  private static func pictures(_ count: Int, delay: UInt32 = 0, _ rotation: MP4Track.Rotation = .none) -> MP4Track {
    var track = MP4Track(
      .h264(width: 640, height: 480, sequenceParameterSets: [sps], pictureParameterSets: [pps]))
    track.samples = (0..<count).map { MP4Track.Sample([0, 0, 0, 1, UInt8($0)], duration: 1_600, isSync: $0 % 2 == 0) }
    track.delay = delay
    track.rotation = rotation
    return track
  }

  private static func sound(_ count: Int, played: UInt32? = nil) -> MP4Track {
    var track = MP4Track(.opus(channels: 1, preSkip: 312))
    track.samples = (0..<count).map {
      MP4Track.Sample(Array(repeating: UInt8($0), count: $0 + 1), duration: 960, isSync: true)
    }
    track.playedDuration = played
    return track
  }

  private func read(_ tracks: MP4Track...) throws -> MP4Reader { try #require(MP4Reader(MP4File(tracks).bytes)) }

  @Test func `the description comes before the samples`() throws {
    #expect(try read(Self.pictures(3), Self.sound(2)).names == ["ftyp", "moov", "mdat"])
  }

  @Test func `each track finds its samples`() throws {
    let (pictures, sound) = (Self.pictures(3), Self.sound(4))
    let file = try read(pictures, sound)
    #expect(file.samples(of: try #require(file.track("vide"))) == pictures.samples.map(\.bytes))
    #expect(file.samples(of: try #require(file.track("soun"))) == sound.samples.map(\.bytes))
  }

  @Test func `the movie is as long as its longest track`() throws {
    let file = try read(Self.pictures(3, delay: 100), Self.sound(2))
    #expect(file.movie?["mvhd"]?.word(at: 12) == 48_000)
    #expect(file.movie?["mvhd"]?.word(at: 16) == UInt32(4_900))
  }

  @Test func `a track that begins later has an edit without media`() throws {
    let file = try read(Self.pictures(3, delay: 100))
    let edits = file.edits(of: try #require(file.track("vide")))
    #expect(edits.map(\.duration) == [100, 4_800] && edits.map(\.start) == [nil, 0])
  }

  @Test func `the samples before the sound are not played`() throws {
    let file = try read(Self.sound(3, played: 2_000))
    let edits = file.edits(of: try #require(file.track("soun")))
    #expect(edits.map(\.duration) == [2_000] && edits.map(\.start) == [312])
  }

  @Test func `pictures say from which of them decoding can begin`() throws {
    let table = try read(Self.pictures(5)).track("vide")?["mdia", "minf", "stbl", "stss"]
    #expect(table?.word(at: 4) == 3)
    #expect([8, 12, 16].map { table?.word(at: $0) } == [1, 3, 5])
  }

  @Test func `durations are kept in runs`() throws {
    var track = Self.pictures(2)
    track.samples.append(MP4Track.Sample([9], duration: 5, isSync: false))
    let file = try read(track)
    let video = try #require(file.track("vide"))
    #expect(file.durations(of: video) == [1_600, 1_600, 5])
    #expect(video["mdia", "minf", "stbl", "stts"]?.word(at: 4) == 2)
  }

  @Test func `the parameter sets stand in the description`() throws {
    let configuration = try read(Self.pictures(1)).track("vide")?["mdia", "minf", "stbl", "stsd", "avc1", "avcC"]
    let expected: [UInt8] = [1, 0x42, 0xC0, 0x1F, 0xFF, 0xE1, 0, 5] + Self.sps + [1, 0, 2] + Self.pps
    #expect(configuration.map { Array($0.content) } == expected)
  }

  @Test func `Opus is described by its published encapsulation`() throws {
    let configuration = try read(Self.sound(1)).track("soun")?["mdia", "minf", "stbl", "stsd", "Opus", "dOps"]
    #expect(configuration.map { Array($0.content) } == [0, 1, 1, 0x38, 0, 0, 0xBB, 0x80, 0, 0, 0])
  }

  @Test(
    arguments: [
      (MP4Track.Rotation.right, [0, 0x1_0000, 0, 0xFFFF_0000, 0, 0, 480 << 16, 0]),
      (.half, [0xFFFF_0000, 0, 0, 0, 0xFFFF_0000, 0, 640 << 16, 480 << 16]),
      (.left, [0, 0xFFFF_0000, 0, 0x1_0000, 0, 0, 0, 640 << 16]),
    ] as [(MP4Track.Rotation, [UInt32])])
  func `a rotation is a matrix that players apply`(rotation: MP4Track.Rotation, matrix: [UInt32]) throws {
    let header = try read(Self.pictures(1, rotation)).track("vide")?["tkhd"]
    #expect((0..<8).map { header?.word(at: 40 + 4 * $0) } == matrix)
  }

  @Test func `a track without samples is allowed`() throws {
    let file = try read(Self.pictures(0), Self.sound(1))
    #expect(file.samples(of: try #require(file.track("vide"))) == [])
    #expect(file.samples(of: try #require(file.track("soun"))) == [[0]])
  }
}
