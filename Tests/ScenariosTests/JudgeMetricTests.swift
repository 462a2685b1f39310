import CallCore
import Testing
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

@Suite struct JudgeMetricTests {
  private let jitter = ValuePath.of("bob", "stats.inbound-rtp.audio.packetsLost")
  private let bytes = ValuePath.of("bob", "stats.candidate-pair.bytesReceived", .count, unit: "bytes")

  private func run(
    _ statistic: Wanted.Statistic, _ bound: Wanted.Bound, _ samples: [Int]
  ) -> ExpectationResult {
    let bench = JudgeBench(.metric(jitter, statistic, bound))
    for (index, sample) in samples.enumerated() { bench.set("bob", jitter.name, sample, at: Int64(index) * 250) }
    return bench.finish(at: 10_000)
  }

  @Test func `a duration of any length can be told`() {
    #expect(Wording.quantity(1.5, .duration) == "1.5s")
    for number in [1e15, -1e15, 1e300, .infinity, .nan] {
      #expect(!Wording.quantity(number, .duration).isEmpty)
    }
  }

  @Test(arguments: [
    (Wanted.Statistic.first, 4.0), (.last, 2), (.minimum, 1), (.maximum, 9), (.mean, 4), (.sum, 16), (.count, 4),
    (.delta, -2), (.percentile(50), 3), (.percentile(90), 7.5),
  ])
  func `each statistic is the textbook's`(_ statistic: Wanted.Statistic, _ value: Double) {
    let result = run(statistic, .atLeast(.count(-100)), [4, 9, 1, 2])
    #expect(result.verdict == .pass)
    #expect(abs((result.measured ?? .nan) - value) < 1e-9)
  }

  @Test func `a metric out of bounds tells its value and the range of its samples`() {
    let result = run(.mean, .less(.count(4)), [4, 9, 1, 2])
    #expect(result.verdict == .fail)
    #expect(result.expected == "mean of bob.\(jitter.name) is less than 4, throughout the run")
    #expect(result.actual == "mean is 4, of 4 samples")
    #expect(result.nearestMiss == "samples lie between 1 and 9")
  }

  @Test(arguments: [
    ([15], Wanted.Bound.less(.count(10)), 0.5), ([5], .atLeast(.count(20)), 0.75), ([3], .less(.count(0)), 3),
    ([5], .exactly(.count(4)), 0.25),
  ])
  func `a metric out of bounds is measured as a share of its bound`(
    _ samples: [Int], _ bound: Wanted.Bound, _ miss: Double
  ) {
    #expect(run(.mean, bound, samples).miss == miss)
    #expect(run(.mean, .atLeast(.count(0)), samples).miss == nil)
  }

  @Test func `the rate of bytes is in bits per second and counts from the sample before the window`() {
    let bench = JudgeBench(
      .metric(bytes, .rate, .atLeast(.rate(.bitsPerSecond(8_000))), from: .time(1_000), to: .time(3_000)))
    for index in 0...20 { bench.set("bob", bytes.name, index * 250, at: Int64(index) * 250) }
    let result = bench.finish(at: 6_000)
    #expect(result.verdict == .pass)
    #expect(result.actual == "rate is 8kbps, of 8 samples")
  }

  @Test func `a counter that begins anew goes on growing`() {
    let bench = JudgeBench(.metric(bytes, .rate, .atLeast(.rate(.bitsPerSecond(1)))))
    for (index, value) in [0, 1_000, 0, 1_000].enumerated() {
      bench.set("bob", bytes.name, value, at: Int64(index) * 1_000)
    }
    let measured = bench.finish(at: 6_000).measured
    #expect(measured.map { ($0 * 3).rounded() } == 16_000)
  }

  @Test func `a metric without samples is vacuous`() {
    let bench = JudgeBench(.metric(jitter, .mean, .less(.count(1)), from: .entry("drop")))
    bench.set("bob", jitter.name, 1, at: 500)
    bench.fire("drop", at: 1_000)
    let result = bench.finish(at: 3_000)
    #expect(result.verdict == .vacuous)
    #expect(result.actual == "no sample of bob.\(jitter.name), from drop to the end: there is one every 250ms")
    #expect(run(.rate, .less(.count(1)), [3]).actual.hasPrefix("only one sample"))
  }

  @Test func `a value that is not sampled holds until it changes`() {
    let port = ValuePath.of("bob", "selected.local.port")
    let bench = JudgeBench(.metric(port, .last, .exactly(.count(5_000)), from: .entry("drop")))
    bench.set("bob", port.name, 5_000, at: 500)
    bench.fire("drop", at: 1_000)
    #expect(bench.finish(at: 3_000).verdict == .pass)
  }

  // MARK: Borders of the window

  @Test func `a sample of pictures that tells of a time before the window is none of it`() {
    let quality = ValuePath.of("bob", "q.psnr", .real)
    for (first, count) in [(Int64(1_000), 1), (1_249, 1), (1_250, 2)] {
      let bench = JudgeBench(
        .metric(quality, .count, .exactly(.count(count)), from: .time(1_000), to: .time(2_000)))
      bench.set("bob", quality.name, 30, at: first)
      bench.set("bob", quality.name, 40, at: first + 250)
      let result = bench.finish(at: 3_000)
      #expect(result.verdict == .pass, "\(first)")
    }
  }

  private let received = ValuePath.of("bob", "stats.inbound-rtp.audio.packetsReceived")

  private func borders(
    _ statistic: Wanted.Statistic, from: Anchor?, to: Anchor?, _ body: (JudgeBench) -> Void
  ) -> ExpectationResult {
    let bench = JudgeBench(.metric(received, statistic, .atLeast(.count(0)), from: from, to: to))
    bench.report(packetsReceived: 0)
    body(bench)
    return bench.finish(at: 10_000)
  }

  /// The counter has come to this just before the time.
  private func count(_ bench: JudgeBench, _ number: Int64, at time: Int64, isSampled: Bool = false) {
    bench.report(packetsReceived: number)
    bench.judge.advance(to: .zero + .milliseconds(time) - .nanoseconds(1))
    if isSampled { bench.set("bob", received.name, Int(number), at: time) } else { bench.at(time) }
  }

  @Test(arguments: [(Wanted.Statistic.delta, 30.0), (.rate, 60), (.first, 60), (.last, 90)])
  func `a counter is read where the window opens and closes, not at the samples around it`(
    statistic: Wanted.Statistic, value: Double
  ) {
    let result = borders(statistic, from: .time(1_200), to: .time(1_700)) { bench in
      count(bench, 50, at: 1_000, isSampled: true)
      count(bench, 60, at: 1_200)
      count(bench, 90, at: 1_700)
      count(bench, 100, at: 2_000, isSampled: true)
    }
    #expect(result.measured == value)
    #expect(result.actual.hasSuffix("read at 1.20 s and 1.70 s"))
  }

  @Test func `an entry that opens or closes a window reads before it does anything`() {
    let result = borders(.delta, from: .entry("lossy"), to: .entry("bye")) { bench in
      count(bench, 60, at: 1_200)
      bench.fire("lossy", at: 1_200)
      count(bench, 90, at: 1_700)
      bench.fire("bye", at: 1_700)
      bench.report(packetsReceived: nil)
    }
    #expect(result.measured == 30)
  }

  @Test func `an event of a peer reads once it is over`() {
    let result = borders(.delta, from: .state("alice", "connected"), to: .state("alice", "ended")) { bench in
      var waiting: [() -> Void] = []
      bench.statistics.afterEvent = { waiting.append($0) }
      for (state, number, time) in [("connected", Int64(61), Int64(1_200)), ("ended", 95, 1_700)] {
        bench.report(packetsReceived: 0)
        bench.move("alice", to: state, at: time)
        #expect(waiting.count == 1)
        #expect(!bench.judge.isSettled)
        bench.report(packetsReceived: number)
        waiting.removeFirst()()
      }
      #expect(bench.judge.isSettled)
    }
    #expect(result.measured == 34)
  }

  @Test func `a window to the end is read at the end`() {
    let result = borders(.delta, from: .time(1_200), to: nil) { bench in
      count(bench, 60, at: 1_200)
      bench.report(packetsReceived: 77)
    }
    #expect(result.measured == 17)
  }

  @Test func `a counter that is not there yet when the window opens is at zero`() {
    let result = borders(.delta, from: nil, to: .time(2_000)) { bench in
      bench.report(packetsReceived: nil)
      count(bench, 12, at: 1_000, isSampled: true)
      count(bench, 40, at: 2_000)
    }
    #expect(result.measured == 40)
  }

  @Test func `in a run a counter's change is what crossed the wire between the borders`() throws {
    let windows = [
      "[6300ms, 6320ms]", "[6500ms, 6990ms]", "[6251ms, 7249ms]", "[7081ms, 9s]", "[mute, cut]", "[cut, end]",
      "[bob.connected, mute]", "[start, mute]",
    ]
    let metrics = windows.flatMap { window in
      ["bob.stats.inbound-rtp.audio.packetsReceived", "wire.media(from: alice, to: bob)"].map {
        "  - { metric: \"\($0)\", stat: delta, window: \(window), across: seeds, lt: 1000 }"
      }
    }
    let result = try play(
      "run: 10s",
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
          - { id: mute, at: 6137ms, do: bob.mute }
          - { id: cut, at: 7080ms, fault: link.blackhole, link: bob/wifi }
        """, expect: metrics.joined(separator: "\n"))
    let measured = result.measurements.map(\.measured)
    try #require(measured.count == 2 * windows.count, "\(result.findings)")
    for (index, window) in windows.enumerated() {
      let (counted, crossed) = (measured[2 * index], measured[2 * index + 1])
      #expect(counted != nil && counted == crossed, "\(window): \(counted ?? -1), \(crossed ?? -1)")
    }
    #expect((measured[4] ?? 0) > 30)
  }

  @Test func `a rate of what holds goes from border to border, whenever it was written last`() {
    let open = ValuePath.of("alice", "connections.open")
    let bench = JudgeBench(.metric(open, .rate, .less(.count(100)), from: .time(1_000), to: .time(11_000)))
    bench.set("alice", open.name, 5, at: 100)
    bench.set("alice", open.name, 105, at: 2_000)
    let result = bench.finish(at: 20_000)
    #expect(result.measured == 10)
    #expect(result.actual == "rate is 10, read at 1.00 s and 11.00 s")
    let still = JudgeBench(.metric(open, .rate, .less(.count(1)), from: .time(1_000), to: .time(11_000)))
    still.set("alice", open.name, 5, at: 100)
    #expect(still.finish(at: 20_000).measured == 0)
  }

  @Test func `a counter grows on over a redial, and what was of the first call is no sample`() {
    let lost = ValuePath.of("bob", jitter.name)
    let bounds = Wanted.Bound.less(.count(1_000))
    let bench = JudgeBench([
      .metric(lost, .delta, bounds, from: .time(1_000), to: .time(11_000)),
      .metric(.of("bob", "selected.local.port"), .first, bounds, from: .time(4_000), to: .time(11_000)),
    ])
    bench.set("bob", "connections.open", 1, at: 100)
    bench.set("bob", "selected.local.port", 7, at: 200)
    for (value, time) in [(100, Int64(500)), (110, 1_500), (120, 2_500)] {
      bench.set("bob", lost.name, value, at: time)
    }
    bench.set("bob", "connections.open", 0, at: 3_000)
    bench.set("bob", "connections.open", 1, at: 5_000)
    bench.set("bob", "selected.local.port", 9, at: 5_500)
    for (value, time) in [(130, Int64(6_000)), (135, 7_000)] { bench.set("bob", lost.name, value, at: time) }
    let results = bench.finishAll(at: 20_000)
    #expect(results.map(\.measured) == [155, 9])
  }

  /// What Alice's statistics and the wire count between 8 and 20 s.
  private func counted(_ text: String) throws -> [Double?] {
    let metrics = ["alice.stats.outbound-rtp.audio.packetsSent", "wire.media(from: alice)"]
    let result = try play(
      text + "\nexpect:\n"
        + metrics.map { "  - { metric: \"\($0)\", stat: delta, window: [8s, 20s], gt: 100 }" }.joined(separator: "\n"))
    #expect(result.verdict == .pass, "\(result.findings)")
    return result.measurements.map(\.measured)
  }

  @Test func `packets count until their connection is closed`() throws {
    let counted = try counted(
      """
      callsim: 1
      id: t
      run: 24s
      peers: { alice: { profile: knotos, network: wifi }, bob: { profile: knotos, network: wifi } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, times: 2, do: bob.accept }
        - { at: 10s, do: alice.hangup }
        - { at: 13s, do: alice.call, to: bob }
        - { at: 22s, do: alice.hangup }
      """)
    #expect(counted.count == 2 && counted[0] == counted[1], "\(counted)")
  }

  @Test func `packets count until their track is given up`() throws {
    let counted = try counted(
      """
      callsim: 1
      id: t
      run: 24s
      peers: { alice: { profile: twilio, network: wifi }, bob: { profile: twilio, network: wifi } }
      timeline:
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 1s, do: alice.connect, room: daily }
        - { at: 10.24s, do: alice.mic-off }
        - { at: 13s, do: alice.mic-on }
        - { at: 22s, do: alice.disconnect }
      """)
    #expect(counted.count == 2 && counted[0] == counted[1], "\(counted)")
  }

  @Test func `a rate of the wire and of statistics is the same where media stop`() throws {
    let result = try play(
      "run: 20s",
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
          - { at: 7s, fault: packet.drop, protocol: rtp, from: alice, to: bob }
        """,
      expect: ["bob.stats.inbound-rtp.audio.packetsReceived", "wire.media(from: alice, to: bob)"].map {
        "  - { metric: \"\($0)\", stat: rate, window: [5s, 15s], gt: 9, lt: 11 }"
      }.joined(separator: "\n"))
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(Set(result.measurements.map(\.measured)).count == 1, "\(result.measurements)")
  }

  @Test func `what a metric came to is in the result, within its bounds or not`() throws {
    let result = try play(
      "run: 4s",
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        """,
      expect: ["lt: 1000", "gt: 1000", "lt: 1000, across: seeds"].map {
        "  - { metric: \"wire.media(from: alice, to: bob)\", stat: delta, window: [3s, 3500ms], \($0) }"
      }.joined(separator: "\n"))
    #expect(result.verdict == .fail)
    #expect(result.measurements.map(\.measured) == [25, 25, 25])
  }

  /// In three runs with the samples 1 and 3, 4, and 20: the sum over the runs, or the extreme of all.
  private static let acrossSeeds: [(Wanted.Statistic, String, Int)] = [
    (.maximum, "largest", 20), (.minimum, "smallest", 1), (.first, "mean", 25), (.last, "mean", 27),
    (.mean, "mean", 26), (.percentile(50), "mean", 26), (.sum, "mean", 28), (.count, "mean", 4),
  ]

  @Test(arguments: acrossSeeds)
  func `across seeds a statistic is each run's own, and of these the largest, the smallest or the mean`(
    statistic: Wanted.Statistic, name: String, total: Int
  ) {
    let number = name == "mean" ? Double(total) / 3 : Double(total)
    let kind = Wanted.Kind.metric(jitter, statistic, .less(.count(15)), across: .seeds)
    let results = [[1, 3], [4], [20]].map { samples in
      let bench = JudgeBench(kind)
      for (index, sample) in samples.enumerated() { bench.set("bob", jitter.name, sample, at: Int64(index) * 250) }
      return bench.finish(at: 1_000)
    }
    #expect(results.map(\.verdict) == [.shared, .shared, .shared])
    let orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0]].map { $0.map { results[$0] } }
    for together in orders.map(AcrossSeeds.judge) {
      #expect(together?.verdict == (number < 15 ? .pass : .fail))
      let told = Wording.quantity(number, .count)
      #expect(together?.actual == "\(name) over 3 runs of each run's \(statistic) is \(told)")
    }
  }

  @Test(arguments: [(Wanted.Statistic.delta, 6.5), (.rate, 26)])
  func `across seeds what moved is the mean of what moved in each run`(statistic: Wanted.Statistic, number: Double) {
    let kind = Wanted.Kind.metric(jitter, statistic, .less(.count(100)), across: .seeds)
    let results = [[1, 4], [10, 20]].map { samples in
      let bench = JudgeBench(kind)
      for (index, sample) in samples.enumerated() { bench.set("bob", jitter.name, sample, at: Int64(index) * 250) }
      return bench.finish(at: 1_000)
    }
    for together in [results, results.reversed()].map(AcrossSeeds.judge) {
      #expect(
        together?.actual == "mean over 2 runs of each run's \(statistic) is \(Wording.quantity(number, .count))")
    }
  }

  @Test func `what is read at a border, or is no sample, tells no range of samples`() {
    for statistic in [Wanted.Statistic.first, .last, .delta, .rate, .sum, .count] {
      let result = run(statistic, .less(.count(-100)), [4, 9, 1, 2])
      #expect(result.verdict == .fail)
      #expect(result.nearestMiss == nil)
    }
  }

  @Test func `a percentile lies between the two nearest ranks`() {
    let values = [15.0, 20, 35, 40, 50]
    #expect(SampleSeries.percentile(40, of: values) == 29)
    #expect(SampleSeries.percentile(50, of: values) == 35)
    #expect(SampleSeries.percentile(99, of: [3]) == 3)
    #expect(SampleSeries.percentile(50, of: []) == nil)
  }
}
