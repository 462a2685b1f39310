import CallCore
import Testing

@testable import CongestionControl

/// Scenarios and bounds of libwebrtc's goog_cc_network_control_unittest.
@Suite struct BandwidthEstimatorTests {
  private func makeSettings(
    start: Int64, maximum: Int64? = nil, minimum: Int64 = 0, feedbackOnly: Bool = false
  ) -> SimulatedSender.Settings {
    var settings = SimulatedSender.Settings()
    settings.estimator.startRate = .kilobitsPerSecond(start)
    settings.estimator.maximumRate = maximum.map { .kilobitsPerSecond($0) }
    settings.estimator.minimumRate = .kilobitsPerSecond(minimum)
    settings.estimator.usesFeedbackOnly = feedbackOnly
    settings.estimator.pacingFactor = 1.1
    return settings
  }

  @Test func `it begins with two probes, and paces at two and a half times the start rate`() {
    var settings = BandwidthEstimator.Settings()
    settings.startRate = .kilobitsPerSecond(60)
    settings.maximumRate = .kilobitsPerSecond(300)
    var estimator = BandwidthEstimator(settings: settings)
    estimator.setAvailable(true, at: .zero + .seconds(123))
    let probes = [estimator.nextProbe(), estimator.nextProbe()].map { $0?.rate.kilobits }
    #expect(probes == [180, 300] && estimator.nextProbe() == nil)
    #expect(estimator.target.target == .kilobitsPerSecond(60) && estimator.target.pacing == .kilobitsPerSecond(150))
    let change = estimator.nextChange()
    #expect(change?.reason == .configured && change?.after == .kilobitsPerSecond(60))
  }

  private func makeEstimator(start: Int64, maximum: Int64) -> BandwidthEstimator {
    var settings = BandwidthEstimator.Settings()
    settings.startRate = .kilobitsPerSecond(start)
    settings.maximumRate = .kilobitsPerSecond(maximum)
    return BandwidthEstimator(settings: settings)
  }

  private func probes(_ estimator: inout BandwidthEstimator) -> [Double] {
    var rates: [Double] = []
    while let probe = estimator.nextProbe() { rates.append(probe.rate.kilobits) }
    return rates
  }

  @Test func `a new route is probed from its start rate, or from the minimum without one`() {
    var estimator = makeEstimator(start: 60, maximum: 1_200)
    estimator.setAvailable(true, at: .zero)
    _ = probes(&estimator)
    estimator.changeRoute(start: .kilobitsPerSecond(120), at: .zero + .seconds(3))
    #expect(estimator.target.target == .kilobitsPerSecond(120) && estimator.target.pacing == .kilobitsPerSecond(300))
    #expect(probes(&estimator) == [360, 720])
    estimator.changeRoute(start: nil, at: .zero + .seconds(3))
    #expect(estimator.target.target == .kilobitsPerSecond(5) && estimator.target.pacing == .bitsPerSecond(12_500))
    #expect(probes(&estimator).count == 2)
  }

  @Test func `a route on which nothing can be sent is probed when something can`() {
    var estimator = makeEstimator(start: 60, maximum: 300)
    estimator.setAvailable(true, at: .zero)
    _ = probes(&estimator)
    estimator.setAvailable(false, at: .zero)
    estimator.changeRoute(start: .kilobitsPerSecond(60), at: .zero)
    #expect(probes(&estimator) == [])
    estimator.setAvailable(true, at: .zero + .seconds(1))
    #expect(probes(&estimator) == [180, 300])
  }

  @Test func `the smallest round trip of a feedback packet is taken, without the wait for it`() {
    var estimator = makeEstimator(start: 60, maximum: 300)
    var settings = estimator.settings
    settings.usesFeedbackOnly = true
    estimator = BandwidthEstimator(settings: settings)
    estimator.setAvailable(true, at: .zero)
    let sent = Instant.zero + .milliseconds(123)
    let results = (0..<3 as Range<Int64>).map { index in
      TransportSequencer.Result(
        number: index, byteCount: 1_000, sent: sent, arrived: sent + .milliseconds(10 + 50 * index))
    }
    estimator.receive(results, bytesInFlight: 0, at: sent + .milliseconds(120))
    estimator.process(at: sent + .milliseconds(150))
    #expect(estimator.target.roundTrip == .milliseconds(20))
  }

  @Test func `a probe that achieves much less than the throughput does not lower the estimate below that`() {
    var estimator = makeEstimator(start: 1_000, maximum: 5_000)
    estimator.setAvailable(true, at: .zero)
    let probe = estimator.nextProbe()
    var (now, number) = (Instant.zero, Int64(0))
    func send(_ count: Int64, each gap: Int64, arrivingEach arrival: Int64, probe: Int32? = nil) {
      let results = (0..<count).map { index in
        number += 1
        return TransportSequencer.Result(
          number: number, byteCount: 1_000, sent: now + .milliseconds(gap) * index,
          arrived: now + .milliseconds(arrival) * index + .milliseconds(20), probe: probe)
      }
      now += .milliseconds(max(gap, arrival)) * count
      estimator.receive(results, bytesInFlight: 0, at: now + .milliseconds(40))
    }
    // 1600 kbit/s arrive.
    for _ in 0..<10 { send(20, each: 5, arrivingEach: 5) }
    let before = estimator.target.target
    #expect(before > .kilobitsPerSecond(1_000))
    // A probe of five packets arrives at 1000 kbit/s.
    send(5, each: 1, arrivingEach: 8, probe: probe?.id)
    #expect(estimator.target.target >= before, "\(estimator.target)")
  }

  @Test(arguments: [0, 50] as [Int64]) func `while delay builds up, no probe is sent`(delay: Int64) {
    var estimator = makeEstimator(start: 300, maximum: 500)
    estimator.setAvailable(true, at: .zero)
    var (now, queue) = (Instant.zero, Interval.zero)
    for index in 0..<200 as Range<Int64> {
      now += .milliseconds(20)
      // The first probes are over.
      if index > 100 { queue += .milliseconds(delay) }
      let result = TransportSequencer.Result(number: index, byteCount: 700, sent: now, arrived: now + queue)
      estimator.receive([result], bytesInFlight: 0, at: now + queue)
      estimator.process(at: now)
      var isReduced = false
      while let change = estimator.nextChange() { isReduced = isReduced || change.reason == .delayOveruse }
      if isReduced { break }
    }
    _ = probes(&estimator)
    #expect((estimator.usage == .overusing) == (delay > 0))
    estimator.setRates(minimum: .zero, start: nil, maximum: .kilobitsPerSecond(2_000), at: now)
    #expect(probes(&estimator) == (delay > 0 ? [] : [2_000]))
  }

  @Test func `a delay that builds up lowers the target`() {
    var estimator = makeEstimator(start: 60, maximum: 300)
    estimator.setAvailable(true, at: .zero)
    var now = Instant.zero + .milliseconds(123)
    var targets: [DataRate] = []
    for delay in [0, 50] as [Int64] {
      var queue = Interval.zero
      for index in 0..<120 as Range<Int64> {
        estimator.sent(byteCount: 1_000, bytesInFlight: 1_000, at: now)
        let arrived = now + queue
        queue += .milliseconds(delay)
        let result = TransportSequencer.Result(number: index, byteCount: 1_000, sent: now, arrived: arrived)
        estimator.receive([result], bytesInFlight: 0, at: arrived)
        now += .milliseconds(50)
        estimator.process(at: now)
      }
      targets.append(estimator.target.target)
    }
    #expect(targets[1] < targets[0], "\(targets)")
  }

  @Test func `the target follows the capacity of the link`() {
    let sender = SimulatedSender(settings: makeSettings(start: 300, maximum: 1_500, minimum: 10, feedbackOnly: true))
    let network = SimulatedNetwork(rate: 500, delay: 100, senders: [sender])
    network.run(seconds: 25)
    #expect(abs(sender.target.kilobits - 450) <= 100, "\(sender.target)")
    network.link.rate = .kilobitsPerSecond(800)
    network.run(seconds: 20)
    #expect(abs(sender.target.kilobits - 750) <= 150, "\(sender.target)")
    network.link.rate = .kilobitsPerSecond(100)
    network.link.delay = .milliseconds(200)
    network.returnDelay = .milliseconds(200)
    network.run(seconds: 50)
    #expect(abs(sender.target.kilobits - 90) <= 25, "\(sender.target)")
  }

  @Test func `a REMB caps the target, and its end lets it rise again in ten seconds`() {
    let sender = SimulatedSender(settings: makeSettings(start: 1_000))
    let network = SimulatedNetwork(rate: 2_000, delay: 50, senders: [sender])
    network.run(seconds: 10)
    #expect(sender.target > .kilobitsPerSecond(1_500), "\(sender.target)")
    sender.estimator.receiveEstimate(.kilobitsPerSecond(250), at: network.now)
    network.run(seconds: 1)
    #expect(sender.target == .kilobitsPerSecond(250), "\(sender.target)")
    #expect(sender.changes.last?.reason == .remb)
    sender.estimator.receiveEstimate(.kilobitsPerSecond(10_000), at: network.now)
    network.run(seconds: 10)
    #expect(sender.target > .kilobitsPerSecond(1_500), "\(sender.target)")
  }

  @Test func `without feedback about packets the loss in reports lowers the target`() {
    var settings = makeSettings(start: 1_000, maximum: 3_000)
    settings.isNumbered = false
    // Without numbers the receiver estimates the bandwidth, and compound RTCP carries a report with each REMB.
    settings.reportInterval = .milliseconds(200)
    let sender = SimulatedSender(settings: settings)
    let network = SimulatedNetwork(rate: 1_000, delay: 100, senders: [sender])
    sender.estimator.receiveEstimate(.kilobitsPerSecond(1_000), at: .zero)
    network.run(seconds: 20)
    #expect(sender.target >= .kilobitsPerSecond(500), "\(sender.target)")
    network.link.loss = 0.15
    network.run(seconds: 20)
    #expect(sender.target <= .kilobitsPerSecond(300), "\(sender.target)")
    #expect(sender.changes.contains { $0.reason == .reportedLoss })
  }

  @Test func `a link that stops pushes the target down, if the congestion window may`() {
    for (mode, check) in [
      (CongestionWindow.Settings.Mode.reduceTarget, { $0 < DataRate.kilobitsPerSecond(40) }),
      (.dropFrames, { $0 > DataRate.kilobitsPerSecond(300) }),
    ] as [(CongestionWindow.Settings.Mode, (DataRate) -> Bool)] {
      var settings = makeSettings(start: 300, maximum: 2_000, minimum: 10, feedbackOnly: true)
      settings.estimator.congestionWindow.mode = mode
      settings.estimator.congestionWindow.queueTime = .milliseconds(800)
      let sender = SimulatedSender(settings: settings)
      let network = SimulatedNetwork(rate: 1_000, delay: 100, senders: [sender])
      network.run(seconds: 10)
      network.link.pausedUntil = network.now + .seconds(10)
      network.run(seconds: 3)
      #expect(check(sender.target), "\(mode) \(sender.target)")
    }
  }

  @Test func `the estimate stays while no video is sent`() {
    let sender = SimulatedSender(settings: makeSettings(start: 1_000))
    let network = SimulatedNetwork(rate: 2_000, delay: 100, senders: [sender])
    network.run(seconds: 1)
    sender.isSending = false
    network.run(seconds: 4)
    #expect(sender.target > .kilobitsPerSecond(1_000), "\(sender.target)")
  }

  @Test func `feedback that comes minutes late does no harm`() {
    let sender = SimulatedSender(settings: makeSettings(start: 300))
    let network = SimulatedNetwork(rate: 10_000, delay: 10, senders: [sender])
    network.run(seconds: 5)
    network.returnBlockedUntil = network.now + .seconds(300)
    network.run(milliseconds: 200)
    sender.isSending = false
    network.run(milliseconds: 298_800)
    sender.isSending = true
    network.run(seconds: 30)
    #expect(sender.target > .kilobitsPerSecond(300), "\(sender.target)")
  }

  @Test func `it leaves room to a TCP connection`() {
    let sender = SimulatedSender(settings: makeSettings(start: 1_000))
    let network = SimulatedNetwork(rate: 1_000, delay: 50, senders: [sender])
    network.rival = SimulatedRival(returnDelay: .milliseconds(50))
    network.run(seconds: 10)
    #expect(sender.target < .kilobitsPerSecond(750), "\(sender.target)")
  }

  @Test(arguments: 1...2) func `a tenth of lost packets does not bring the target down`(seed: UInt64) {
    let sender = SimulatedSender(settings: makeSettings(start: 300, maximum: 1_500, minimum: 10), seed: seed)
    let network = SimulatedNetwork(rate: 2_000, delay: 200, senders: [sender], seed: seed)
    network.link.loss = 0.1
    network.run(seconds: 120)
    #expect(sender.target > .kilobitsPerSecond(100), "\(sender.target)")
  }

  @Test func `the stable rate varies less than the target, and is never above it`() {
    let sender = SimulatedSender(settings: makeSettings(start: 300, feedbackOnly: true))
    let network = SimulatedNetwork(rate: 500, delay: 100, senders: [sender])
    network.run(seconds: 30)
    var (targets, stables): ([Double], [Double]) = ([], [])
    for _ in 0..<20 {
      #expect(sender.estimator.target.stable <= sender.target)
      targets.append(sender.target.kilobits)
      stables.append(sender.estimator.target.stable.kilobits)
      network.run(seconds: 1)
    }
    let ratio = targets.min()! / targets.max()!
    #expect(ratio < 0.85, "\(ratio)")
    #expect(stables.min()! / stables.max()! >= ratio)
  }
}
