import CallCore
import Testing

@testable import CongestionControl

/// Senders on links that change, as in RFC 8867 and in the tests of other stacks.
@Suite struct BandwidthScenarioTests {
  private func makeSettings(
    start: Int64 = 300, maximum: Int64? = nil, video: Int64 = 2_500
  ) -> SimulatedSender.Settings {
    var settings = SimulatedSender.Settings()
    settings.estimator.startRate = .kilobitsPerSecond(start)
    settings.estimator.maximumRate = maximum.map { .kilobitsPerSecond($0) }
    settings.estimator.pacingFactor = 1.1
    settings.maximum = .kilobitsPerSecond(video)
    return settings
  }

  /// The bounds of libwebrtc's test of a changing link, relative to the capacity.
  private static let bounds = 0.65...1.15

  @Test(arguments: 1...3) func `the estimate follows the capacity of RFC 8867 section 5_1`(seed: UInt64) {
    let sender = SimulatedSender(settings: makeSettings(), seed: seed)
    let network = SimulatedNetwork(rate: 1_000, delay: 50, senders: [sender], seed: seed)
    network.link.queueLimit = .milliseconds(300)
    for (rate, seconds) in [(1_000, 40), (2_500, 20), (600, 20), (1_000, 20)] as [(Int64, Int64)] {
      network.link.rate = .kilobitsPerSecond(rate)
      network.run(seconds: seconds)
      let share = sender.target.kilobits / Double(rate)
      #expect(Self.bounds.contains(share), "\(rate): \(sender.target)")
    }
  }

  @Test func `probes find 10 Mbit_s within half a second`() {
    let sender = SimulatedSender(settings: makeSettings(start: 1_000, maximum: 10_000, video: 10_000))
    let network = SimulatedNetwork(rate: 10_000, delay: 10, senders: [sender])
    network.run(milliseconds: 100)
    #expect(sender.probes.prefix(2).map(\.rate.kilobits) == [3_000, 6_000])
    #expect(abs(sender.target.kilobits - 6_000) <= 300, "\(sender.target)")
    network.run(milliseconds: 400)
    #expect(sender.target >= .kilobitsPerSecond(9_000), "\(sender.target)")
    #expect(sender.changes.filter { $0.reason == .probe }.count >= 2)
  }

  @Test(arguments: 1...3)
  func `a link that drops below the rate of media keeps an estimate, and one that recovers is found`(
    seed: UInt64
  ) {
    var settings = makeSettings(start: 1_000, maximum: 10_000, video: 5_000)
    settings.estimator.probing.probesWhileApplicationLimited = true
    let sender = SimulatedSender(settings: settings, seed: seed)
    sender.fixedRate = .kilobitsPerSecond(1_000)
    let network = SimulatedNetwork(rate: 10_000, delay: 10, senders: [sender], seed: seed)
    network.link.jitter = .milliseconds(2)
    network.link.queueLimit = .milliseconds(160)
    network.run(seconds: 20)
    #expect(sender.target >= .kilobitsPerSecond(5_000), "\(sender.target)")
    network.link.rate = .kilobitsPerSecond(800)
    network.link.jitter = .milliseconds(20)
    network.link.queueLimit = .milliseconds(500)
    network.run(seconds: 5)
    #expect(sender.target >= .kilobitsPerSecond(500) && sender.target <= .kilobitsPerSecond(1_000), "\(sender.target)")
    sender.fixedRate = .kilobitsPerSecond(600)
    network.run(seconds: 10)
    #expect(sender.target >= .kilobitsPerSecond(400), "\(sender.target)")
    network.link.rate = .kilobitsPerSecond(10_000)
    network.link.jitter = .milliseconds(2)
    network.link.queueLimit = .milliseconds(160)
    network.run(seconds: 40)
    #expect(sender.target >= .kilobitsPerSecond(3_000), "\(sender.target)")
  }

  @Test(arguments: 1...2) func `two senders share a link`(seed: UInt64) {
    var late = makeSettings()
    late.starts = .seconds(10)
    let senders = [
      SimulatedSender(settings: makeSettings(), seed: seed), SimulatedSender(settings: late, index: 1, seed: seed),
    ]
    let network = SimulatedNetwork(rate: 2_000, delay: 50, senders: senders, seed: seed)
    network.link.queueLimit = .milliseconds(300)
    network.run(seconds: 40)
    let shares = self.shares(of: senders, over: 60, in: network)
    #expect(shares.min()! >= 0.5 * shares.max()! && shares.reduce(0, +) >= 0.7, "\(shares)")
  }

  @Test func `two senders follow the capacity of RFC 8867 section 5_2, and neither starves`() {
    let senders = [0, 1].map { SimulatedSender(settings: makeSettings(), index: $0) }
    let network = SimulatedNetwork(rate: 4_000, delay: 50, senders: senders)
    network.link.queueLimit = .milliseconds(300)
    for rate in [4_000, 2_000, 3_500, 1_000, 2_000] as [Int64] {
      network.link.rate = .kilobitsPerSecond(rate)
      let shares = self.shares(of: senders, over: 25, in: network)
      #expect(shares.reduce(0, +) >= 0.6 && shares.min()! >= 0.1, "\(rate): \(shares)")
    }
  }

  @Test func `senders that come later or pause get their share, as in RFC 8867 sections 5_4 and 5_8`() {
    let senders = ([0, 20, 40] as [Int64]).enumerated().map { index, start in
      var settings = makeSettings()
      settings.starts = .seconds(start)
      return SimulatedSender(settings: settings, index: index)
    }
    let network = SimulatedNetwork(rate: 3_500, delay: 50, senders: senders)
    network.link.queueLimit = .milliseconds(300)
    network.run(seconds: 60)
    let together = shares(of: senders, over: 20, in: network)
    #expect(together.min()! >= 0.5 * together.max()! && together.reduce(0, +) >= 0.7, "\(together)")
    senders[0].isSending = false
    let others = shares(of: senders, over: 20, in: network)
    #expect(others[1] > together[1] && others[2] > together[2], "\(others)")
    senders[0].isSending = true
    let again = shares(of: senders, over: 20, in: network)
    #expect(again.min()! >= 0.5 * again.max()! && again.reduce(0, +) >= 0.7, "\(again)")
  }

  @Test func `beside a long TCP connection, as in RFC 8867 section 5_6, something is left`() {
    let sender = SimulatedSender(settings: makeSettings())
    let network = SimulatedNetwork(rate: 2_000, delay: 50, senders: [sender])
    network.link.queueLimit = .milliseconds(300)
    network.rival = SimulatedRival(returnDelay: .milliseconds(50))
    let shares = self.shares(of: [sender], over: 60, in: network)
    #expect(shares[0] >= 0.05 && shares[0] <= 0.5, "\(shares)")
  }

  /// Runs for some time, and returns the senders' shares of the link.
  private func shares(
    of senders: [SimulatedSender], over seconds: Int64, in network: SimulatedNetwork
  ) -> [Double] {
    let before = senders.map(\.receivedByteCount)
    network.run(seconds: seconds)
    return zip(senders, before).map {
      Double(($0.receivedByteCount - $1) * 8) / Double(seconds) / network.link.rate.bits
    }
  }

  @Test(arguments: 1...3) func `38 - the estimate of a limited application stays where probes have put it`(
    seed: UInt64
  ) {
    let sender = SimulatedSender(settings: makeSettings(), seed: seed)
    sender.fixedRate = .kilobitsPerSecond(200)
    let network = SimulatedNetwork(rate: 3_000, delay: 50, senders: [sender], seed: seed)
    network.run(seconds: 5)
    let found = sender.target
    #expect(found <= .kilobitsPerSecond(3_000), "\(found)")
    network.run(seconds: 60)
    #expect(sender.target <= max(found, .kilobitsPerSecond(310)) && sender.target >= found * 0.9, "\(sender.target)")
    #expect(sender.estimator.isApplicationLimited)
  }

  @Test(arguments: 1...3) func `38 - after twenty percent of loss the estimate rises again`(seed: UInt64) {
    let sender = SimulatedSender(settings: makeSettings(), seed: seed)
    let network = SimulatedNetwork(rate: 2_000, delay: 50, senders: [sender], seed: seed)
    network.run(seconds: 10)
    network.link.loss = 0.2
    network.run(seconds: 30)
    #expect(sender.target < .kilobitsPerSecond(500) && sender.changes.last?.reason == .lossBased, "\(sender.target)")
    network.link.loss = 0
    network.run(seconds: 30)
    #expect(sender.target > .kilobitsPerSecond(1_300), "\(sender.target)")
  }

  @Test(arguments: 1...3) func `38 - on a healthy link the estimate never falls`(seed: UInt64) {
    var settings = makeSettings(video: 1_000)
    settings.sizeDeviation = 0.5
    let sender = SimulatedSender(settings: settings, seed: seed)
    let network = SimulatedNetwork(rate: 5_000, delay: 50, senders: [sender], seed: seed)
    network.link.jitter = .milliseconds(5)
    network.run(seconds: 60)
    #expect(sender.changes.allSatisfy { $0.after >= $0.before } && sender.target > .kilobitsPerSecond(1_000))
  }

  @Test func `another route begins anew, and feedback about the old one counts for nothing`() {
    let sender = SimulatedSender(settings: makeSettings())
    let network = SimulatedNetwork(rate: 2_000, delay: 100, senders: [sender])
    network.run(seconds: 10)
    #expect(sender.target > .kilobitsPerSecond(1_000))
    sender.estimator.changeRoute(start: .kilobitsPerSecond(200), at: network.now)
    #expect(sender.target == .kilobitsPerSecond(200))
    let probes = sender.probes.count
    network.run(milliseconds: 100)
    #expect(sender.target == .kilobitsPerSecond(200))
    #expect(sender.probes.dropFirst(probes).map(\.rate.kilobits) == [600, 1_200])
    network.run(seconds: 5)
    #expect(sender.target > .kilobitsPerSecond(900), "\(sender.target)")
  }

  @Test func `two runs of a seed are the same, and those of two seeds are not`() {
    func changes(_ seed: UInt64) -> [EstimateChange] {
      let sender = SimulatedSender(settings: makeSettings(), seed: seed)
      let network = SimulatedNetwork(rate: 700, delay: 30, senders: [sender], seed: seed)
      network.link.loss = 0.02
      network.run(seconds: 10)
      return sender.changes
    }
    let first = changes(1)
    #expect(first == changes(1) && first != changes(2) && first.count > 20)
  }

  @Test(arguments: 0..<40) func `no feedback, however wrong, makes the estimator stop or leave its limits`(
    seed: UInt64
  ) {
    var random = RandomSource(seed: seed).stream("hostile")
    var settings = BandwidthEstimator.Settings()
    settings.maximumRate = .kilobitsPerSecond(4_000)
    settings.usesFeedbackOnly = seed % 2 == 0
    var estimator = BandwidthEstimator(settings: settings)
    var sequencer = TransportSequencer()
    var now = Instant.zero
    estimator.setAvailable(true, at: now)
    for step in 0..<400 as Range<Int64> {
      now += .microseconds(Int64(random.uniform(below: 60_000)))
      for _ in 0..<random.uniform(below: 4) {
        let size = Int(random.uniform(below: 1_500))
        _ = sequencer.assign(byteCount: size, probe: random.chance(0.2) ? 1 : nil, at: now)
        estimator.sent(byteCount: size, bytesInFlight: sequencer.bytesInFlight, at: now)
      }
      var results: [TransportSequencer.Result] = []
      for _ in 0..<random.uniform(below: 8) {
        let time = Interval(nanoseconds: Int64(bitPattern: random.next()) >> Int64(random.uniform(below: 64)))
        results.append(
          TransportSequencer.Result(
            number: step, byteCount: Int(random.uniform(below: 2_000)),
            sent: now - .microseconds(Int64(random.uniform(below: 5_000_000))),
            arrived: random.chance(0.2) ? nil : .zero + time, probe: random.chance(0.3) ? 1 : nil))
      }
      estimator.receive(results, bytesInFlight: sequencer.bytesInFlight, at: now)
      if random.chance(0.1) { estimator.receiveEstimate(.bitsPerSecond(random.uniform(in: 0...1 << 62)), at: now) }
      if random.chance(0.1) {
        estimator.receiveReport(lost: Int(random.uniform(below: 90)) - 30, received: 30, at: now)
      }
      if random.chance(0.1) { estimator.setRoundTrip(.nanoseconds(random.uniform(in: 0...1 << 62)), at: now) }
      estimator.process(at: now)
      while estimator.nextProbe() != nil {}
      while estimator.nextChange() != nil {}
      let target = estimator.target
      #expect(target.target >= .kilobitsPerSecond(5) && target.target <= .kilobitsPerSecond(4_000))
      #expect(target.pacing >= target.target && target.stable <= target.target)
    }
  }
}
