import CallCore
import Testing

@testable import CongestionControl

/// NADA on simulated links: the behaviour that RFC 8698 states, and tests of RFC 8867.
@Suite struct NADAScenarioTests {
  private func makeSettings(
    start: Int64? = 300, maximum: Int64 = 2_500, priority: Double = 1
  ) -> SimulatedSender.Settings {
    var settings = SimulatedSender.Settings()
    var nada = NADAController.Settings()
    nada.startRate = start.map { .kilobitsPerSecond($0) }
    nada.maximumRate = .kilobitsPerSecond(maximum)
    nada.parameters.priority = priority
    settings.nada = nada
    settings.maximum = .kilobitsPerSecond(maximum)
    return settings
  }

  private func network(
    _ rate: Int64, _ senders: [SimulatedSender], delay: Int64 = 50, seed: UInt64 = 1
  ) -> SimulatedNetwork {
    let network = SimulatedNetwork(rate: rate, delay: delay, senders: senders, seed: seed)
    network.link.queueLimit = .milliseconds(300)
    return network
  }

  private func controller(_ sender: SimulatedSender) -> NADAController {
    guard let controller = sender.estimator.nada else { preconditionFailure("not NADA") }
    return controller
  }

  @Test(arguments: 1...3) func `the rate follows the capacity of RFC 8867 section 5_1`(seed: UInt64) {
    let sender = SimulatedSender(settings: makeSettings(), seed: seed)
    let network = network(1_000, [sender], seed: seed)
    for (rate, seconds) in [(1_000, 40), (2_500, 20), (600, 20), (1_000, 20)] as [(Int64, Int64)] {
      network.link.rate = .kilobitsPerSecond(rate)
      network.run(seconds: seconds)
      let share = sender.target.kilobits / Double(rate)
      // The bounds of the test of Google congestion control.
      #expect((0.65...1.15).contains(share), "\(rate): \(sender.target)")
    }
  }

  @Test(arguments: [10, 50, 150] as [Int64])
  func `on an empty link it ramps up to its maximum without a queue`(delay: Int64) {
    let sender = SimulatedSender(settings: makeSettings(start: nil, maximum: 1_500))
    let network = network(10_000, [sender], delay: delay)
    var worst = Interval.zero
    for _ in 0..<200 {
      network.run(milliseconds: 100)
      worst = max(worst, network.link.queueDelay)
    }
    #expect(sender.target == .kilobitsPerSecond(1_500) && controller(sender).isRampingUp)
    #expect(worst < .milliseconds(10), "\(worst)")
    #expect(sender.lostCount == 0)
  }

  @Test func `the ramp-up takes steps of at most QBOUND by the round trip and the filters`() {
    let sender = SimulatedSender(settings: makeSettings(start: 150, maximum: 1_500))
    let network = network(10_000, [sender])
    network.run(seconds: 20)
    let rises = sender.changes.filter { $0.reason == .delayIncrease }
    // 50 ms of 100 ms round trip, 100 ms of feedback and 120 ms of filters; frames differ by a tenth.
    let bound = 1 + 50.0 / (100 + 100 + 120)
    #expect(rises.count > 5)
    #expect(rises.allSatisfy { $0.after.bits <= $0.before.bits * bound * 1.12 + 1_000 }, "\(rises)")
  }

  @Test(arguments: [(600, 42), (800, 31), (1_000, 25)] as [(Int64, Int64)])
  func `the standing queue is the reference delay by the share of the maximum`(rate: Int64, milliseconds: Int64) {
    let sender = SimulatedSender(settings: makeSettings())
    let network = network(rate, [sender])
    network.run(seconds: 60)
    var (sum, count) = (0.0, 0)
    for _ in 0..<200 {
      network.run(milliseconds: 100)
      sum += controller(sender).congestion.inMilliseconds
      count += 1
    }
    // x = PRIO * XREF * RMAX / r at equilibrium (RFC 8698 section 4.3).
    let mean = sum / Double(count)
    #expect(abs(mean - Double(milliseconds)) <= 0.35 * Double(milliseconds), "\(mean)")
    #expect(abs(sender.target.kilobits / Double(rate) - 1) < 0.1, "\(sender.target)")
  }

  @Test func `random loss lowers the rate on a link with room, and its end raises it`() {
    let sender = SimulatedSender(settings: makeSettings(maximum: 2_000))
    let network = network(4_000, [sender])
    network.run(seconds: 20)
    #expect(sender.target == .kilobitsPerSecond(2_000))
    network.link.loss = 0.05
    network.run(seconds: 20)
    // 5 % count as 25 times DLOSS, 250 ms: r = 10 ms * 2 Mbit/s / 250 ms is below the minimum.
    #expect(sender.target < .kilobitsPerSecond(400), "\(sender.target)")
    #expect(abs(sender.estimator.target.lossRatio - 0.05) < 0.04)
    network.link.loss = 0
    network.run(seconds: 20)
    #expect(sender.target == .kilobitsPerSecond(2_000), "\(sender.target)")
  }

  /// Two flows whose frames do not keep their phase: else the packets of one would always wait for those of the other.
  private func pair(priority: Double = 1, late: Int64 = 0, seed: UInt64) -> [SimulatedSender] {
    var other = makeSettings()
    other.framesPerSecond = 28
    other.starts = .seconds(late)
    return [
      SimulatedSender(settings: makeSettings(priority: priority), seed: seed),
      SimulatedSender(settings: other, index: 1, seed: seed),
    ]
  }

  @Test(arguments: 1...2) func `two flows converge to equal shares`(seed: UInt64) {
    let senders = pair(seed: seed)
    let network = network(2_000, senders, seed: seed)
    network.run(seconds: 60)
    let shares = self.shares(of: senders, over: 40, in: network)
    #expect(shares.min()! >= 0.7 * shares.max()! && shares.reduce(0, +) >= 0.85, "\(shares)")
  }

  @Test(arguments: 1...2) func `a flow that takes the queue of another for the empty path starves neither`(seed: UInt64)
  {
    let senders = pair(late: 10, seed: seed)
    let network = network(2_000, senders, seed: seed)
    network.run(seconds: 60)
    let shares = self.shares(of: senders, over: 40, in: network)
    // Its smallest delay contains the standing queue, as in all control by one-way delay.
    #expect(shares.min()! >= 0.2 && shares.reduce(0, +) >= 0.85, "\(shares)")
  }

  @Test func `a flow of twice the priority gets about twice the rate`() {
    let senders = pair(priority: 2, seed: 1)
    let network = network(2_000, senders)
    network.run(seconds: 60)
    let shares = self.shares(of: senders, over: 40, in: network)
    #expect((1.5...2.6).contains(shares[0] / shares[1]), "\(shares)")
  }

  @Test func `a link that stops halves the rate each second`() {
    let sender = SimulatedSender(settings: makeSettings())
    let network = network(2_500, [sender])
    network.run(seconds: 20)
    network.link.pausedUntil = network.now + .seconds(30)
    network.run(seconds: 6)
    #expect(sender.target <= .kilobitsPerSecond(200), "\(sender.target)")
    #expect(sender.changes.contains { $0.reason == .roundTripBackoff })
  }

  @Test func `a REMB caps the rate, and its end lets it rise again`() {
    let sender = SimulatedSender(settings: makeSettings())
    let network = network(3_000, [sender])
    network.run(seconds: 20)
    sender.estimator.receiveEstimate(.kilobitsPerSecond(250), at: network.now)
    network.run(seconds: 1)
    #expect(sender.target == .kilobitsPerSecond(250) && sender.changes.last?.reason == .remb)
    sender.estimator.receiveEstimate(.zero, at: network.now)
    network.run(seconds: 20)
    #expect(sender.target > .kilobitsPerSecond(2_000), "\(sender.target)")
  }

  @Test func `an application that sends less is not promised far more`() {
    let sender = SimulatedSender(settings: makeSettings(start: 150))
    sender.fixedRate = .kilobitsPerSecond(300)
    let network = network(10_000, [sender])
    network.run(seconds: 30)
    // One and a half times the most that arrives in half a second.
    #expect(sender.target <= .kilobitsPerSecond(600), "\(sender.target)")
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
}
