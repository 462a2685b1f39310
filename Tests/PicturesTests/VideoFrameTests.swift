import CallCore
import Pictures
import Testing

@Suite struct VideoFrameTests {
  @Test func `the chroma of an odd size is rounded up`() throws {
    let size = try #require(PictureSize(5, 3))
    #expect(size.byteCount == 15 + 2 * 6)
    let frame = VideoFrame(filled: size, luma: 1, u: 2, v: 3)
    #expect(frame.samples == [UInt8](repeating: 1, count: 15) + [2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3])
    #expect(VideoFrame.Plane.allCases.map { frame.layout(of: $0).range } == [0..<15, 15..<21, 21..<27])
  }

  @Test(arguments: [(0, 1), (1, 0), (-1, 5), (16_384, 1), (1, .max)])
  func `sizes that no format can express are refused`(width: Int, height: Int) {
    #expect(PictureSize(width, height) == nil)
  }

  @Test func `samples that do not match the size make no frame`() {
    let samples = [UInt8](repeating: 0, count: PictureSize.qqvga.byteCount)
    #expect(VideoFrame(size: .qqvga, samples: samples) != nil)
    #expect(VideoFrame(size: .qqvga, samples: samples + [0]) == nil)
    #expect(VideoFrame(size: .qvga, samples: samples) == nil)
  }

  @Test func `a rectangle is filled only where it lies inside`() throws {
    let size = try #require(PictureSize(4, 4))
    var frame = VideoFrame(filled: size, luma: 0)
    frame.fill(.y, x: -5..<2, y: 3..<9, with: 7)
    frame.fill(.y, x: 8..<12, y: 0..<4, with: 9)
    #expect(Array(frame.samples[..<16]) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 0, 0])
  }

  @Test func `a scaled sample is the mean of the samples it covers`() throws {
    let (large, small) = (try #require(PictureSize(4, 4)), try #require(PictureSize(2, 2)))
    let frame = VideoFrame(large) { x, y in 10 * x + 40 * y }
    #expect(Array(frame.scaled(to: small).samples[..<4]) == [25, 45, 105, 125])
    let wide = VideoFrame(small) { x, y in 10 * x + 40 * y }.scaled(to: large)
    #expect(Array(wide.samples[..<8]) == [0, 0, 10, 10, 0, 0, 10, 10])
  }

  @Test func `a picture can be scaled to every size`() throws {
    let frame = VideoFrame.texture(try #require(PictureSize(37, 23)))
    for (width, height) in [(1, 1), (36, 22), (38, 24), (100, 1), (1, 100)] {
      let size = try #require(PictureSize(width, height))
      #expect(frame.scaled(to: size).size == size)
    }
  }
}
