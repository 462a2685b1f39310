import CallCore
import Testing
import VirtualPeer

@testable import Scenarios

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
    #expect(result.actual == "no sample of bob.\(jitter.name), from drop to the end")
    #expect(run(.rate, .less(.count(1)), [3]).actual.hasPrefix("only one sample"))
  }

  @Test func `a value that is not sampled holds until it changes`() {
    let port = ValuePath.of("bob", "selected.local.port")
    let bench = JudgeBench(.metric(port, .last, .exactly(.count(5_000)), from: .entry("drop")))
    bench.set("bob", port.name, 5_000, at: 500)
    bench.fire("drop", at: 1_000)
    #expect(bench.finish(at: 3_000).verdict == .pass)
  }

  @Test func `across seeds every run contributes its mean`() {
    let kind = Wanted.Kind.metric(jitter, .percentile(50), .less(.count(5)), across: .seeds)
    let results = [[1, 3], [4], [20]].map { samples in
      let bench = JudgeBench(kind)
      for (index, sample) in samples.enumerated() { bench.set("bob", jitter.name, sample, at: Int64(index) * 250) }
      return bench.finish(at: 1_000)
    }
    #expect(results.map(\.verdict) == [.shared, .shared, .shared])
    let together = AcrossSeeds.judge(results)
    #expect(together?.verdict == .pass)
    #expect(together?.actual == "p50 is 4, over 3 runs")
  }

  @Test func `a percentile lies between the two nearest ranks`() {
    let values = [15.0, 20, 35, 40, 50]
    #expect(SampleSeries.percentile(40, of: values) == 29)
    #expect(SampleSeries.percentile(50, of: values) == 35)
    #expect(SampleSeries.percentile(99, of: [3]) == 3)
    #expect(SampleSeries.percentile(50, of: []) == nil)
  }
}
