import CallCore
import Testing

@testable import CongestionControl

/// The bounds of libwebrtc's delay_based_bwe_unittest.
@Suite struct DelayBasedEstimatorTests {
  /// A harness that expects two probes of 15 ms.
  private func makeHarness() -> DelayBasedHarness {
    var harness = DelayBasedHarness()
    for (id, packets, bytes) in [(1, 5, 2_000), (2, 8, 4_000)] as [(Int32, Int, Int64)] {
      harness.probes.expect(
        ProbeCluster(
          id: id, rate: .bitsPerSecond(bytes * 8 * 100), duration: .milliseconds(10), packetCount: packets,
          slot: .milliseconds(2), requested: .zero))
    }
    return harness
  }

  private func probe(
    _ harness: inout DelayBasedHarness, _ id: Int32, count: Int, sent: Int64, arrived: Int64, byteCount: Int = 1_000
  ) {
    var left = harness.now
    for _ in 0..<count {
      harness.now += .milliseconds(arrived)
      left += .milliseconds(sent)
      harness.feedback(sent: left, arrived: harness.now, byteCount: byteCount, probe: id)
    }
  }

  @Test func `a probe that arrives as it was sent gives its rate`() {
    var harness = makeHarness()
    probe(&harness, 1, count: 5, sent: 10, arrived: 10)
    probe(&harness, 2, count: 8, sent: 5, arrived: 5)
    #expect(harness.latest > .kilobitsPerSecond(1_500))
  }

  @Test func `a probe that arrives slower gives 95 percent of the rate at which it arrives`() {
    var harness = makeHarness()
    probe(&harness, 2, count: 8, sent: 5, arrived: 7)
    #expect(abs(harness.latest.kilobits - 0.95 * 1_140) <= 10)
    harness = makeHarness()
    probe(&harness, 2, count: 8, sent: 1, arrived: 2)
    #expect(abs(harness.latest.kilobits - 0.95 * 4_000) <= 10)
  }

  @Test func `a probe that arrives more than twice as fast gives nothing`() {
    var harness = makeHarness()
    probe(&harness, 1, count: 5, sent: 10, arrived: 1)
    #expect(harness.latest == .zero)
  }

  @Test
  func `in five seconds the estimate reaches one and a half times the throughput, and reordering leaves it there`() {
    var harness = makeHarness()
    let lag = harness.now - Instant.zero
    for index in 0..<253 {
      if index == 2 { #expect(harness.latest == .zero) }
      harness.feedback(sent: harness.now - lag, arrived: harness.now, byteCount: 1_200, probe: index < 5 ? 1 : nil)
      harness.now += .milliseconds(20)
    }
    #expect(abs(harness.latest.kilobits - 730) <= 50, "\(harness.latest)")
    for _ in 0..<10 {
      harness.now += .milliseconds(40)
      harness.feedback(sent: harness.now - lag, arrived: harness.now, byteCount: 1_000)
      harness.feedback(sent: harness.now - lag - .milliseconds(20), arrived: harness.now, byteCount: 1_000)
    }
    #expect(abs(harness.latest.kilobits - 730) <= 50, "\(harness.latest)")
  }

  @Test func `over-use at the start leads to the capacity within 40 frames`() {
    var harness = DelayBasedHarness()
    harness.capacity = .kilobitsPerSecond(200)
    harness.framesPerSecond = 90
    harness.estimator.setStart(.kilobitsPerSecond(300))
    var rate = DataRate.kilobitsPerSecond(300)
    var isSeen = false
    for _ in 0..<40 where !isSeen {
      isSeen = harness.frame(at: rate)
      rate = harness.update ?? rate
    }
    #expect(isSeen)
    #expect(harness.latest <= .kilobitsPerSecond(200) && harness.latest > .kilobitsPerSecond(160))
  }

  @Test(arguments: [(500, 0), (867, 30), (933, -30)] as [(Int64, Int64)])
  func `a capacity that halves is found in the time of libwebrtc, whatever the clock does`(
    milliseconds: Int64, clock: Int64
  ) {
    var harness = DelayBasedHarness()
    var rate = DataRate.kilobitsPerSecond(900)
    var isSeen = false
    for _ in 0..<300 {
      if harness.frame(at: rate) {
        #expect(harness.latest < .kilobitsPerSecond(1_100) && harness.latest > .kilobitsPerSecond(800))
        isSeen = true
      }
      rate = harness.update ?? rate
      if isSeen, rate > .kilobitsPerSecond(1_000) { break }
    }
    #expect(isSeen && abs(rate.kilobits - 1_000) <= 180)
    harness.clockOffset = .seconds(clock)
    harness.capacity = .kilobitsPerSecond(500)
    let start = harness.now
    var drop: Interval?
    for _ in 0..<100 {
      _ = harness.frame(at: rate)
      if drop == nil, let update = harness.update, update <= .kilobitsPerSecond(500) { drop = harness.now - start }
      rate = harness.update ?? rate
    }
    let measured = drop.map(\.milliseconds) ?? .max
    #expect(abs(measured - milliseconds) <= 33, "\(measured) ms")
  }

  @Test func `over-use halves the rate while the throughput is unknown`() {
    var estimator = DelayBasedEstimator()
    estimator.setStart(.kilobitsPerSecond(300))
    var reduced: [DataRate] = []
    for index in 0..<40 as Range<Int64> {
      let (sent, arrived) = (Instant.zero + .milliseconds(10) * index, Instant.zero + .milliseconds(30) * index)
      let packet = TransportSequencer.Result(number: index, byteCount: 1_000, sent: sent, arrived: arrived)
      let update = estimator.receive([packet], acknowledged: nil, probe: nil, at: arrived)
      if update.reason == .delayOveruse, let rate = update.rate { reduced.append(rate) }
      if !reduced.isEmpty { break }
    }
    #expect(reduced.first.map { abs($0.kilobits - 150) <= 15 } == true, "\(reduced)")
  }

  @Test func `a queue that has drained is told of once`() {
    var harness = DelayBasedHarness()
    harness.estimator.setStart(.kilobitsPerSecond(900))
    for _ in 0..<60 { _ = harness.frame(at: .kilobitsPerSecond(900)) }
    harness.capacity = .kilobitsPerSecond(700)
    for _ in 0..<60 { _ = harness.frame(at: .kilobitsPerSecond(900)) }
    #expect(harness.recoveries == 0)
    for _ in 0..<120 { _ = harness.frame(at: .kilobitsPerSecond(500)) }
    #expect(harness.recoveries == 1)
  }

  @Test(arguments: 0..<4) func `jitter of a quarter of a millisecond never lowers the estimate`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("jitter")
    var harness = DelayBasedHarness()
    harness.estimator.setStart(.kilobitsPerSecond(300))
    var last = DataRate.zero
    var rises = 0
    for _ in 0..<1_000 {
      harness.now += .milliseconds(20)
      let jitter = Interval.microseconds(random.uniform(in: -250...250))
      harness.feedback(sent: harness.now - .milliseconds(20), arrived: harness.now + jitter, byteCount: 750)
      let rate = harness.estimator.control.rate
      #expect(rate >= last)
      if rate > last { rises += 1 }
      last = rate
    }
    #expect(rises > 10)
  }

  @Test func `packets that left together are one group, and one that left earlier is none`() {
    var groups = InterArrival()
    func add(_ sent: Int64, _ arrived: Int64) -> InterArrival.Delta? {
      groups.add(
        sent: .zero + .milliseconds(sent), arrived: .zero + .milliseconds(arrived), at: .zero + .milliseconds(arrived))
    }
    #expect(add(0, 10) == nil && add(0, 12) == nil && add(5, 17) == nil)
    // The second group begins, and there is nothing to compare it with.
    #expect(add(20, 32) == nil && add(19, 33) == nil)
    #expect(add(40, 55) == InterArrival.Delta(sent: .milliseconds(15), arrived: .milliseconds(15)))
  }

  @Test func `packets that the path has bunched up are one group`() {
    var groups = InterArrival()
    func add(_ sent: Int64, _ arrived: Int64) -> InterArrival.Delta? {
      groups.add(
        sent: .zero + .milliseconds(sent), arrived: .zero + .milliseconds(arrived), at: .zero + .milliseconds(arrived))
    }
    #expect(add(0, 100) == nil && add(20, 200) == nil && add(40, 201) == nil && add(60, 202) == nil)
    #expect(add(80, 220) == InterArrival.Delta(sent: .milliseconds(60), arrived: .milliseconds(102)))
  }

  @Test func `a clock that jumps, and arrivals in the wrong order, begin anew`() {
    var groups = InterArrival()
    func add(_ sent: Int64, _ arrived: Int64, at now: Int64) -> InterArrival.Delta? {
      groups.add(
        sent: .zero + .milliseconds(sent), arrived: .zero + .milliseconds(arrived), at: .zero + .milliseconds(now))
    }
    for step in 0..<3 as Range<Int64> { _ = add(step * 20, step * 20, at: step * 20) }
    #expect(add(60, 60, at: 60) != nil && add(80, 3_080, at: 80) != nil && add(100, 3_100, at: 100) == nil)
    // Two packets form the next groups, and the third ends the second one.
    #expect(add(120, 3_120, at: 120) == nil && add(140, 3_140, at: 140) == nil && add(160, 3_160, at: 160) != nil)
  }

  @Test func `the trend of a growing delay is over-use, and that of a shrinking one under-use`() {
    var trend = TrendlineEstimator()
    var arrived = Instant.zero
    func run(_ count: Int, slower: Int64) -> Int? {
      for index in 0..<count {
        arrived += .milliseconds(20 + slower)
        trend.update(
          InterArrival.Delta(sent: .milliseconds(20), arrived: .milliseconds(20 + slower)), arrived: arrived)
        if trend.usage != .normal { return index }
      }
      return nil
    }
    #expect(run(100, slower: 0) == nil && trend.threshold == 6)
    let overuse = run(100, slower: 4)
    #expect(trend.usage == .overusing && (1..<20).contains(overuse ?? 0))
    _ = run(100, slower: -4)
    for _ in 0..<100 where trend.usage != .underusing { _ = run(1, slower: -4) }
    #expect(trend.usage == .underusing)
  }
}
