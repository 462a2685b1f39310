import ScenarioFormat
import Statistics
import Testing
import Vocabulary

@testable import ScenarioJudge

@Suite struct StatsReportValueTests {
  private func value(_ name: String, _ type: ValueType, _ values: [StatsReport.Value]) -> StatsReport.Value? {
    let parts = name.split(separator: ".").map(String.init)
    let entries = values.enumerated().map { index, value in
      StatsReport.Entry(id: "\(index)", type: parts[1], kind: parts[2], members: [(parts[3], value)])
    }
    let other = StatsReport.Entry(id: "other", type: parts[1], kind: "other", members: [(parts[3], values[0])])
    let path = ValuePath(
      subject: "alice", name: name, type: type, unit: nil, counting: CommonVocabulary.value(name)?.counting,
      span: .builtIn)
    return StatsReport(entries: entries + [other]).value(of: path)
  }

  @Test func `counters and rates of several streams are added up`() {
    #expect(value("stats.inbound-rtp.audio.packetsLost", .count, [.integer(3), .integer(4)]) == .integer(7))
    #expect(value("stats.outbound-rtp.video.bytesSent", .byteSize, [.integer(3), .real(4)]) == .real(7))
    #expect(value("stats.outbound-rtp.video.targetBitrate", .rate, [.real(3), .real(4)]) == .real(7))
  }

  @Test func `of other numbers it is the largest`() {
    #expect(value("stats.inbound-rtp.video.frameWidth", .count, [.integer(640), .integer(320)]) == .integer(640))
    #expect(value("stats.inbound-rtp.audio.jitter", .duration, [.real(0.1), .real(0.2)]) == .real(0.2))
  }

  @Test func `a flag is true where one is, and a text is that of the last`() {
    #expect(value("stats.outbound-rtp.video.active", .flag, [.flag(true), .flag(false)]) == .flag(true))
    let texts = [StatsReport.Value.text("none"), .text("bandwidth")]
    #expect(value("stats.outbound-rtp.video.qualityLimitationReason", .text, texts) == .text("bandwidth"))
  }

  @Test func `numbers beyond the largest integer are added as well`() {
    let numbers = [StatsReport.Value.integer(.max), .integer(.max)]
    #expect(value("stats.inbound-rtp.audio.packetsLost", .count, numbers) == .real(2 * Double(Int64.max)))
  }

  @Test func `one stream has its value, and none has none`() {
    #expect(value("stats.inbound-rtp.audio.packetsLost", .count, [.integer(3)]) == .integer(3))
    let path = ValuePath(
      subject: "alice", name: "stats.inbound-rtp.audio.packetsLost", type: .count, unit: nil, span: .builtIn)
    #expect(StatsReport(entries: []).value(of: path) == nil)
  }
}
