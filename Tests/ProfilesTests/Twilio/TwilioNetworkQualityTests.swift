import CallCore
import Statistics
import Testing

@testable import Profiles

@Suite struct TwilioNetworkQualityTests {
  private func level(_ loss: Double = 0, _ milliseconds: Int64? = nil, _ kilobits: Int64? = nil) -> Int {
    TwilioNetworkQuality.level(
      of: .init(
        loss: loss, roundTrip: milliseconds.map { .milliseconds($0) },
        bandwidth: kilobits.map { .kilobitsPerSecond($0) }))
  }

  /// Statistics of a server's connection, with all packets so far.
  private func report(received: Int64, lost: Int64, fractionLost: Double = 0) -> StatsReport {
    StatsReport(entries: [
      .init(
        id: "in", type: "inbound-rtp", kind: "audio",
        members: [("packetsReceived", .integer(received)), ("packetsLost", .integer(lost))]),
      .init(id: "out", type: "outbound-rtp", kind: "audio", members: [("mid", .text("1"))]),
      .init(
        id: "far", type: "remote-inbound-rtp", kind: "audio",
        members: [("localId", .text("out")), ("fractionLost", .real(fractionLost))]),
    ])
  }

  @Test func `the worst of loss, round trip and bandwidth gives the level`() {
    #expect([0, 0.02, 0.05, 0.1, 0.5].map { level($0) } == [5, 4, 3, 2, 1])
    #expect([100, 200, 400, 700, 900].map { level(0, $0) } == [5, 4, 3, 2, 1])
    #expect([900, 350, 250, 150, 50].map { level(0, nil, $0) } == [5, 4, 3, 2, 1])
    #expect(level(0.02, 400, 900) == 3)
  }

  @Test func `a level falls at once, and rises by one`() {
    var quality = TwilioNetworkQuality()
    var levels: [Int?] = []
    for (received, lost) in [(100, 0), (180, 20), (280, 20), (380, 20), (480, 20), (580, 20)] {
      let report = report(received: Int64(received), lost: Int64(lost))
      quality.note(report)
      quality.judge(report) { _ in true }
      levels.append(quality.level)
    }
    #expect(levels == [5, 1, 2, 3, 4, 5])
  }

  @Test func `what a receiver reports counts only of a stream that came whole to the server`() {
    for (isWhole, level) in [(true, 2), (false, 5)] {
      var quality = TwilioNetworkQuality()
      let report = report(received: 100, lost: 0, fractionLost: 0.1)
      quality.note(report)
      quality.judge(report) { $0 == "1" && isWhole }
      #expect(quality.level == level)
    }
  }

  @Test func `a participant whose packets are lost sends nothing whole, for ten seconds`() {
    var quality = TwilioNetworkQuality()
    quality.note(report(received: 100, lost: 0))
    #expect(quality.isWhole)
    quality.note(report(received: 180, lost: 20))
    for step in 1...4 {
      #expect(!quality.isWhole)
      quality.note(report(received: 180 + 100 * Int64(step), lost: 20))
    }
    #expect(!quality.isWhole)
    quality.note(report(received: 680, lost: 20))
    #expect(quality.isWhole)
  }

  @Test func `without a connection the level is 0, unless there never was one`() {
    var quality = TwilioNetworkQuality()
    quality.lose()
    #expect(quality.level == nil)
    quality.note(report(received: 100, lost: 0))
    quality.judge(report(received: 100, lost: 0)) { _ in true }
    quality.lose()
    #expect(quality.level == 0)
  }
}
