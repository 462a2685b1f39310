import CallCore
import SimNet
import Testing

@testable import VirtualPeer

@Suite struct PeerClockTests {
  private func clock() throws -> PeerClock {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    return HostRuntime(simulator: simulator, host: try simulator.addHost("alice"), wallClock: WallClock()).clock
  }

  @Test(arguments: [-1, 1] as [Int64])
  func `however often a clock jumps, it stays within the dates that it can show`(sign: Int64) throws {
    let clock = try clock()
    let year = Interval.seconds(8_760 * 3_600)
    for _ in 0..<600 { clock.jump(by: .nanoseconds(sign * year.nanoseconds)) }
    let end = sign > 0 ? PeerClock.dates.upperBound : PeerClock.dates.lowerBound
    #expect(clock.wallClock.unixNanosecondsAtStart == end)
    // Every run ends within a year.
    let later = clock.wallClock.unixNanoseconds(at: .zero + year)
    #expect(later == end + year.nanoseconds)
    #expect(clock.wallClock.ntpTimestamp(at: .zero + year) > 0)
    clock.jump(by: .nanoseconds(-sign * year.nanoseconds))
    #expect(clock.wallClock.unixNanosecondsAtStart == end - sign * year.nanoseconds)
  }
}
