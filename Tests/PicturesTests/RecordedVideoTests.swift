import CallCore
import Pictures
import Testing

@Suite struct `A file that a camera films` {
  private static let size = PictureSize(4, 2)!

  /// A Y4M file of one picture for each luma, ten in a second.
  private func y4m(_ lumas: [UInt8]) throws -> [UInt8] {
    var writer = Y4MWriter(size: Self.size, frameRate: try #require(FrameRate(10)))
    for luma in lumas { try writer.append(picture(luma)) }
    return writer.bytes
  }

  private func picture(_ luma: UInt8, at milliseconds: Int64 = 0) -> VideoFrame {
    let samples = [UInt8](repeating: luma, count: Self.size.pixelCount) + [128, 128, 128, 128]
    return VideoFrame(
      size: Self.size, samples: samples, timestamp: Instant(nanoseconds: milliseconds * 1_000_000))!
  }

  private func ivf(codec: String = "VP80", frames: Int) throws -> [UInt8] {
    var writer = try #require(IVFWriter(codec: codec, size: .vga, timeBase: .fps30))
    for number in 0..<frames { try writer.append(IVFFile.Frame(time: UInt64(number), bytes: [1])) }
    return writer.bytes
  }

  private func failure(_ bytes: [UInt8]) -> VideoFileError? {
    do throws(VideoFileError) {
      _ = try VideoFile(parsing: bytes)
      return nil
    } catch { return error }
  }

  @Test func `is known by its first bytes`() throws {
    let (raw, coded) = (try VideoFile(parsing: y4m([1, 2])), try VideoFile(parsing: ivf(frames: 3)))
    #expect(raw.count == 2 && raw.size == Self.size)
    #expect(coded.count == 3 && coded.size == .vga)
    #expect(failure(Array("RIFF0000AVI ".utf8)) == VideoFileError(offset: 0, reason: .wrongSignature))
  }

  @Test(arguments: ["VP80", "VP90", "AV01", "H264"])
  func `may be coded as calls are`(codec: String) throws {
    #expect(try VideoFile(parsing: ivf(codec: codec, frames: 1)).count == 1)
  }

  @Test func `of another codec is refused at its place`() throws {
    #expect(
      try failure(ivf(codec: "MJPG", frames: 1)) == VideoFileError(offset: 8, reason: .unsupported("codec MJPG")))
  }

  @Test func `has a picture`() throws {
    let (raw, coded) = (try y4m([]), try ivf(frames: 0))
    #expect(failure(raw) == VideoFileError(offset: raw.count, reason: .missing("pictures")))
    #expect(failure(coded) == VideoFileError(offset: coded.count, reason: .missing("pictures")))
  }

  @Test func `has no more pictures than fit into the memory`() throws {
    #expect(try failure(ivf(frames: 145)) == nil)
    #expect(try failure(ivf(frames: 146)) == VideoFileError(offset: 0, reason: .tooLong(limit: 145)))
  }

  // MARK: Playing

  private func lumas(_ video: RecordedVideo, at milliseconds: [Int64]) -> [UInt8] {
    milliseconds.map { video.picture(at: .milliseconds($0)).samples[0] }
  }

  @Test func `shows each picture from its time on`() throws {
    let video = try #require(
      RecordedVideo([picture(1, at: 50), picture(2, at: 150), picture(3, at: 200)], end: .repeat))
    #expect(lumas(video, at: [0, 99, 100, 149, 150, 199]) == [1, 1, 2, 2, 3, 3])
  }

  @Test func `begins again after its last picture, or stays there`() throws {
    let pictures = [picture(1), picture(2, at: 100)]
    let again = try #require(RecordedVideo(pictures, end: .repeat))
    #expect(lumas(again, at: [100, 199, 200, 300, 10_000]) == [2, 2, 1, 2, 1])
    let once = try #require(RecordedVideo(pictures, end: .lastPicture))
    #expect(lumas(once, at: [100, 199, 200, 300, 10_000]) == [2, 2, 2, 2, 2])
  }

  @Test func `may have a single picture`() throws {
    for end in RecordedVideo.End.allCases {
      #expect(lumas(try #require(RecordedVideo([picture(7)], end: end)), at: [0, 999, 1_000, 5_000]) == [7, 7, 7, 7])
    }
  }

  @Test func `shows the last of several pictures of one time`() throws {
    let video = try #require(RecordedVideo([picture(1), picture(2), picture(3, at: 100)], end: .repeat))
    #expect(lumas(video, at: [0, 99, 100, 200]) == [2, 2, 3, 2])
  }

  @Test func `is none without pictures, and when their times are out of order`() {
    #expect(RecordedVideo([], end: .repeat) == nil)
    #expect(RecordedVideo([picture(1, at: 1), picture(2)], end: .repeat) == nil)
  }
}
