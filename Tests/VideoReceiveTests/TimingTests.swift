import CallCore
import RTP
import Testing

@testable import VideoReceive

@Suite struct JitterEstimatorTests {
  /// A sawtooth of delays, and sizes that follow it, as in libwebrtc's jitter_estimator_unittest.
  struct Sawtooth {
    var amplitude: Int64
    var counter: Int64 = 0

    var milliseconds: Int64 { (counter % 11 - 5) * amplitude }
    var size: Int { Int(1_000 + milliseconds / 5) }
  }

  func run(
    _ estimator: inout JitterEstimator, _ wave: inout Sawtooth, from start: Instant, frames: Int, rate: Int64
  ) -> Instant {
    var now = start
    for _ in 0..<frames {
      estimator.update(delay: .milliseconds(wave.milliseconds), size: wave.size, at: now)
      now += .seconds(1) / rate
      wave.counter += 1
    }
    return now
  }

  @Test func `a sawtooth of 50 ms converges to 54 ms`() {
    var (estimator, wave) = (JitterEstimator(), Sawtooth(amplitude: 10))
    let now = run(&estimator, &wave, from: .zero, frames: 1_800, rate: 30)
    let estimate = estimator.estimate(at: now)
    #expect(abs((estimate - .milliseconds(54)).nanoseconds) <= 500_000)
  }

  @Test func `one frame ten times as large raises the estimate by a quarter`() {
    var (estimator, wave) = (JitterEstimator(), Sawtooth(amplitude: 10))
    let now = run(&estimator, &wave, from: .zero, frames: 1_800, rate: 30)
    let before = estimator.estimate(at: now)
    estimator.update(delay: .milliseconds(wave.milliseconds), size: 10 * wave.size, at: now)
    let after = estimator.estimate(at: now)
    #expect(after > before.scaled(by: 1.25))
  }

  @Test func `a stream below five frames a second has no jitter, and one of seven and a half has half`() {
    var (slow, wave) = (JitterEstimator(), Sawtooth(amplitude: 10))
    var now = run(&slow, &wave, from: .zero, frames: 60, rate: 4)
    let none = slow.estimate(at: now)
    #expect(none == .zero)
    var (middle, fast) = (JitterEstimator(), JitterEstimator())
    var still = Sawtooth(amplitude: 0)
    // Frames of one size and no delay need the floor of 1 ms and the system's 10 ms.
    now = .zero
    for _ in 0..<60 {
      middle.update(delay: .zero, size: 1_000, at: now)
      now += .seconds(2) / 15
    }
    let half = middle.estimate(at: now)
    now = run(&fast, &still, from: .zero, frames: 60, rate: 30)
    let whole = fast.estimate(at: now)
    #expect(abs((half * 2 - whole).nanoseconds) < 2_000_000)
    #expect(whole >= .milliseconds(11) && whole < .milliseconds(13))
  }

  @Test func `from the third repaired frame on nine tenths of the round trip are added, at most 200 ms`() {
    var (estimator, wave) = (JitterEstimator(roundTrip: .milliseconds(100)), Sawtooth(amplitude: 0))
    let now = run(&estimator, &wave, from: .zero, frames: 60, rate: 30)
    let base = estimator.estimate(at: now)
    estimator.frameWasRequested(at: now)
    estimator.frameWasRequested(at: now)
    let two = estimator.estimate(at: now)
    estimator.frameWasRequested(at: now)
    let three = estimator.estimate(at: now)
    estimator.roundTrip = .seconds(1)
    let capped = estimator.estimate(at: now)
    let later = estimator.estimate(at: now + .seconds(61))
    #expect(two == base)
    #expect(abs((three - base - .milliseconds(90)).nanoseconds) < 1_000)
    #expect(abs((capped - base - .milliseconds(200)).nanoseconds) < 1_000)
    #expect(later == base)
  }

  @Test func `no input makes the estimate negative or longer than ten seconds and the additions`() {
    var random = RandomSource(seed: 3).stream("jitter")
    var estimator = JitterEstimator(roundTrip: .seconds(100))
    var now = Instant.zero
    for _ in 0..<5_000 {
      let delay = Interval(
        nanoseconds: random.chance(0.05)
          ? Int64(bitPattern: random.next()) : random.uniform(in: -1_000_000_000...1_000_000_000))
      estimator.update(delay: delay, size: Int(random.uniform(in: 0...5_000_000)), at: now)
      if random.chance(0.1) { estimator.frameWasRequested(at: now) }
      now += .milliseconds(random.uniform(in: 0...200))
      let estimate = estimator.estimate(at: now)
      if estimate < .zero || estimate > .milliseconds(10_210) { Issue.record("\(estimate) at \(now)") }
    }
  }
}

@Suite struct RenderTimingTests {
  @Test func `a steady stream is expected at its own pace`() {
    var extrapolator = TimestampExtrapolator(at: .zero)
    for index: Int64 in 0..<100 {
      extrapolator.update(
        timestamp: UInt32(truncatingIfNeeded: 0xFFFF_0000 + index * 3_000), at: .milliseconds(50 + index * 100 / 3))
    }
    let time = extrapolator.localTime(of: UInt32(truncatingIfNeeded: 0xFFFF_0000 + 100 * 3_000))
    let error = time.map { abs(($0 - Instant.milliseconds(50 + 10_000 / 3)).nanoseconds) } ?? .max
    #expect(error < 1_000_000)
  }

  @Test func `a clock that runs 0_1 percent slow is followed`() {
    var extrapolator = TimestampExtrapolator(at: .zero)
    for index: Int64 in 0..<1_000 {
      extrapolator.update(
        timestamp: UInt32(index * 3_000), at: Instant(nanoseconds: index * 33_333_333 * 1_001 / 1_000))
    }
    let error = extrapolator.localTime(of: 1_000 * 3_000).map {
      abs(($0 - Instant(nanoseconds: 1_000 * 33_333_333 * 1_001 / 1_000)).nanoseconds)
    }
    #expect(error ?? .max < 2_000_000)
  }

  @Test func `a path that grows by 300 ms is taken for drift at first, and followed after 150 frames`() {
    // Each frame exceeds the allowed drift by 7000 - 6600 ticks, and the alarm is at 60 000.
    func error(after frames: Int64) -> Int64 {
      var extrapolator = TimestampExtrapolator(at: .zero)
      for index in 0..<300 + frames {
        extrapolator.update(
          timestamp: UInt32(index * 3_000), at: .milliseconds(index * 100 / 3 + (index < 300 ? 0 : 300)))
      }
      let next = (300 + frames) * 100 / 3 + 300
      let time = extrapolator.localTime(of: UInt32((300 + frames) * 3_000))
      return time.map { abs(($0 - Instant.milliseconds(next)).nanoseconds) } ?? .max
    }
    #expect(error(after: 20) > 100_000_000)
    #expect(error(after: 155) < 20_000_000)
  }

  @Test func `before the first frame nothing is expected, and after silence the clock is new`() {
    var extrapolator = TimestampExtrapolator(at: .zero)
    #expect(extrapolator.localTime(of: 5) == nil)
    extrapolator.update(timestamp: 1_000, at: .milliseconds(10))
    #expect(extrapolator.localTime(of: 1_900) == .milliseconds(20))
    extrapolator.update(timestamp: 77, at: .milliseconds(20_000))
    #expect(extrapolator.localTime(of: 977) == .milliseconds(20_010))
  }

  @Test func `the delay covers jitter, decoding and rendering, and not less than the minimum`() {
    var timing = RenderTiming(at: .zero)
    timing.setJitterDelay(.milliseconds(30))
    #expect(timing.targetDelay == .milliseconds(40))
    for index: Int64 in 0..<25 { timing.frameDecoded(in: .milliseconds(7), at: .milliseconds(index * 33)) }
    #expect(timing.targetDelay == .milliseconds(47))
    timing.settings.minimumDelay = .milliseconds(500)
    #expect(timing.targetDelay == .milliseconds(500))
  }

  @Test func `the delay moves by at most 100 ms in a second of media`() {
    var timing = RenderTiming(at: .zero)
    timing.setJitterDelay(.milliseconds(10))
    timing.updateDelay(timestamp: 0, renderTime: .milliseconds(1_000), at: .zero)
    timing.setJitterDelay(.milliseconds(400))
    let before = timing.currentDelay
    for index: UInt32 in 1...30 {
      timing.updateDelay(timestamp: index * 3_000, renderTime: .milliseconds(100_000), at: .zero)
    }
    #expect(abs((timing.currentDelay - before - .milliseconds(100)).nanoseconds) < 1_000)
    // The same frame again, or an older one, does not move it.
    let after = timing.currentDelay
    timing.updateDelay(timestamp: 30 * 3_000, renderTime: .milliseconds(100_000), at: .zero)
    timing.updateDelay(timestamp: 3_000, renderTime: .milliseconds(100_000), at: .zero)
    #expect(timing.currentDelay == after)
  }

  @Test func `a frame that was late raises the delay at once, up to the target`() {
    var timing = RenderTiming(at: .zero)
    timing.setJitterDelay(.milliseconds(10))
    timing.setJitterDelay(.milliseconds(90))
    timing.updateDelay(timestamp: 0, renderTime: .milliseconds(100), at: .milliseconds(120))
    #expect(timing.currentDelay == .milliseconds(40))
    timing.updateDelay(timestamp: 0, renderTime: .milliseconds(100), at: .milliseconds(900))
    #expect(timing.currentDelay == .milliseconds(100))
  }

  @Test func `a frame is decoded as long before its time as decoding and rendering take`() {
    var timing = RenderTiming(at: .zero)
    for index: Int64 in 0..<25 { timing.frameDecoded(in: .milliseconds(7), at: .milliseconds(index * 33)) }
    #expect(timing.wait(untilRendering: .milliseconds(100), queued: 1, at: .zero) == .milliseconds(83))
    #expect(timing.wait(untilRendering: .milliseconds(100), queued: 1, at: .milliseconds(90)) == .milliseconds(-7))
  }

  @Test func `without a delay frames are 8 ms apart, and at once when more than eight wait`() {
    var timing = RenderTiming(at: .zero)
    timing.settings.maximumDelay = .milliseconds(500)
    #expect(timing.isLowLatency)
    timing.updateDelay(timestamp: 0, renderTime: .zero, at: .milliseconds(100))
    #expect(timing.renderTime(of: 3_000, at: .milliseconds(103)) == .milliseconds(103))
    #expect(timing.wait(untilRendering: .zero, queued: 8, at: .milliseconds(103)) == .milliseconds(5))
    #expect(timing.wait(untilRendering: .zero, queued: 9, at: .milliseconds(103)) == .zero)
    #expect(timing.wait(untilRendering: .zero, queued: 1, at: .milliseconds(108)) == .zero)
    timing.settings.maximumDelay = .milliseconds(501)
    #expect(!timing.isLowLatency)
  }

  @Test func `times more than ten seconds away are not plausible`() {
    var timing = RenderTiming(at: .zero)
    #expect(!timing.isImplausible(.milliseconds(10_000), at: .zero))
    #expect(timing.isImplausible(.milliseconds(10_001), at: .zero))
    #expect(timing.isImplausible(.zero, at: .milliseconds(10_001)))
    timing.settings.minimumDelay = .milliseconds(10_001)
    #expect(timing.isImplausible(.zero, at: .zero))
  }

  @Test func `decode times are the 95th percentile of ten seconds`() {
    var times = DecodeTimes()
    // The first five are ignored.
    for _ in 0..<5 { times.append(.seconds(1), at: .zero) }
    for index: Int64 in 0..<100 {
      times.append(.milliseconds(index % 100 < 94 ? 5 : 40), at: .milliseconds(index * 30))
    }
    #expect(times.percentile == .milliseconds(40))
    times.append(.milliseconds(6), at: .milliseconds(14_000))
    #expect(times.percentile == .milliseconds(6))
  }
}
