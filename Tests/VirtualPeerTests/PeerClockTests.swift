import CallCore
import SimNet
import Testing

@testable import VirtualPeer

@Suite struct PeerClockTests {
  private func clock() throws -> PeerClock {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    return HostRuntime(simulator: simulator, host: try simulator.addHost("alice"), wallClock: WallClock()).clock
  }

  @Test func `to cancel a call that was made leaves the one that took its place`() throws {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    let host = HostRuntime(simulator: simulator, host: try simulator.addHost("alice"), wallClock: WallClock())
    let clock = host.clock
    var calls: [String] = []
    let first = clock.schedule(after: .seconds(1)) { calls.append("first") }
    simulator.run(until: .zero + .seconds(2))
    let second = clock.schedule(after: .seconds(1)) { calls.append("second") }
    first.cancel()
    #expect(clock.pendingCount == 1)
    simulator.run(until: .zero + .seconds(4))
    #expect(calls == ["first", "second"])
    second.cancel()
    #expect(clock.pendingCount == 0)
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
