import CallCore
import Testing

@testable import CongestionControl

@Suite struct ThroughputEstimatorTests {
  /// Adds packets of 1000 bytes with a spacing in milliseconds at both ends.
  private func add(
    _ count: Int, to estimator: inout ThroughputEstimator, sent: inout Int64, arrived: inout Int64, each: Int64,
    arrivingEach: Int64? = nil
  ) {
    for _ in 0..<count {
      sent += each
      arrived += arrivingEach ?? each
      let packet = TransportSequencer.Result(
        number: sent, byteCount: 1_000, sent: .zero + .milliseconds(sent), arrived: .zero + .milliseconds(arrived))
      estimator.add(packet, arrived: .zero + .milliseconds(arrived))
    }
  }

  @Test func `ten packets give the rate at which they came`() {
    var estimator = ThroughputEstimator()
    var (sent, arrived) = (Int64(0), Int64(0))
    add(9, to: &estimator, sent: &sent, arrived: &arrived, each: 10)
    #expect(estimator.rate == nil)
    add(1, to: &estimator, sent: &sent, arrived: &arrived, each: 10)
    #expect(estimator.rate == .kilobitsPerSecond(800))
  }

  @Test func `the slower end counts`() {
    for (sending, arriving) in [(10, 20), (20, 10)] as [(Int64, Int64)] {
      var estimator = ThroughputEstimator()
      var (sent, arrived) = (Int64(0), Int64(0))
      add(40, to: &estimator, sent: &sent, arrived: &arrived, each: sending, arrivingEach: arriving)
      #expect(estimator.rate == .kilobitsPerSecond(400))
    }
  }

  @Test func `a pause of the network does not lower the rate`() {
    var estimator = ThroughputEstimator()
    var (sent, arrived) = (Int64(0), Int64(0))
    add(20, to: &estimator, sent: &sent, arrived: &arrived, each: 10)
    // What was sent in the pause comes at once after it.
    arrived += 200
    add(20, to: &estimator, sent: &sent, arrived: &arrived, each: 10, arrivingEach: 1)
    #expect(estimator.rate == .kilobitsPerSecond(800))
  }

  @Test func `a change is measured within a second`() {
    var estimator = ThroughputEstimator()
    var (sent, arrived) = (Int64(0), Int64(0))
    add(200, to: &estimator, sent: &sent, arrived: &arrived, each: 10)
    add(51, to: &estimator, sent: &sent, arrived: &arrived, each: 20)
    #expect(estimator.rate == .kilobitsPerSecond(400))
  }

  @Test func `a packet that comes seconds late does not lower the rate`() {
    var estimator = ThroughputEstimator()
    var (sent, arrived) = (Int64(0), Int64(0))
    add(400, to: &estimator, sent: &sent, arrived: &arrived, each: 10)
    var late = sent - 3_000
    add(1, to: &estimator, sent: &late, arrived: &arrived, each: 1)
    add(5, to: &estimator, sent: &sent, arrived: &arrived, each: 10)
    #expect(estimator.rate.map { abs($0.kilobits - 800) <= 10 } == true)
  }

  @Test func `bytes without numbers count`() {
    var estimator = ThroughputEstimator()
    for step in 1...20 as ClosedRange<Int64> {
      let time = Instant.zero + .milliseconds(10) * step
      let packet = TransportSequencer.Result(
        number: step, byteCount: 500, sent: time, arrived: time, unnumberedByteCount: 500)
      estimator.add(packet, arrived: time)
    }
    #expect(estimator.rate == .kilobitsPerSecond(800))
  }
}
