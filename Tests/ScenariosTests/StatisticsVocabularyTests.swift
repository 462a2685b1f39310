import CallCore
import PeerSession
import Pictures
import StackWorlds
import Statistics
import Testing
import Vocabulary

@testable import ScenarioJudge

@Suite struct StatisticsVocabularyTests {
  @Test func `every statistic that a scenario may name comes in a call`() throws {
    var video = VideoSettings()
    (video.width, video.height) = (160, 120)
    video.forwardErrorCorrection = .flexfec
    let pair = SessionPair {
      $0.media = .real
      $0.video = video
    }
    for side in [pair.a, pair.b] {
      try side.session.addTrack(.camera)
      side.camera = GeneratedVideo(.movingBars, size: .qqvga)
    }
    // Small frames are corrected at a long round trip only, and only once something was lost.
    pair.delay = .milliseconds(120)
    try pair.negotiate()
    var random = RandomStream(seed: 1)
    pair.drops = { $0.isMedia && random.chance(0.05) }
    pair.run(for: .seconds(12))
    let report = pair.a.session.statistics(at: pair.now)
    let statistics = CommonVocabulary.values.filter { $0.name.hasPrefix("stats.") }
    #expect(statistics.count > 60)
    for statistic in statistics {
      let parts = statistic.name.split(separator: ".").map(String.init)
      let values = report.entries.filter { $0.type == parts[1] }.compactMap { $0[parts[parts.count - 1]] }
      #expect(!values.isEmpty, "\(statistic.name)")
      for value in values { #expect(statistic.type.admits(value), "\(statistic.name): \(value)") }
    }
  }

  @Test func `a value is of the declared type, and a word of a choice one that it lists`() {
    let state = ValueType.choice(["new", "closed"])
    let fitting: [(ValueType, StatsReport.Value)] = [
      (.count, .integer(3)), (.count, .real(3)), (.rate, .real(64_000.5)), (.byteSize, .integer(1)),
      (.duration, .real(0.5)), (.duration, .integer(1)), (.real, .real(0.1)), (.percentage, .integer(0)),
      (.flag, .flag(false)), (.text, .text("any")), (state, .text("closed")),
    ]
    for (type, value) in fitting { #expect(type.admits(value), "\(type): \(value)") }
    let others: [(ValueType, StatsReport.Value)] = [
      (.count, .text("3")), (.count, .flag(true)), (.count, .real(.nan)), (.count, .real(1e30)),
      (.duration, .text("1s")), (.duration, .real(.infinity)), (.real, .flag(true)), (.flag, .integer(1)),
      (.flag, .text("true")), (.text, .integer(1)), (state, .text("open")), (state, .integer(0)),
    ]
    for (type, value) in others { #expect(!type.admits(value), "\(type): \(value)") }
  }

  @Test func `of what every peer has, these count from zero`() {
    func isCounter(_ name: String) -> Bool? { CommonVocabulary.value("stats.\(name)").map { $0.counting != nil } }
    for name in [
      "inbound-rtp.audio.packetsReceived", "inbound-rtp.audio.bytesReceived", "inbound-rtp.audio.totalAudioEnergy",
      "inbound-rtp.audio.jitterBufferDelay", "inbound-rtp.audio.totalProcessingDelay",
      "outbound-rtp.audio.retransmittedBytesSent", "transport.selectedCandidatePairChanges",
      "media-source.audio.totalSamplesDuration", "candidate-pair.totalRoundTripTime",
    ] { #expect(isCounter(name) == true, "\(name)") }
    for name in [
      "inbound-rtp.audio.jitter", "inbound-rtp.audio.ssrc", "inbound-rtp.audio.audioLevel",
      "inbound-rtp.audio.lastPacketReceivedTimestamp", "outbound-rtp.audio.targetBitrate", "outbound-rtp.audio.active",
      "remote-inbound-rtp.audio.fractionLost", "candidate-pair.currentRoundTripTime", "transport.iceState",
    ] { #expect(isCounter(name) == false, "\(name)") }
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
