import CallCore
import CallSession
import StackWorlds
import Testing

@testable import VirtualPeer

@Suite struct StatisticsVocabularyTests {
  @Test func `every statistic that a scenario may name comes in a call`() throws {
    let pair = SessionPair { $0.media = .real }
    try pair.negotiate()
    pair.run(for: .seconds(12))
    let report = pair.a.session.statistics(at: pair.now)
    let names = CommonVocabulary.values.map(\.name).filter { $0.hasPrefix("stats.") }
    #expect(names.count > 60)
    for name in names {
      let parts = name.split(separator: ".").map(String.init)
      let found = report.entries.contains { $0.type == parts[1] && $0[parts[parts.count - 1]] != nil }
      #expect(found, "\(name)")
    }
  }

  @Test func `what a microphone gives is told, and silence of a disabled track`() throws {
    let pair = SessionPair { $0.media = .real }
    try pair.negotiate()
    pair.run(for: .seconds(2))
    func level() -> StatsReport.Value? { pair.a.session.statistics(at: pair.now).first("media-source")?["audioLevel"] }
    guard case .real(let loud)? = level() else {
      Issue.record("no level")
      return
    }
    // The tone's amplitude is 8000.
    #expect(abs(loud - 8_000.0 / 32_767) < 0.01)
    pair.a.session.setAudioEnabled(false)
    pair.run(for: .seconds(1))
    #expect(level() == .real(0))
    guard case .real(let heard)? = pair.b.session.statistics(at: pair.now).first("inbound-rtp")?["totalSamplesDuration"]
    else {
      Issue.record("no duration")
      return
    }
    #expect((2.5...3).contains(heard))
  }
}
