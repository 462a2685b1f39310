import CallCore
import Testing

@Suite struct TimeTests {
  @Test func `intervals print with the largest readable unit`() {
    #expect(Interval.milliseconds(1_500).description == "1.5s")
    #expect(Interval.microseconds(250).description == "250us")
    #expect(Interval.nanoseconds(-20_000_001).description == "-20.000001ms")
    #expect(Interval.zero.description == "0s")
  }

  @Test func `arithmetic saturates instead of trapping`() {
    let huge = Interval(nanoseconds: .max)
    #expect(huge + .seconds(1) == huge)
    #expect(-huge - .seconds(5) == Interval(nanoseconds: .min))
    #expect(huge * -2 == Interval(nanoseconds: .min))
    #expect(Instant(nanoseconds: .max) + .seconds(1) == Instant(nanoseconds: .max))
    #expect(huge.scaled(by: 4) == huge)
  }

  @Test func `serialisation time rounds up to a whole nanosecond`() {
    #expect(DataRate.megabitsPerSecond(1).transmissionTime(byteCount: 1_250) == .milliseconds(10))
    #expect(DataRate.bitsPerSecond(3).transmissionTime(byteCount: 1) == .nanoseconds(2_666_666_667))
    #expect(DataRate.bitsPerSecond(1).transmissionTime(byteCount: .max / 8) == Interval(nanoseconds: .max))
  }

  @Test func `a drifting wall clock runs ahead of virtual time`() {
    let clock = WallClock(skew: .seconds(2), driftPPM: 100)
    #expect(clock.unixSeconds(at: .zero) == 1_767_225_602)
    #expect(clock.unixNanoseconds(at: .zero + .seconds(1_000)) - clock.unixNanoseconds(at: .zero) == 1_000_100_000_000)
    #expect(WallClock().ntpTimestamp(at: .zero) >> 32 == 1_767_225_600 + 2_208_988_800)
  }
}
