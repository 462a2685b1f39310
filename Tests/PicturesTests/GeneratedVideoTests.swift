import CallCore
import Pictures
import Testing

@Suite struct GeneratedVideoTests {
  @Test(arguments: GeneratedVideo.Kind.allCases)
  func `a frame depends on its number and seed alone`(kind: GeneratedVideo.Kind) {
    let (first, second) = (GeneratedVideo(kind, size: .qqvga, seed: 7), GeneratedVideo(kind, size: .qqvga, seed: 7))
    _ = first.frame(3)
    #expect(first.frame(40) == second.frame(40))
    #expect(first.frame(40) != second.frame(41))
  }

  @Test(arguments: GeneratedVideo.Kind.allCases)
  func `every frame carries its number`(kind: GeneratedVideo.Kind) {
    let video = GeneratedVideo(kind, size: .qvga)
    for number in [0, 1, 29, 30, 1_000_000] as [UInt32] {
      let frame = video.frame(number, at: .zero + .milliseconds(5))
      #expect(FrameNumberCode.read(frame) == number)
      #expect(frame.contentID == number)
      #expect(frame.timestamp == .zero + .milliseconds(5))
    }
  }

  @Test func `another seed gives another camera`() {
    let (first, second) = (
      GeneratedVideo(.talkingHead, size: .qqvga, seed: 1), GeneratedVideo(.talkingHead, size: .qqvga, seed: 2)
    )
    #expect(first.frame(0) != second.frame(0))
  }

  @Test func `every kind can be painted in every size`() throws {
    for (width, height) in [(1, 1), (2, 1), (1, 40), (7, 9), (129, 65), (640, 360)] {
      let size = try #require(PictureSize(width, height))
      for kind in GeneratedVideo.Kind.allCases {
        for number in [0, 17, .max] as [UInt32] {
          #expect(GeneratedVideo(kind, size: size).frame(number).size == size)
        }
      }
    }
  }

  /// The share of luma samples that change by more than noise, below the bar code.
  private func movement(_ kind: GeneratedVideo.Kind, _ first: UInt32, _ second: UInt32) -> Double {
    let video = GeneratedVideo(kind, size: .qvga)
    let (a, b) = (video.frame(first), video.frame(second))
    let start = 20 * 320
    let changed = (start..<PictureSize.qvga.pixelCount).count { abs(Int(a.samples[$0]) - Int(b.samples[$0])) > 8 }
    return Double(changed) / Double(PictureSize.qvga.pixelCount - start)
  }

  @Test func `kinds move as much as what they stand for`() {
    #expect(movement(.black, 0, 1) == 0)
    #expect((0.02...0.2).contains(movement(.movingBars, 0, 1)))
    #expect((0.001...0.1).contains(movement(.talkingHead, 0, 1)))
    #expect(movement(.screenText, 0, 29) == 0)
    #expect(movement(.screenText, 29, 30) > 0.02)
  }

  @Test func `the camera has noise where nothing moves`() {
    let video = GeneratedVideo(.talkingHead, size: .qvga)
    let (a, b) = (video.frame(0), video.frame(1))
    let corner = (0..<64).flatMap { row in (0..<32).map { (176 + row) * 320 + $0 } }
    let differences = corner.map { abs(Int(a.samples[$0]) - Int(b.samples[$0])) }
    #expect(differences.max() ?? 0 <= 6)
    #expect(differences.count { $0 > 0 } > corner.count / 2)
  }

  @Test(arguments: [GeneratedVideo.Kind.movingBars, .screenText], [5, 10, 15, 60])
  func `what moves does so as fast at any frame rate`(kind: GeneratedVideo.Kind, frameRate: Int) throws {
    let other = GeneratedVideo(kind, size: .qvga, frameRate: frameRate)
    let usual = GeneratedVideo(kind, size: .qvga)
    let code = try #require(FrameNumberCode.height(in: .qvga)) * PictureSize.qvga.width
    for second in [1, 2, 7] {
      let (one, two) = (other.frame(UInt32(second * frameRate)), usual.frame(UInt32(second * 30)))
      let luma = PictureSize.qvga.width * PictureSize.qvga.height
      #expect(one.samples[code..<luma] == two.samples[code..<luma])
    }
  }
}
