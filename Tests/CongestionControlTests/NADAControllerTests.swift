import CallCore
import Testing

@testable import CongestionControl

/// The equations of RFC 8698, one by one.
@Suite struct NADAControllerTests {
  /// A controller on a path whose packets take `queue` more than the smallest delay.
  private struct Path {
    var controller: NADAController
    var now = Instant.zero
    private var number: Int64 = 0

    init(start: Int64 = 1_000, maximum: Int64 = 2_000) {
      var settings = NADAController.Settings()
      settings.startRate = .kilobitsPerSecond(start)
      settings.maximumRate = .kilobitsPerSecond(maximum)
      controller = NADAController(settings: settings)
      controller.setAvailable(true, at: .zero)
    }

    /// Lets ten packets leave within 100 ms, and reports them.
    mutating func step(queue: Int64 = 0, lost: Int = 0, byteCount: Int = 1_250) {
      let results = (0..<10).map { index in
        number += 1
        let sent = now + .milliseconds(Int64(index) * 10)
        controller.sent(byteCount: byteCount, at: sent)
        return TransportSequencer.Result(
          number: number, byteCount: byteCount, sent: sent,
          arrived: index < lost ? nil : sent + .milliseconds(20 + queue))
      }
      now += .milliseconds(100)
      controller.receive(results, at: now + .milliseconds(20 + queue))
    }
  }

  @Test func `it begins with the start rate`() {
    var path = Path()
    #expect(path.controller.target.target == .kilobitsPerSecond(1_000))
    #expect(path.controller.target.pacing == .kilobitsPerSecond(1_100))
    let change = path.controller.nextChange()
    #expect(change?.reason == .configured && change?.after == .kilobitsPerSecond(1_000))
  }

  @Test func `the ramp-up raises the rate to a multiple of what arrives`() {
    var path = Path(maximum: 5_000)
    for _ in 0..<20 { path.step() }
    // 1 Mbit/s arrives; the round trip is that of the newest packet, 30 ms with the wait of 10 ms.
    let roundTrip = path.controller.target.roundTrip.inMilliseconds
    let step = min(0.5, 50 / (roundTrip + 100 + 120))
    #expect(path.controller.isRampingUp)
    #expect(abs(path.controller.target.target.kilobits - 1_000 * (1 + step)) < 15, "\(path.controller.target)")
  }

  @Test func `a queue of the reference delay keeps the rate`() {
    var path = Path(maximum: 2_000)
    for _ in 0..<10 { path.step() }
    // After the minimum filter.
    for _ in 0..<4 { path.step(queue: 20) }
    let before = path.controller.target.target
    let level = path.controller.congestion
    #expect(level == .milliseconds(20) && !path.controller.isRampingUp)
    path.step(queue: 20)
    // x_offset = 20 ms - 10 ms * 2000 / r: the sign follows.
    let balance = 10.0 * 2_000 / before.kilobits
    let after = path.controller.target.target
    #expect((after < before) == (20 > balance), "\(before) \(after)")
  }

  @Test func `the gradual update is that of equation 7`() {
    var path = Path(maximum: 2_000)
    for _ in 0..<10 { path.step() }
    for _ in 0..<4 { path.step(queue: 30) }
    let before = path.controller.target.target.bits
    let old = path.controller.congestion.seconds
    path.step(queue: 40)
    path.step(queue: 40)
    let now = path.controller.congestion.seconds
    #expect(abs(old - 0.03) < 1e-9 && abs(now - 0.04) < 1e-9)
    // The minimum filter of 15 holds the first step at 30 ms.
    let first = before * (1 - 0.5 * 0.2 * (0.03 - 0.01 * 2e6 / before) / 0.5)
    // Feedback takes 10 ms longer than the one before: 110 ms in one of the two.
    let second = first * (1 - 0.5 * 0.2 * (0.04 - 0.01 * 2e6 / first) / 0.5 - 0.5 * 2 * 0.01 / 0.5)
    #expect(abs(path.controller.target.target.bits - second) < 0.002 * second)
  }

  @Test func `loss counts by its square`() {
    var path = Path()
    for _ in 0..<10 { path.step() }
    path.step(lost: 1)
    // A tenth of the newest share: 1 of 60 packets of the window.
    let ratio = path.controller.target.lossRatio
    #expect(abs(ratio - 0.1 / 60) < 1e-9, "\(ratio)")
    #expect(abs(path.controller.congestion.seconds - 0.01 * (ratio * 100) * (ratio * 100)) < 1e-8)
    #expect(!path.controller.isRampingUp)
  }

  @Test func `a long queue counts less while there is loss`() {
    var path = Path()
    for _ in 0..<10 { path.step() }
    for _ in 0..<4 { path.step(queue: 150) }
    #expect(path.controller.congestion == .milliseconds(150))
    path.step(queue: 150, lost: 1)
    path.step(queue: 150, lost: 1)
    // 50 ms * exp(-0.5 * (150 - 50) / 50), and the loss.
    let warped = 0.05 * ElementaryFunctions.exp(-1)
    let ratio = path.controller.target.lossRatio * 100
    #expect(abs(path.controller.congestion.seconds - warped - 0.01 * ratio * ratio) < 1e-6)
  }

  @Test func `what waits at the sender lowers the rate of the encoder and raises that of sending`() {
    var path = Path()
    path.controller.setQueue(byteCount: 1_000)
    // 0.1 * 8 * 1000 * 30 is 24 kbit/s.
    #expect(path.controller.target.target == .kilobitsPerSecond(976))
    #expect(path.controller.target.pacing == .bitsPerSecond(1_126_400))
    path.controller.setQueue(byteCount: 1_000_000)
    #expect(path.controller.target.target == .kilobitsPerSecond(950))
  }

  @Test func `another route begins with its start rate and its own delays`() {
    var path = Path()
    for _ in 0..<10 { path.step() }
    path.controller.changeRoute(start: .kilobitsPerSecond(400), at: path.now)
    #expect(path.controller.target.target == .kilobitsPerSecond(400))
    // A longer delay of the new route is no queue.
    for _ in 0..<10 { path.step(queue: 80) }
    #expect(path.controller.congestion == .zero && path.controller.isRampingUp)
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `no feedback, however wrong, makes it stop or leave its limits`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("hostile")
    var settings = NADAController.Settings()
    settings.maximumRate = .kilobitsPerSecond(4_000)
    var controller = CongestionController(NADAController(settings: settings))
    var now = Instant.zero
    controller.setAvailable(true, at: now)
    for step in 0..<400 as Range<Int64> {
      now += .microseconds(Int64(random.uniform(below: 60_000)))
      for _ in 0..<random.uniform(below: 4) { controller.sent(byteCount: 1_200, bytesInFlight: 0, at: now) }
      var results: [TransportSequencer.Result] = []
      for _ in 0..<random.uniform(below: 8) {
        let time = Interval(nanoseconds: Int64(bitPattern: random.next()) >> Int64(random.uniform(below: 64)))
        results.append(
          TransportSequencer.Result(
            number: step, byteCount: Int(random.uniform(below: 2_000)),
            sent: now - .microseconds(Int64(random.uniform(below: 5_000_000))),
            arrived: random.chance(0.2) ? nil : .zero + time, probe: nil))
      }
      controller.receive(results, bytesInFlight: 0, at: now)
      if random.chance(0.1) { controller.receiveEstimate(.bitsPerSecond(random.uniform(in: 0...1 << 62)), at: now) }
      controller.receiveReport(lost: 3, received: 30, at: now)
      controller.setRoundTrip(.nanoseconds(random.uniform(in: 0...1 << 62)), at: now)
      controller.process(at: now)
      #expect(controller.nextProbe() == nil)
      while controller.nextChange() != nil {}
      let target = controller.target
      #expect(target.target > .zero && target.target <= .kilobitsPerSecond(4_000))
      #expect(target.pacing >= target.target && target.stable <= target.target)
    }
  }
}
