import CallCore
import CallSession
import Testing
import VirtualPeer

@testable import Scenarios

@Suite struct JudgeSamplingTests {
  private func report(seconds: Int64, concealed: Int64, events: Int64) -> StatsReport {
    let samples = seconds * 48_000
    return StatsReport(entries: [
      .init(id: "T", type: "transport", members: [("selectedCandidatePairId", .text("CP2"))]),
      .init(id: "CP1", type: "candidate-pair", members: [("bytesReceived", .integer(1))]),
      .init(
        id: "CP2", type: "candidate-pair",
        members: [("bytesReceived", .integer(2)), ("currentRoundTripTime", .real(0.1))]),
      .init(
        id: "IA", type: "inbound-rtp", kind: "audio",
        members: [
          ("totalSamplesReceived", .integer(samples)), ("concealedSamples", .integer(concealed)),
          ("concealmentEvents", .integer(events)), ("jitterBufferEmittedCount", .integer(samples)),
          ("jitterBufferDelay", .real(Double(samples) * 0.06)), ("jitter", .real(0.0125)),
        ]),
    ])
  }

  @Test func `mouth to ear is packet, look-ahead, half the round trip and the jitter buffer`() {
    var quality = QualityEstimator(packetDuration: .milliseconds(20))
    quality.add(report(seconds: 0, concealed: 0, events: 0), at: .zero)
    #expect(quality.mouthToEar == nil)
    quality.add(report(seconds: 2, concealed: 0, events: 0), at: .zero + .seconds(2))
    #expect(quality.mouthToEar == .microseconds(20_000 + 6_500 + 50_000 + 60_000))
  }

  @Test func `concealment is a share of the last seconds, and costs more in bursts`() {
    func score(events: Int64) -> Double? {
      var quality = QualityEstimator(packetDuration: .milliseconds(20))
      quality.add(report(seconds: 0, concealed: 0, events: 0), at: .zero)
      quality.add(report(seconds: 4, concealed: 9_600, events: events), at: .zero + .seconds(4))
      #expect(quality.concealment == 0.05)
      return quality.meanOpinionScore
    }
    guard let single = score(events: 10), let bursts = score(events: 5) else {
      Issue.record("no score")
      return
    }
    #expect(single > bursts)
    #expect((1...4.5).contains(bursts))
  }

  @Test func `only statistics that a scenario reads are written, the selected pair's and with their types`() {
    let bytes = ValuePath.of("alice", "stats.candidate-pair.bytesReceived", unit: "bytes")
    let jitter = ValuePath.of("alice", "stats.inbound-rtp.audio.jitter", .duration)
    let bench = JudgeBench([
      .metric(bytes, .last, .exactly(.count(2))), .metric(jitter, .last, .exactly(.duration(.microseconds(12_500)))),
    ])
    let sampler = StatsSampler(bench.judge.scenario, watch: bench.watch, anchors: bench.anchors)
    #expect(sampler.peers == ["alice"])
    bench.at(250)
    sampler.sample(report(seconds: 1, concealed: 0, events: 0), of: "alice", at: bench.trace.now)
    sampler.sample(report(seconds: 1, concealed: 0, events: 0), of: "bob", at: bench.trace.now)
    let names = bench.trace.declarations.map(\.name).filter { $0.hasPrefix("stats.") }
    #expect(names == [bytes.name, jitter.name])
    #expect(bench.finishAll(at: 1_000).map(\.verdict) == [.pass, .pass])
  }

  @Test func `recovery runs from the fault to the first media after the interruption`() {
    let recovery = ValuePath.of("bob", "q.recovery", .duration)
    let bench = JudgeBench(.metric(recovery, .last, .less(.duration(.seconds(2))))) { scenario in
      var entry = TimelineEntry()
      (entry.id, entry.effect) = ("drop", .fault(Fault(kind: .linkDown), duration: nil))
      scenario.timeline = [entry]
    }
    let sampler = StatsSampler(bench.judge.scenario, watch: bench.watch, anchors: bench.anchors)
    for time in [Int64(800), 900, 1_000] { bench.mediaReceived("bob", at: time) }
    bench.fire("drop", at: 1_010)
    for time in [Int64(1_020), 2_600, 2_620] { bench.mediaReceived("bob", at: time) }
    let result = bench.finish(at: 3_000)
    #expect(result.actual == "last is 1.59s, of 1 sample")
    #expect(sampler.peers == ["bob"])
  }
}
