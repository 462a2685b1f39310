import Statistics
import Testing

@testable import ScenarioJudge

/// In which codecs a connection has sent its pictures.
@Suite struct SentVideoTests {
  private static func report(_ frames: Int64, _ codec: String) -> StatsReport {
    StatsReport(entries: [
      .init(
        id: "o", type: "outbound-rtp", kind: "video",
        members: [("framesSent", .integer(frames)), ("codecId", .text("c"))]),
      .init(id: "c", type: "codec", members: [("mimeType", .text("video/\(codec)"))]),
    ])
  }

  @Test func `pictures count for the codec that they were sent in, however many descriptions there were`() {
    var sent = SentVideo()
    for (frames, codec) in [(100, "VP8"), (190, "VP8"), (195, "H264"), (200, "H264"), (205, "H264")]
      as [(Int64, String)]
    {
      sent.take(Self.report(frames, codec), isClosing: false)
    }
    #expect(sent.frames == ["VP8": 190, "H264": 15])
  }

  @Test func `the next connection counts anew`() {
    var sent = SentVideo()
    sent.take(Self.report(100, "VP8"), isClosing: true)
    sent.take(Self.report(150, "VP8"), isClosing: true)
    #expect(sent.frames == ["VP8": 250])
  }

  @Test func `a codec in which nothing was sent yet is none`() {
    var sent = SentVideo()
    sent.take(Self.report(0, "VP8"), isClosing: false)
    #expect(sent.frames.isEmpty)
  }
}
