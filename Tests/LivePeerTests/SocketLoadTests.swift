import CallCore
import Glibc
import Testing

@testable import LivePeer

/// Many sockets, and many datagrams at once.
@Suite(.serialized) struct SocketLoadTests {
  private static let loopback = InterfaceAddress(name: "lo", address: IPAddress(v4: 0x7F00_0001), index: 1)

  /// Seconds of this thread on the processor for so many datagrams, each sent when the one before has arrived.
  private func cost(of count: Int, beside idle: Int) throws -> Double {
    let loop = SocketLoop()
    var arrived = 0
    let receiver = try loop.openSocket(on: Self.loopback, ports: 0...0) { _, _ in arrived += 1 }
    let sender = try loop.openSocket(on: Self.loopback, ports: 0...0) { _, _ in }
    let others = try (0..<idle).map { _ in try loop.openSocket(on: Self.loopback, ports: 0...0) { _, _ in } }
    let start = Self.processorTime
    for number in 0..<count {
      sender.send(([1, 2, 3] as [UInt8]).span.bytes, to: receiver.local, ecn: .notECT)
      while arrived <= number { loop.turn() }
    }
    let taken = Self.processorTime - start
    for socket in others + [receiver, sender] { socket.close() }
    return taken
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test func `a datagram costs the same beside a thousand sockets that nothing comes to`() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let idle = min(1_000, Int(limit.rlim_cur) - 200)
    try #require(idle > 300)
    // The least of several: whatever else the machine does adds to them.
    let pairs = try (0..<3).map { _ in (try cost(of: 500, beside: 0), try cost(of: 500, beside: idle)) }
    let (alone, beside) = (pairs.map(\.0).min() ?? 0, pairs.map(\.1).min() ?? 0)
    #expect(beside < alone * 3, "\(alone) s alone, \(beside) s beside \(idle)")
  }

  @Test(.enabled(if: geteuid() == 0, "the system's limit to receive buffers may be smaller"))
  func `a thousand packets of audio wait while the program is off the processor`() throws {
    let loop = SocketLoop()
    var arrived = 0
    let receiver = try loop.openSocket(on: Self.loopback, ports: 0...0) { _, _ in arrived += 1 }
    let sender = try loop.openSocket(on: Self.loopback, ports: 0...0) { _, _ in }
    let packet = [UInt8](repeating: 1, count: 172)
    for _ in 0..<1_000 { sender.send(packet.span.bytes, to: receiver.local, ecn: .notECT) }
    for _ in 0..<100 where arrived < 1_000 { loop.turn() }
    #expect(arrived == 1_000)
    receiver.close()
    sender.close()
  }

  @Test func `what cannot be waited for is always ready, and timers go on beside it`() {
    let loop = SocketLoop()
    let null = open("/dev/null", O_RDONLY)
    var calls = 0
    loop.watch(null, for: Int16(POLLIN)) { events in
      #expect(events == Int16(POLLIN))
      calls += 1
    }
    var hasFired = false
    let timer = loop.makeTimer { hasFired = true }
    timer.deadline = loop.now + .milliseconds(2)
    #expect(loop.turn { hasFired && calls > 1 })
    loop.rewatch(null, for: 0)
    calls = 0
    timer.deadline = loop.now + .milliseconds(2)
    hasFired = false
    while !hasFired { loop.turn() }
    #expect(calls == 0)
    loop.unwatch(null)
    close(null)
  }
}
