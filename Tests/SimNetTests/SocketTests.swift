import CallCore
import Testing

@testable import SimNet

@Suite struct SocketTests {
  @Test func `work for after an event comes before the next one, and between events at once`() throws {
    let pair = try Pair()
    var order: [String] = []
    pair.a.onTimer = { token in
      pair.simulator.afterEvent {
        order.append("after \(token)")
        // What is asked for by then is between events.
        pair.simulator.afterEvent { order.append("at once") }
      }
      order.append("event \(token)")
    }
    for token in [1, 2] as [UInt64] {
      _ = pair.simulator.schedule(pair.aHost, at: .zero + .milliseconds(5), token: token)
    }
    pair.simulator.afterEvent { order.append("before") }
    pair.simulator.run(until: .zero + .milliseconds(5))
    #expect(order == ["before", "event 1", "after 1", "at once", "event 2", "after 2", "at once"])
  }

  @Test func `a receiver may answer from within`() throws {
    let pair = try Pair(tx: LinkSettings(delay: .milliseconds(10)), rx: LinkSettings(delay: .milliseconds(5)))
    pair.b.echoes = true
    pair.send(4)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.a.tags == [4])
    #expect(pair.a.milliseconds == [15])
  }

  @Test func `a port without a socket drops`() throws {
    let pair = try Pair()
    let drops = Drops(pair.simulator.trace)
    pair.simulator.close(pair.bSocket)
    pair.send()
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(drops.reasons == ["no-socket"])
    #expect(drops.subjects == ["b"])
    #expect(pair.simulator.openSocketCount(of: pair.bHost) == 0)
  }

  @Test func `a socket bound to an address is preferred to one bound to all, and a port is bound once`() throws {
    let pair = try Pair()
    let address = pair.bEndpoint.address
    #expect(throws: SimulatorError.portInUse(pair.bEndpoint)) {
      try pair.simulator.bind(pair.bHost, address: address, port: 2_000)
    }
    let exact = try pair.simulator.bind(pair.bHost, address: address, port: 3_000)
    #expect(pair.simulator.localEndpoint(of: exact) == Endpoint(address, port: 3_000))
    #expect(throws: SimulatorError.unknownAddress(IPAddress("10.9.9.9")!)) {
      try pair.simulator.bind(pair.bHost, address: IPAddress("10.9.9.9"), port: 1)
    }
  }

  @Test func `ephemeral ports are all given out and then exhausted`() throws {
    let pair = try Pair()
    var ports: Set<UInt16> = []
    for _ in 49_152...65_535 {
      ports.insert(pair.simulator.localEndpoint(of: try pair.simulator.bind(pair.aHost)).port)
    }
    #expect(ports.count == 16_384)
    #expect(throws: SimulatorError.portsExhausted) { try pair.simulator.bind(pair.aHost) }
  }

  @Test func `a closed socket's handle never means a later socket`() throws {
    let pair = try Pair()
    pair.simulator.close(pair.aSocket)
    let later = try pair.simulator.bind(pair.aHost, port: 1_000)
    pair.simulator.close(pair.aSocket)
    #expect(pair.simulator.isOpen(later))
    #expect(!pair.simulator.isOpen(pair.aSocket))
    pair.send()
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.arrivals.isEmpty)
  }

  @Test func `a host reaches itself`() throws {
    let pair = try Pair(tx: LinkSettings(loss: .random(1)))
    pair.simulator.send([5], from: pair.aSocket, to: pair.aEndpoint)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.a.tags == [5])
  }

  @Test func `timers fire in order of time and of scheduling, and not after they are cancelled`() throws {
    let pair = try Pair()
    let at = { (ms: Int64) in Instant.zero + .milliseconds(ms) }
    _ = pair.simulator.schedule(pair.aHost, at: at(20), token: 1)
    _ = pair.simulator.schedule(pair.aHost, at: at(10), token: 2)
    let cancelled = pair.simulator.schedule(pair.aHost, at: at(10), token: 3)
    _ = pair.simulator.schedule(pair.aHost, at: at(10), token: 4)
    pair.simulator.cancel(cancelled)
    // The slot is used again: the stale handle must not reach it.
    _ = pair.simulator.schedule(pair.aHost, at: at(15), token: 5)
    pair.simulator.cancel(cancelled)
    #expect(pair.simulator.pendingTimerCount(of: pair.aHost) == 4)
    pair.simulator.run(until: at(100))
    #expect(pair.a.timers.map(\.token) == [2, 4, 5, 1])
    #expect(pair.a.timers.map { ($0.time - .zero).milliseconds } == [10, 10, 15, 20])
    #expect(pair.simulator.pendingTimerCount(of: pair.aHost) == 0)
  }

  @Test func `a run stops when it is told to`() throws {
    let pair = try Pair()
    for ms in 1...3 as ClosedRange<Int64> {
      _ = pair.simulator.schedule(pair.aHost, at: .zero + .milliseconds(ms), token: UInt64(ms))
    }
    pair.a.onTimer = { [unowned simulator = pair.simulator] in if $0 == 2 { simulator.stop() } }
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.simulator.now == .zero + .milliseconds(2))
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.a.timers.count == 3)
  }

  @Test func `a delivery's cause is its sending`() throws {
    let pair = try Pair()
    let trace = pair.simulator.trace
    pair.send()
    let sent = EventNumber(trace.count)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.cause == EventNumber(trace.count))
    #expect(pair.b.cause > sent)
  }

  @Test func `a host that is reset has nothing left and may start anew`() throws {
    let pair = try Pair()
    _ = pair.simulator.schedule(pair.bHost, at: .zero + .milliseconds(5), token: 1)
    pair.simulator.reset(pair.bHost)
    #expect(pair.simulator.openSocketCount(of: pair.bHost) == 0)
    #expect(pair.simulator.pendingTimerCount(of: pair.bHost) == 0)
    _ = try pair.simulator.bind(pair.bHost, port: 2_000)
    pair.send(3)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.tags == [3])
    #expect(pair.b.timers.isEmpty)
    #expect(pair.simulator.isOpen(pair.aSocket))
  }
}
