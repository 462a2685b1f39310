import CallCore
import PeerSession
import Statistics
import Testing
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioJudge

@Suite struct JudgeSamplingTests {
  private func report(
    seconds: Int64, concealed: Int64, events: Int64, bytesASecond: Int64 = 4_000, rate: Int64 = 48_000,
    mimeType: String = "audio/opus", packets: Int64? = nil, bytes: Int64? = nil,
    repeated: Int64? = nil
  ) -> StatsReport {
    let samples = seconds * rate
    return StatsReport(entries: [
      .init(id: "CI", type: "codec", members: [("mimeType", .text(mimeType))]),
      .init(id: "T", type: "transport", members: [("selectedCandidatePairId", .text("CP2"))]),
      .init(id: "CP1", type: "candidate-pair", members: [("bytesReceived", .integer(1))]),
      .init(
        id: "CP2", type: "candidate-pair",
        members: [("bytesReceived", .integer(2)), ("currentRoundTripTime", .real(0.1))]),
      .init(
        id: "IA", type: "inbound-rtp", kind: "audio",
        members: [
          ("codecId", .text("CI")), ("totalSamplesDuration", .real(Double(seconds))),
          ("totalSamplesReceived", .integer(samples)), ("concealedSamples", .integer(concealed)),
          ("concealmentEvents", .integer(events)), ("jitterBufferEmittedCount", .integer(samples)),
          ("jitterBufferDelay", .real(Double(samples) * 0.06)), ("jitter", .real(0.0125)),
          ("packetsReceived", .integer(packets ?? seconds * 50)),
          ("bytesReceived", .integer(bytes ?? seconds * bytesASecond)),
        ] + (repeated.map { [("fecBytesReceived", .integer($0))] } ?? [])),
    ])
  }

  private func estimator(isMeasured: Bool = false) -> QualityEstimator {
    QualityEstimator(packetDuration: .milliseconds(20), isMeasured: isMeasured)
  }

  @Test func `beside a program, mouth to ear is packet, look-ahead, half the round trip and the jitter buffer`() {
    var quality = estimator()
    quality.add(report(seconds: 0, concealed: 0, events: 0), mouthToEar: nil, at: .zero)
    #expect(quality.mouthToEar == nil)
    quality.add(report(seconds: 2, concealed: 0, events: 0), mouthToEar: nil, at: .zero + .seconds(2))
    #expect(quality.mouthToEar == .microseconds(20_000 + 6_500 + 50_000 + 60_000))
  }

  @Test(arguments: [("audio/PCMU", 0), ("audio/G722", 1_375), ("audio/opus", 6_500)] as [(String, Int64)])
  func `beside a program, the look-ahead is that of the codec`(_ type: String, _ lookAhead: Int64) {
    var quality = estimator()
    for seconds in [0, 2] as [Int64] {
      quality.add(
        report(seconds: seconds, concealed: 0, events: 0, mimeType: type), mouthToEar: nil,
        at: .zero + .seconds(seconds))
    }
    #expect(quality.mouthToEar == .microseconds(20_000 + lookAhead + 50_000 + 60_000))
  }

  private func score(
    _ type: String, rate: Int64 = 48_000, concealed: Int64 = 0, events: Int64 = 0, bytesASecond: Int64 = 8_000,
    repeated: Int = 0
  ) -> Double {
    var quality = estimator()
    quality.repeatedPackets = repeated
    quality.add(report(seconds: 0, concealed: 0, events: 0, mimeType: type), mouthToEar: nil, at: .zero)
    quality.add(
      report(
        seconds: 4, concealed: concealed, events: events, bytesASecond: bytesASecond, rate: rate, mimeType: type),
      mouthToEar: nil, at: .zero + .seconds(4))
    return quality.meanOpinionScore ?? 0
  }

  @Test(arguments: [(9_600, 10, 1.0), (19_200, 20, 1), (19_200, 10, 1.8), (57_600, 12, 2)] as [(Int64, Int64, Double)])
  func `the score is that of the formula for the loss and the bursts that were measured`(
    concealed: Int64, events: Int64, burstRatio: Double
  ) {
    var quality = estimator(isMeasured: true)
    for (seconds, samples, events) in [(0, 0, 0), (4, concealed, events)] as [(Int64, Int64, Int64)] {
      quality.add(
        report(seconds: seconds, concealed: samples, events: events, mimeType: "audio/PCMU"),
        mouthToEar: .milliseconds(250), at: .zero + .seconds(seconds))
    }
    let connection = EModel.Connection(
      delay: 250, loss: Double(concealed) / (4 * 48_000) * 100, burstRatio: burstRatio)
    let model = EModel(bandwidth: .fullband, codec: .g711Fullband)
    #expect(quality.meanOpinionScore.map { abs($0 - model.meanOpinionScore(connection)) < 1e-9 } == true)
  }

  @Test func `codecs are scored on one scale, by their bandwidth`() {
    #expect(score("audio/opus") > score("audio/G722"))
    #expect(score("audio/G722") > score("audio/PCMU"))
    #expect(score("audio/PCMU") == score("audio/PCMA"))
  }

  @Test func `a burst is as long, whatever rate its samples are counted at`() {
    let ours = score("audio/PCMU", concealed: 9_600, events: 5)
    #expect(score("audio/PCMU", rate: 8_000, concealed: 1_600, events: 5) == ours)
    #expect(score("audio/PCMU", rate: 8_000, concealed: 1_600, events: 10) > ours)
  }

  @Test func `of a virtual peer the share of the speech that was lost counts, whatever is concealed in its pauses`() {
    var quality = estimator(isMeasured: true)
    let loss = SpeechLoss(over: "bob")
    quality.add(
      report(seconds: 0, concealed: 0, events: 0, mimeType: "audio/PCMU"), mouthToEar: .milliseconds(250),
      speech: loss.counts, at: .zero)
    for frame in 0..<400 { loss.note(isSpeech: frame < 100, isHeard: !(40..<46).contains(frame) && frame < 200) }
    quality.add(
      report(seconds: 4, concealed: 96_000, events: 2, mimeType: "audio/PCMU"), mouthToEar: .milliseconds(250),
      speech: loss.counts, at: .zero + .seconds(4))
    #expect(quality.concealment == 0.06)
    let connection = EModel.Connection(delay: 250, loss: 6, burstRatio: 2)
    let score = EModel(bandwidth: .fullband, codec: .g711Fullband).meanOpinionScore(connection)
    #expect(quality.meanOpinionScore.map { abs($0 - score) < 1e-9 } == true)
  }

  @Test func `each sample of the lost share is of as much speech, however it is spread`() {
    let loss = SpeechLoss(over: "bob")
    for frame in 0..<100 { loss.note(isSpeech: frame % 2 == 0, isHeard: frame < 90) }
    #expect(loss.takeShares() == [0, 0.2])
    #expect(loss.takeShares() == [])
    for _ in 0..<24 { loss.note(isSpeech: true, isHeard: false) }
    #expect(loss.takeShares() == [])
    loss.note(isSpeech: true, isHeard: true)
    #expect(loss.takeShares() == [0.96])
  }

  @Test func `what redundancy adds to the packets is no speech, however many of the settings' blocks it holds`() {
    func score(_ settings: Int, bytes: Int64, repeated: Int64) -> Double? {
      var quality = estimator()
      quality.repeatedPackets = settings
      quality.add(report(seconds: 0, concealed: 0, events: 0, repeated: 0), mouthToEar: nil, at: .zero)
      quality.add(
        report(seconds: 4, concealed: 0, events: 0, packets: 200, bytes: bytes, repeated: repeated), mouthToEar: nil,
        at: .zero + .seconds(4))
      return quality.meanOpinionScore
    }
    #expect(score(4, bytes: 200 * (2 * 25 + 5), repeated: 200 * (25 + 5)) == score(0, bytes: 200 * 25, repeated: 0))
  }

  @Test func `the headers of redundancy are no speech`() {
    func score(_ repeated: Int, bytes: Int64) -> Double? {
      var quality = estimator()
      quality.repeatedPackets = repeated
      quality.add(report(seconds: 0, concealed: 0, events: 0), mouthToEar: nil, at: .zero)
      quality.add(
        report(seconds: 4, concealed: 0, events: 0, packets: 200, bytes: bytes), mouthToEar: nil,
        at: .zero + .seconds(4))
      return quality.meanOpinionScore
    }
    #expect(score(2, bytes: 200 * (3 * 25 + 9)) == score(0, bytes: 200 * 25))
  }

  @Test func `while nobody speaks to a virtual peer nothing is concealed, and there is nothing to judge`() {
    var quality = estimator(isMeasured: true)
    let loss = SpeechLoss(over: "bob")
    for seconds in [0, 2, 4] as [Int64] {
      quality.add(
        report(seconds: seconds, concealed: seconds * 24_000, events: seconds), mouthToEar: .milliseconds(100),
        speech: loss.counts, at: .zero + .seconds(seconds))
      loss.note(isSpeech: false, isHeard: false)
    }
    #expect(quality.concealment == nil && quality.meanOpinionScore == nil)
  }

  @Test func `repeated packets do not count as bit rate of the speech`() {
    let once = score("audio/opus", bytesASecond: 1_500)
    #expect(score("audio/opus", bytesASecond: 3_250, repeated: 1) == once)
    #expect(score("audio/opus", bytesASecond: 3_000) > once)
  }

  @Test func `a pause of DTX, in which hardly a packet comes, leaves the bit rate of the speech before it`() {
    var quality = estimator(isMeasured: true)
    var scores: [Double?] = []
    let reports: [(Int64, Int64, Int64)] = [
      (0, 0, 0), (2, 100, 8_000), (4, 200, 16_000), (6, 205, 16_030), (10, 215, 16_090),
    ]
    for (seconds, packets, bytes) in reports {
      quality.add(
        report(seconds: seconds, concealed: 0, events: 0, packets: packets, bytes: bytes),
        mouthToEar: .milliseconds(100), at: .zero + .seconds(seconds))
      scores.append(quality.meanOpinionScore)
    }
    #expect(scores[2] != nil && scores[3] == scores[2] && scores[4] == scores[2])
  }

  @Test func `between virtual peers, mouth to ear is what was measured, and unknown while nothing that was said plays`()
  {
    var quality = estimator(isMeasured: true)
    quality.add(report(seconds: 0, concealed: 0, events: 0), mouthToEar: .milliseconds(90), at: .zero)
    #expect(quality.mouthToEar == .milliseconds(90))
    quality.add(report(seconds: 2, concealed: 0, events: 0), mouthToEar: nil, at: .zero + .seconds(2))
    #expect(quality.mouthToEar == nil)
    #expect(quality.meanOpinionScore != nil)
  }

  @Test func `a program that counts from one end of the numbers to the other is scored, too`() {
    func extreme(_ value: Int64) -> StatsReport {
      let names = [
        "concealedSamples", "concealmentEvents", "jitterBufferEmittedCount", "packetsReceived", "bytesReceived",
        "totalSamplesReceived",
      ]
      let members = names.map { ($0, StatsReport.Value.integer(value)) } + [("jitterBufferDelay", .real(Double(value)))]
      let pair = [("currentRoundTripTime", StatsReport.Value.real(.greatestFiniteMagnitude))]
      return StatsReport(entries: [
        .init(id: "T", type: "transport", members: [("selectedCandidatePairId", .text("CP"))]),
        .init(id: "CP", type: "candidate-pair", members: pair),
        .init(id: "IA", type: "inbound-rtp", kind: "audio", members: members),
      ])
    }
    var quality = estimator()
    quality.add(extreme(.min), mouthToEar: nil, at: .zero)
    quality.add(extreme(.max), mouthToEar: nil, at: .zero + .seconds(2))
    #expect(quality.concealment == 1)
    #expect(quality.mouthToEar.map { $0 > .seconds(1_000_000_000) } == true)
    // A byte in a packet is less than wideband Opus needs.
    #expect(quality.meanOpinionScore == nil)
  }

  @Test func `concealment is a share of what was played since the report before`() {
    var quality = estimator()
    quality.add(report(seconds: 0, concealed: 0, events: 0), mouthToEar: nil, at: .zero)
    quality.add(report(seconds: 2, concealed: 9_600, events: 5), mouthToEar: nil, at: .zero + .seconds(2))
    #expect(quality.concealment == 0.1)
    quality.add(report(seconds: 3, concealed: 9_600, events: 5), mouthToEar: nil, at: .zero + .seconds(3))
    #expect(quality.concealment == 0)
  }

  @Test func `a burst that began before its window is one`() {
    func score(events: Int64) -> Double? {
      var quality = estimator()
      quality.add(report(seconds: 0, concealed: 0, events: 5), mouthToEar: nil, at: .zero)
      quality.add(report(seconds: 4, concealed: 9_600, events: 5 + events), mouthToEar: nil, at: .zero + .seconds(4))
      return quality.meanOpinionScore
    }
    #expect(score(events: 0) != nil && score(events: 0) == score(events: 1))
  }

  @Test func `the score falls with bursts and with the bit rate`() {
    func score(events: Int64, bytesASecond: Int64 = 4_000) -> Double {
      var quality = estimator()
      quality.add(report(seconds: 0, concealed: 0, events: 0), mouthToEar: nil, at: .zero)
      quality.add(
        report(seconds: 4, concealed: 9_600, events: events, bytesASecond: bytesASecond), mouthToEar: nil,
        at: .zero + .seconds(4))
      return quality.meanOpinionScore ?? 0
    }
    #expect(score(events: 10) > score(events: 5))
    #expect(score(events: 10) > score(events: 10, bytesASecond: 1_500))
    #expect((1...4.5).contains(score(events: 5)))
  }

  @Test func `only statistics that a scenario reads are written, the selected pair's and with their types`() {
    let bytes = ValuePath.of("alice", "stats.candidate-pair.bytesReceived", unit: "bytes")
    let jitter = ValuePath.of("alice", "stats.inbound-rtp.audio.jitter", .duration)
    let bench = JudgeBench([
      .metric(bytes, .last, .exactly(.count(2))), .metric(jitter, .last, .exactly(.duration(.microseconds(12_500)))),
    ])
    let sampler = StatsSampler(
      bench.judge.scenario, watch: bench.watch, anchors: bench.anchors, statistics: bench.statistics,
      random: RandomSource(seed: 1))
    #expect(sampler.reads("alice") && !sampler.reads("bob"))
    bench.at(250)
    sampler.sample(report(seconds: 1, concealed: 0, events: 0), mouthToEar: nil, of: "alice", at: bench.trace.now)
    sampler.sample(report(seconds: 1, concealed: 0, events: 0), mouthToEar: nil, of: "bob", at: bench.trace.now)
    let names = bench.trace.declarations.map(\.name).filter { $0.hasPrefix("stats.") }
    #expect(names == [bytes.name, jitter.name])
    #expect(bench.finishAll(at: 1_000).map(\.verdict) == [.pass, .pass])
  }

  @Test func `what a server forwards has no redundancy, also while nothing of it is played`() {
    var scores: [Double] = []
    let bench = JudgeBench([.metric(.of("bob", "q.mos", .real), .last, .atLeast(.real(1)))]) { scenario in
      for index in scenario.peers.indices { scenario.peers[index].audio.codecs = [.redundancy, .opus] }
    }
    let sampler = StatsSampler(
      bench.judge.scenario, watch: bench.watch, anchors: bench.anchors, statistics: bench.statistics,
      random: RandomSource(seed: 1))
    bench.trace.listen(to: HarnessEvents.meanOpinionScore) { _, score in scores.append(score) }
    for (seconds, isForwarded) in [(0, false), (2, true), (4, false)] as [(Int64, Bool)] {
      bench.at(seconds * 1_000 + 250)
      for _ in 0..<200 { sampler.losses.first?.note(isSpeech: true, isHeard: true) }
      sampler.sample(
        report(seconds: seconds, concealed: 0, events: 0, bytesASecond: 1_500), mouthToEar: .milliseconds(100),
        isForwarded: isForwarded, of: "bob", at: bench.trace.now)
    }
    #expect(scores.count == 2 && scores.first == scores.last)
  }

  @Test func `what a program says that no such value can be is left unknown`() {
    let state = ValuePath.of("alice", "stats.transport.iceState", .choice(["new", "connected"]))
    let bytes = ValuePath.of("alice", "stats.transport.bytesSent", unit: "bytes")
    let said = ValuePath.of("alice", "stats.transport.packetsSent")
    let bench = JudgeBench([state, bytes, said].map { .metric($0, .last, .atLeast(.count(0))) }) {
      $0.peers[0].stack = .external
    }
    let sampler = StatsSampler(
      bench.judge.scenario, watch: bench.watch, anchors: bench.anchors, statistics: bench.statistics,
      random: RandomSource(seed: 1))
    let members: [(name: String, value: StatsReport.Value)] = [
      ("iceState", .text("asleep")), ("bytesSent", .text("many")), ("packetsSent", .real(7)),
    ]
    bench.at(250)
    sampler.sample(
      StatsReport(entries: [.init(id: "T", type: "transport", members: members)]), mouthToEar: nil, of: "alice",
      at: bench.trace.now)
    #expect(bench.trace.declarations.map(\.name).filter { $0.hasPrefix("stats.") } == [said.name])
  }

  @Test func `recovery runs from the last fault to sound after an interruption, which may have begun before it`() {
    let recovery = ValuePath.of("bob", "q.recovery", .duration)
    let bench = JudgeBench([
      .metric(recovery, .first, .exactly(.duration(.milliseconds(1_590)))),
      .metric(recovery, .last, .exactly(.duration(.milliseconds(500)))),
      .metric(recovery, .count, .exactly(.count(2))),
    ]) { scenario in
      scenario.timeline = ["drop", "delay"].map { id in
        var entry = TimelineEntry()
        (entry.id, entry.effect) = (id, .fault(Fault(kind: .linkDown), duration: nil))
        return entry
      }
    }
    let meter = RecoveryMeter(of: recovery.owner, bench.judge.scenario, trace: bench.trace, anchors: bench.anchors)
    // No fault has begun.
    bench.at(800)
    meter.resumed(at: bench.trace.now, isOld: false)
    bench.fire("drop", at: 1_010)
    bench.at(2_600)
    meter.resumed(at: bench.trace.now, isOld: false)
    bench.fire("drop", at: 3_000)
    bench.fire("delay", at: 4_500)
    bench.at(5_000)
    meter.resumed(at: bench.trace.now, isOld: false)
    #expect(bench.finishAll(at: 6_000).map(\.verdict) == [.pass, .pass, .pass])
  }

  @Test func `the first sound of the next call ends no interruption of the last`() {
    let recovery = ValuePath.of("bob", "q.recovery", .duration)
    let bench = JudgeBench([.metric(recovery, .first, .exactly(.duration(.seconds(4))))]) { scenario in
      var entry = TimelineEntry()
      (entry.id, entry.effect) = ("drop", .fault(Fault(kind: .linkDown), duration: nil))
      scenario.timeline = [entry]
    }
    let meter = RecoveryMeter(of: recovery.owner, bench.judge.scenario, trace: bench.trace, anchors: bench.anchors)
    var endCount = 0
    meter.onEnd = { endCount += 1 }
    bench.fire("drop", at: 1_000)
    for _ in 0..<10 { meter.note(over: "bob.to.alice", isSpeech: true, isHeard: false) }
    meter.endCall()
    #expect(endCount == 1)
    meter.note(over: "bob.to.alice", isSpeech: true, isHeard: true)
    bench.at(3_000)
    meter.resumed(at: bench.trace.now, isOld: false)
    for isHeard in Array(repeating: false, count: 10) + [true] {
      meter.note(over: "bob.to.alice", isSpeech: true, isHeard: isHeard)
    }
    bench.at(5_000)
    meter.resumed(at: bench.trace.now, isOld: false)
    #expect(bench.finishAll(at: 6_000).map(\.verdict) == [.pass])
  }

  @Test func `old sound ends no interruption, and what follows it does`() {
    let recovery = ValuePath.of("bob", "q.recovery", .duration)
    let bench = JudgeBench([
      .metric(recovery, .first, .exactly(.duration(.seconds(3)))), .metric(recovery, .count, .exactly(.count(1))),
    ]) { scenario in
      var entry = TimelineEntry()
      (entry.id, entry.effect) = ("drop", .fault(Fault(kind: .linkDown), duration: nil))
      scenario.timeline = [entry]
    }
    let meter = RecoveryMeter(of: recovery.owner, bench.judge.scenario, trace: bench.trace, anchors: bench.anchors)
    bench.fire("drop", at: 1_000)
    for isHeard in Array(repeating: false, count: 10) + [true] {
      meter.note(over: "bob.to.alice", isSpeech: true, isHeard: isHeard)
    }
    bench.at(3_900)
    meter.resumed(at: bench.trace.now, isOld: true)
    meter.note(over: "bob.to.alice", isSpeech: true, isHeard: true)
    bench.at(4_000)
    meter.resumed(at: bench.trace.now, isOld: false)
    bench.at(5_000)
    meter.resumed(at: bench.trace.now, isOld: false)
    #expect(bench.finishAll(at: 6_000).map(\.verdict) == [.pass, .pass])
  }

  @Test func `a pause in which hardly a packet is sent interrupts nothing, and lost speech does`() {
    let recovery = ValuePath.of("bob", "q.recovery", .duration)
    let bench = JudgeBench([.metric(recovery, .count, .exactly(.count(1)))]) { scenario in
      var entry = TimelineEntry()
      (entry.id, entry.effect) = ("drop", .fault(Fault(kind: .linkDown), duration: nil))
      scenario.timeline = [entry]
    }
    let meter = RecoveryMeter(of: recovery.owner, bench.judge.scenario, trace: bench.trace, anchors: bench.anchors)
    bench.fire("drop", at: 1_000)
    for lost in [0, 9, 10] {
      for _ in 0..<lost { meter.note(over: "bob.to.alice", isSpeech: true, isHeard: false) }
      for _ in 0..<30 { meter.note(over: "bob.to.alice", isSpeech: false, isHeard: false) }
      meter.note(over: "bob.to.carol", isSpeech: true, isHeard: true)
      meter.note(over: "bob.to.alice", isSpeech: true, isHeard: true)
      bench.at(2_000 + Int64(lost) * 100)
      meter.resumed(at: bench.trace.now, isOld: false)
    }
    #expect(bench.finishAll(at: 6_000).map(\.verdict) == [.pass])
  }

  private static func picture(_ source: UInt32, captured: Instant, delay: Interval, isNew: Bool) -> ShownPicture {
    ShownPicture(
      source: source, captured: captured,
      sampled: .init(
        captured: captured, delay: delay, isNew: isNew, peakSignalToNoise: { nil }, structuralSimilarity: { nil }))
  }

  @Test func `of several cameras each has a sample, also one whose picture stands still or never came`() {
    let age = ValuePath.of("bob", "q.picture_age", .duration)
    let delay = ValuePath.of("bob", "q.frame_delay", .duration)
    let bench = JudgeBench([
      .metric(age, .count, .exactly(.count(6))), .metric(age, .maximum, .atLeast(.duration(.milliseconds(400)))),
      .metric(delay, .count, .exactly(.count(4))), .metric(delay, .mean, .exactly(.duration(.milliseconds(55)))),
    ])
    let sampler = StatsSampler(
      bench.judge.scenario, watch: bench.watch, anchors: bench.anchors, statistics: bench.statistics,
      random: RandomSource(seed: 1))
    let report = StatsReport(
      entries: [1, 2, 3].map {
        .init(id: "IV\($0)", type: "inbound-rtp", kind: "video", members: [("ssrc", .integer($0))])
      })
    for time in [500, 750] as [Int64] {
      bench.at(time)
      let now = bench.trace.now
      // The first moves, the second came once, of the third nothing is shown, and the fourth has ended.
      let pictures = [
        Self.picture(1, captured: now, delay: .milliseconds(50), isNew: true),
        Self.picture(2, captured: .zero + .milliseconds(100), delay: .milliseconds(60), isNew: time == 500),
        Self.picture(4, captured: .zero, delay: .milliseconds(900), isNew: false),
      ]
      sampler.sample(report, mouthToEar: nil, pictures: pictures, of: "bob", at: now)
    }
    #expect(bench.finishAll(at: 1_000).map(\.verdict) == [.pass, .pass, .pass, .pass])
  }

  @Test(arguments: [.integer(-1), .integer(1 << 40), .real(1e30), .real(0.5)] as [StatsReport.Value])
  func `an SSRC of a program that is none leaves the run alone`(ssrc: StatsReport.Value) {
    let age = ValuePath.of("bob", "q.picture_age", .duration)
    let bench = JudgeBench([.metric(age, .count, .exactly(.count(1)))])
    let sampler = StatsSampler(
      bench.judge.scenario, watch: bench.watch, anchors: bench.anchors, statistics: bench.statistics,
      random: RandomSource(seed: 1))
    bench.at(500)
    let report = StatsReport(
      entries: [.init(id: "IV", type: "inbound-rtp", kind: "video", members: [("ssrc", ssrc)])])
    sampler.sample(report, mouthToEar: nil, of: "bob", at: bench.trace.now)
    #expect(bench.finishAll(at: 1_000).map(\.verdict) == [.pass])
  }
}
