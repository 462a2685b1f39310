import CallCore
import Testing

@testable import CongestionControl

/// The rules and figures of libwebrtc's probe_controller_unittest.
@Suite struct ProbeControllerTests {
  private struct Controller {
    var controller = ProbeController()
    var now = Instant.zero + .seconds(10)
    private var queue = FIFO<ProbeCluster>()

    /// Makes a controller of a path that can send.
    init(start: Int64 = 300, maximum: Int64? = nil, settings: ProbeController.Settings = .init()) {
      controller = ProbeController(settings: settings, at: now)
      controller.setAvailable(true, into: &queue, at: now)
      controller.setRates(
        minimum: .kilobitsPerSecond(5), start: .kilobitsPerSecond(start),
        maximum: maximum.map { .kilobitsPerSecond($0) }, into: &queue, at: now)
    }

    /// The rates of new probes in kbit/s.
    mutating func taken() -> [Int64] { clusters().map { $0.rate.bitsPerSecond / 1_000 } }

    mutating func clusters() -> [ProbeCluster] {
      var all: [ProbeCluster] = []
      while let next = queue.popFirst() { all.append(next) }
      return all
    }

    mutating func estimate(_ kilobits: Int64, limit: ProbeController.Limit = .none) {
      controller.setEstimate(.kilobitsPerSecond(kilobits), limit: limit, into: &queue, at: now)
    }

    mutating func pass(seconds: Int64) {
      for _ in 0..<seconds * 40 {
        now += .milliseconds(25)
        controller.process(into: &queue, at: now)
      }
    }

    mutating func setMaximum(_ kilobits: Int64) {
      controller.setRates(
        minimum: .kilobitsPerSecond(5), start: nil, maximum: .kilobitsPerSecond(kilobits), into: &queue, at: now)
    }

    mutating func setAllocated(_ kilobits: Int64) {
      controller.setAllocated(.kilobitsPerSecond(kilobits), into: &queue, at: now)
    }

    mutating func recover() { controller.recovered(into: &queue, at: now) }

    /// Ends the initial probes without a result.
    mutating func finishStart() {
      pass(seconds: 2)
      _ = taken()
    }
  }

  @Test func `it begins at three and six times the start rate, with five packets and 15 ms`() {
    var controller = Controller()
    let clusters = controller.clusters()
    #expect(clusters.map(\.rate.kilobits) == [900, 1_800])
    #expect(clusters.allSatisfy { $0.packetCount == 5 && $0.duration == .milliseconds(15) })
    #expect(clusters[0].id != clusters[1].id && clusters[0].byteCount == 1_687)
  }

  @Test func `a result above 0_7 of the probe leads to one of twice its rate, within a second`() {
    var controller = Controller(maximum: 100_000)
    _ = controller.taken()
    controller.estimate(1_260)
    #expect(controller.taken() == [])
    controller.estimate(1_800)
    #expect(controller.taken() == [3_600])
    controller.pass(seconds: 2)
    controller.estimate(3_600)
    #expect(controller.taken() == [])
  }

  @Test func `a probe is limited by the maximum, by 5 Mbit_s without one, and by twice what is allocated`() {
    var controller = Controller(maximum: 1_000)
    #expect(controller.taken() == [900, 1_000])
    controller = Controller(start: 2_000)
    #expect(controller.taken() == [5_000, 5_000])
    controller = Controller()
    controller.setAllocated(1_000)
    _ = controller.taken()
    controller.estimate(1_800)
    #expect(controller.taken() == [2_000])
  }

  @Test func `a maximum that is raised above the estimate is probed`() {
    var controller = Controller(maximum: 500)
    controller.finishStart()
    controller.setMaximum(600)
    #expect(controller.taken() == [600])
    controller.setMaximum(550)
    controller.estimate(700)
    controller.setMaximum(650)
    #expect(controller.taken() == [])
  }

  @Test func `while the application is limited it probes each five seconds, if asked`() {
    for isEnabled in [true, false] {
      var settings = ProbeController.Settings()
      settings.probesWhileApplicationLimited = isEnabled
      var controller = Controller(settings: settings)
      controller.finishStart()
      controller.estimate(500)
      controller.controller.limitedStart = controller.now
      controller.pass(seconds: 4)
      #expect(controller.taken() == [])
      controller.pass(seconds: 2)
      #expect(controller.taken() == (isEnabled ? [1_000] : []))
      controller.pass(seconds: 6)
      #expect(controller.taken() == (isEnabled ? [1_000] : []))
    }
  }

  @Test func `a higher allocation is probed while the application is limited`() {
    var controller = Controller()
    controller.finishStart()
    controller.estimate(500)
    controller.setAllocated(600)
    #expect(controller.taken() == [])
    controller.controller.limitedStart = controller.now
    controller.setAllocated(700)
    // One and two times the allocation, and no more than twice the estimate.
    #expect(controller.taken() == [700, 1_000])
  }

  @Test func `after a large drop in a limited region the old rate is probed, once in five seconds`() {
    var controller = Controller()
    controller.finishStart()
    controller.pass(seconds: 5)
    controller.controller.limitedStart = controller.now
    controller.estimate(500)
    controller.estimate(320)
    controller.recover()
    #expect(controller.taken() == [425])
    controller.estimate(500)
    controller.estimate(320)
    controller.recover()
    #expect(controller.taken() == [])
  }

  @Test func `a drop is not probed when it is small, long ago or without a limited region`() {
    for (drop, wait, isLimited, expected) in [
      (320, 1, true, [425]), (340, 1, true, []), (320, 6, true, []), (320, 1, false, []),
    ] as [(Int64, Int64, Bool, [Int64])] {
      var controller = Controller()
      controller.finishStart()
      controller.pass(seconds: 5)
      controller.estimate(500)
      if isLimited { controller.controller.limitedEnd = controller.now + .seconds(wait) }
      controller.estimate(drop)
      controller.pass(seconds: wait)
      controller.recover()
      #expect(controller.taken() == expected)
    }
  }

  @Test func `nothing is probed on a congested path, and less while loss lets the estimate rise`() {
    for (limit, expected) in [
      (.none, [1_000]), (.delay, []), (.roundTrip, []), (.loss, []), (.risingLoss, [750]),
    ] as [(ProbeController.Limit, [Int64])] {
      var settings = ProbeController.Settings()
      settings.probesWhileApplicationLimited = true
      var controller = Controller(settings: settings)
      controller.finishStart()
      controller.estimate(500, limit: limit)
      controller.controller.limitedStart = controller.now
      controller.pass(seconds: 6)
      #expect(controller.taken().prefix(1) == expected[...], "\(limit)")
    }
  }

  @Test func `the initial probes are repeated for five seconds, longer ones, if asked`() {
    var settings = ProbeController.Settings()
    settings.repeatsInitialProbes = true
    var controller = Controller(settings: settings)
    #expect(controller.clusters().allSatisfy { $0.duration == .milliseconds(100) && $0.slot == .milliseconds(20) })
    controller.pass(seconds: 2)
    #expect(controller.taken() == [900])
    controller.pass(seconds: 10)
    #expect(controller.taken() == [900, 900, 900])
    controller.pass(seconds: 10)
    #expect(controller.taken() == [])
  }

  @Test func `another path is probed anew`() {
    var controller = Controller()
    controller.finishStart()
    controller.controller.reset(at: controller.now)
    controller.setMaximum(10_000)
    #expect(controller.taken() == [15, 30])
  }
}
