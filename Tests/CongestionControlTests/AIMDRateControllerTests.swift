import CallCore
import Testing

@testable import CongestionControl

/// The figures of libwebrtc's aimd_rate_control_unittest.
@Suite struct AIMDRateControllerTests {
  @Test(arguments: [(30, 200, 4), (90, 200, 5), (60, 100, 5), (216, 200, 12)] as [(Int64, Int64, Double)])
  func `near the maximum the rate grows by a packet in two response times`(
    kilobits: Int64, roundTrip: Int64, expected: Double
  ) {
    var control = AIMDRateController()
    control.roundTrip = .milliseconds(roundTrip)
    control.setEstimate(.kilobitsPerSecond(kilobits), at: .zero)
    #expect(abs(control.nearMaximumIncrease / 1_000 - expected) < 1e-9)
  }

  @Test func `the rate rises to one and a half times the throughput and ten kilobits`() {
    var control = AIMDRateController()
    control.setEstimate(.kilobitsPerSecond(10), at: .zero)
    for step in 1...200 as ClosedRange<Int64> {
      control.update(.normal, acknowledged: .kilobitsPerSecond(10), at: .zero + .milliseconds(100) * step)
    }
    #expect(control.rate == .kilobitsPerSecond(25))
  }

  @Test func `a throughput that falls does not lower the rate`() {
    var control = AIMDRateController()
    control.setEstimate(.kilobitsPerSecond(100), at: .zero)
    for step in 1...400 as ClosedRange<Int64> {
      let acknowledged = DataRate.kilobitsPerSecond(step <= 200 ? 100 : 50)
      control.update(.normal, acknowledged: acknowledged, at: .zero + .milliseconds(100) * step)
    }
    #expect(control.rate == .kilobitsPerSecond(160))
  }

  @Test func `over-use lowers the rate below the throughput, and never raises it`() {
    var control = AIMDRateController()
    control.setEstimate(.kilobitsPerSecond(300), at: .zero)
    control.update(.overusing, acknowledged: .kilobitsPerSecond(200), at: .zero + .seconds(1))
    #expect(control.rate == .kilobitsPerSecond(165))
    // The throughput is above the rate: the capacity found before counts.
    control.update(.overusing, acknowledged: .kilobitsPerSecond(800), at: .zero + .seconds(2))
    #expect(control.rate == .kilobitsPerSecond(165))
  }

  @Test func `the rate is lowered again after a round trip, or at once when half of it arrives`() {
    var control = AIMDRateController()
    control.roundTrip = .milliseconds(100)
    control.setEstimate(.kilobitsPerSecond(300), at: .zero)
    #expect(!control.mayReduce(throughput: .kilobitsPerSecond(200), at: .zero + .milliseconds(99)))
    #expect(control.mayReduce(throughput: .kilobitsPerSecond(149), at: .zero + .milliseconds(1)))
    #expect(control.mayReduce(throughput: .kilobitsPerSecond(200), at: .zero + .milliseconds(100)))
    control.roundTrip = .seconds(1)
    #expect(control.mayReduce(throughput: .kilobitsPerSecond(200), at: .zero + .milliseconds(200)))
  }

  @Test func `the rate doubles in nine seconds while the capacity is unknown`() {
    var control = AIMDRateController()
    control.setStart(.kilobitsPerSecond(1_000))
    for step in 1...91 as ClosedRange<Int64> {
      control.update(.normal, acknowledged: .kilobitsPerSecond(4_000), at: .zero + .milliseconds(100) * step)
    }
    // 1.08 to the power of 9, and the smallest step, of 1 kbit/s, when the hold ends.
    #expect(abs(control.rate.kilobits - 2_001) < 0.2)
  }

  @Test func `the expected period is three seconds, and from two to fifty after over-use`() {
    var control = AIMDRateController()
    #expect(control.bandwidthPeriod == .seconds(3))
    control.setStart(.bitsPerSecond(5_500))
    control.update(.overusing, acknowledged: .bitsPerSecond(5_400), at: .zero)
    #expect(control.bandwidthPeriod == .seconds(2))
    control = AIMDRateController()
    control.setStart(.kilobitsPerSecond(10_010))
    control.update(.overusing, acknowledged: .kilobitsPerSecond(10), at: .zero)
    #expect(control.bandwidthPeriod == .seconds(50))
  }

  @Test func `without a start rate the throughput becomes the rate after five seconds`() {
    var control = AIMDRateController()
    for step in 0...50 as ClosedRange<Int64> {
      control.update(.normal, acknowledged: .kilobitsPerSecond(700), at: .zero + .milliseconds(100) * step)
    }
    #expect(!control.isInitialised)
    control.update(.normal, acknowledged: .kilobitsPerSecond(700), at: .zero + .milliseconds(5_001))
    #expect(control.isInitialised && abs(control.rate.kilobits - 700) < 60)
  }
}
