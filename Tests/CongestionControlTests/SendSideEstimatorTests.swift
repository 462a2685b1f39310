import CallCore
import Testing

@testable import CongestionControl

@Suite struct SendSideEstimatorTests {
  private func makeEstimator(_ kilobits: Int64) -> SendSideEstimator {
    var estimator = SendSideEstimator()
    estimator.setLimits(minimum: .zero, maximum: nil)
    estimator.setStart(.kilobitsPerSecond(kilobits), at: .zero)
    return estimator
  }

  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test func `at the start a REMB raises the estimate, and later it only caps it`() {
    var estimator = makeEstimator(60)
    estimator.setReceiverLimit(.kilobitsPerSecond(120), at: at(0))
    estimator.update(at: at(25))
    #expect(estimator.target == .kilobitsPerSecond(120))
    estimator.setReceiverLimit(.kilobitsPerSecond(60), at: at(25))
    #expect(estimator.target == .kilobitsPerSecond(60) && estimator.targetReason == .remb)
    estimator.receiveReport(lost: 0, expected: 30, at: at(100))
    estimator.setReceiverLimit(.kilobitsPerSecond(500), at: at(2_200))
    estimator.update(at: at(2_200))
    #expect(estimator.target < .kilobitsPerSecond(150))
    estimator.setReceiverLimit(.zero, at: at(2_300))
    #expect(estimator.targetReason != .remb)
  }

  @Test func `little loss in reports raises the rate by 8 percent a second, and some holds it`() {
    for (lost, expected) in [(0, 1_080.0...1_200.0), (1, 1_080...1_200), (5, 1_000...1_000)]
      as [(Int, ClosedRange<Double>)]
    {
      var estimator = makeEstimator(1_000)
      estimator.receiveReport(lost: lost, expected: 100, at: at(0))
      for step in 0..<40 as Range<Int64> { estimator.update(at: at(3_000 + 25 * step)) }
      #expect(expected.contains(estimator.target.kilobits), "\(lost): \(estimator.target)")
    }
  }

  @Test func `much loss lowers the rate by half of it, once in 300 ms and a round trip, and once a report`() {
    var estimator = makeEstimator(1_000)
    estimator.setRoundTrip(.milliseconds(100))
    estimator.receiveReport(lost: 20, expected: 100, at: at(0))
    // The loss is kept in 1/256.
    let factor = 1 - 51.0 / 512
    #expect(abs(estimator.target.kilobits - 1_000 * factor) < 0.1 && estimator.targetReason == .reportedLoss)
    for step in 1...40 as ClosedRange<Int64> { estimator.update(at: at(25 * step)) }
    #expect(abs(estimator.target.kilobits - 1_000 * factor) < 0.1)
    estimator.receiveReport(lost: 20, expected: 100, at: at(1_100))
    estimator.receiveReport(lost: 20, expected: 100, at: at(1_499))
    #expect(abs(estimator.target.kilobits - 1_000 * factor * factor) < 0.1)
    estimator.receiveReport(lost: 20, expected: 100, at: at(1_500))
    #expect(abs(estimator.target.kilobits - 1_000 * factor * factor * factor) < 0.1)
  }

  @Test func `reports about fewer than twenty packets are added up`() {
    var estimator = makeEstimator(1_000)
    estimator.receiveReport(lost: 10, expected: 10, at: at(0))
    #expect(estimator.lossFraction == 0)
    estimator.receiveReport(lost: 0, expected: 10, at: at(100))
    #expect(estimator.lossFraction == 128)
  }

  @Test func `without feedback for three seconds the rate falls by a fifth each second, to five kilobits`() {
    var estimator = makeEstimator(1_000)
    for step in 0...120 as ClosedRange<Int64> {
      estimator.sent(at: at(25 * step))
      estimator.update(at: at(25 * step))
    }
    #expect(estimator.target == .kilobitsPerSecond(1_000) && !estimator.isBackingOff)
    for step in 121...200 as ClosedRange<Int64> {
      estimator.sent(at: at(25 * step))
      estimator.update(at: at(25 * step))
    }
    #expect(estimator.target == .kilobitsPerSecond(640) && estimator.targetReason == .roundTripBackoff)
    for step in 201...2_000 as ClosedRange<Int64> {
      estimator.sent(at: at(25 * step))
      estimator.update(at: at(25 * step))
    }
    #expect(estimator.target == .kilobitsPerSecond(5))
    // Nothing is sent, so nothing is missed.
    var silent = makeEstimator(1_000)
    silent.sent(at: at(0))
    for step in 0...400 as ClosedRange<Int64> { silent.update(at: at(25 * step)) }
    #expect(silent.target == .kilobitsPerSecond(1_000))
  }

  @Test func `the limits bound the rate`() {
    var estimator = makeEstimator(1_000)
    estimator.setLimits(minimum: .kilobitsPerSecond(100), maximum: .kilobitsPerSecond(500))
    estimator.update(at: at(25))
    #expect(estimator.target == .kilobitsPerSecond(500) && estimator.targetReason == .configured)
    estimator.setReceiverLimit(.kilobitsPerSecond(50), at: at(50))
    #expect(estimator.target == .kilobitsPerSecond(100))
  }

  @Test func `the stable rate falls at once and rises with a time constant of ten seconds`() {
    var tracker = StableRateTracker()
    tracker.setStart(.kilobitsPerSecond(300))
    tracker.target(.kilobitsPerSecond(1_300), acknowledged: .kilobitsPerSecond(2_000), at: at(0))
    #expect(tracker.rate == .kilobitsPerSecond(1_300))
    tracker.delayEstimate(.kilobitsPerSecond(300), at: at(0))
    #expect(tracker.rate == .kilobitsPerSecond(300))
    for step in 1...100 as ClosedRange<Int64> {
      tracker.target(.kilobitsPerSecond(1_300), acknowledged: .kilobitsPerSecond(2_000), at: at(100 * step))
    }
    #expect(abs(tracker.rate.kilobits - (1_300 - 1_000 * 0.36788)) < 1)
  }
}
