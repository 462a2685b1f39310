import CallCore
import Pictures
import Testing

@testable import PeerSession

@Suite struct VideoAdaptationTests {
  @Test func `motion gives up size below a share of the least rate of the size, and keeps its frame rate`() {
    var adaptation = VideoAdaptation(size: .vga, frameRate: 30, content: .motion)
    adaptation.adapt(to: .kilobitsPerSecond(211))
    #expect(adaptation.currentSize == .vga && !adaptation.isLimited)
    adaptation.adapt(to: .kilobitsPerSecond(209))
    #expect(adaptation.currentSize == PictureSize(480, 360))
    #expect(adaptation.currentFrameRate == 30 && adaptation.isLimited && adaptation.changes == 1)
  }

  @Test func `size comes back only at the whole least rate`() {
    var adaptation = VideoAdaptation(size: .vga, frameRate: 30, content: .motion)
    adaptation.adapt(to: .kilobitsPerSecond(200))
    adaptation.adapt(to: .kilobitsPerSecond(299))
    #expect(adaptation.currentSize == PictureSize(480, 360))
    adaptation.adapt(to: .kilobitsPerSecond(300))
    #expect(adaptation.currentSize == .vga && adaptation.changes == 2)
  }

  @Test func `detail keeps its size and gives up frames, down to five a second`() {
    var adaptation = VideoAdaptation(size: .hd720, frameRate: 15, content: .detail)
    adaptation.adapt(to: .megabitsPerSecond(1))
    #expect(adaptation.currentFrameRate == 15 && !adaptation.isLimited)
    // A frame of 1280 by 720 pixels is worth 18432 bits.
    adaptation.adapt(to: .bitsPerSecond(10 * 18_432))
    #expect(adaptation.currentFrameRate == 10)
    adaptation.adapt(to: .kilobitsPerSecond(30))
    #expect(adaptation.currentFrameRate == 5 && adaptation.currentSize == .hd720 && adaptation.changes == 0)
  }
}
