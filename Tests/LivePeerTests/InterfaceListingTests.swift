import CallCore
import Glibc
import PeerSession
import Testing

@testable import LivePeer

/// A call may not wait for the kernel to list its interfaces.
@Suite struct InterfaceListingTests {
  private static let first = InterfaceAddress(name: "eth0", address: IPAddress(v4: 0xC612_0102), index: 2)
  private static let second = InterfaceAddress(name: "wlan0", address: IPAddress(v4: 0xC612_0202), index: 3)

  /// A world that answers when it is told to, and counts who could not wait.
  private final class SlowWorld: LiveWorld {
    private final class Socket: LiveSocket {
      let local: Endpoint
      init(local: Endpoint) { self.local = local }
      func send(_ datagram: RawSpan, to remote: Endpoint, ecn: ECN) {}
      func close() {}
    }

    private(set) var now = Instant.zero
    private(set) var timesWaitedFor = 0
    private(set) var unanswered: [([InterfaceAddress]?) -> Void] = []
    private(set) var opened: [InterfaceAddress] = []
    /// Addresses that the system lists and lets nobody bind to yet.
    var tentative: [InterfaceAddress] = []
    private var timers: [LoopTimer] = []

    var addresses: [InterfaceAddress] {
      timesWaitedFor += 1
      return [first]
    }

    func listAddresses(_ answer: @escaping ([InterfaceAddress]?) -> Void) { unanswered.append(answer) }

    func answer(_ addresses: [InterfaceAddress]?) {
      let answers = unanswered
      unanswered = []
      for answer in answers { answer(addresses) }
    }

    func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer {
      timers.append(LoopTimer(handler))
      return timers.last!
    }

    func remove(_ timer: LoopTimer) { timers.removeAll { $0 === timer } }

    func openSocket(
      on address: InterfaceAddress, ports: ClosedRange<UInt16>, receive: @escaping (RawSpan, Path) -> Void
    ) throws(SystemError) -> any LiveSocket {
      guard !tentative.contains(address) else { throw SystemError("bind", code: 99) }
      opened.append(address)
      return Socket(local: Endpoint(address.address, port: 40_000))
    }

    func openStream(from address: InterfaceAddress, to remote: Endpoint) -> any ByteStream { fatalError() }

    func pass(_ interval: Interval) {
      let end = now + interval
      while let next = timers.compactMap(\.deadline).min(), next <= end {
        now = max(now, next)
        for timer in timers { timer.fire(ifDueAt: now) }
      }
      now = end
    }
  }

  private static func connection(
    in world: SlowWorld, log: @escaping (String) -> Void = { _ in }
  ) -> LiveConnection {
    let random = RandomSource(seed: 1)
    var configuration = LiveConfiguration(
      session: .live(wallClock: WallClock(unixNanosecondsAtStart: 0), random: random), random: random)
    configuration.log = log
    return LiveConnection(configuration, world: world)
  }

  @Test func `a running connection never waits for the list of addresses, and asks for one at a time`() {
    let world = SlowWorld()
    let connection = Self.connection(in: world)
    #expect(world.timesWaitedFor == 1)
    world.pass(.seconds(20))
    #expect(world.timesWaitedFor == 1)
    #expect(world.unanswered.count == 1)
    world.answer([Self.first])
    world.pass(.seconds(20))
    #expect(world.unanswered.count == 1)
    withExtendedLifetime(connection) {}
  }

  @Test func `an address that comes later gets a socket of its own`() {
    let world = SlowWorld()
    let connection = Self.connection(in: world)
    world.pass(.seconds(2))
    world.answer([Self.first, Self.second])
    #expect(world.opened == [Self.first, Self.second])
    #expect(connection.interfaces.map(\.name) == ["eth0", "wlan0"])
  }

  @Test func `an address in duplicate detection gets its socket when that is over`() {
    let world = SlowWorld()
    let connection = Self.connection(in: world)
    world.tentative = [Self.second]
    for _ in 0..<2 {
      world.pass(.seconds(2))
      world.answer([Self.first, Self.second])
    }
    #expect(connection.interfaces.map(\.name) == ["eth0"])
    world.tentative = []
    world.pass(.seconds(2))
    world.answer([Self.first, Self.second])
    #expect(world.opened == [Self.first, Self.second])
    #expect(connection.interfaces.map(\.name) == ["eth0", "wlan0"])
  }

  @Test func `a system that cannot list its addresses takes none away`() {
    let world = SlowWorld()
    let connection = Self.connection(in: world)
    world.pass(.seconds(2))
    world.answer(nil)
    #expect(connection.interfaces.map(\.name) == ["eth0"])
    world.pass(.seconds(2))
    world.answer([Self.first, Self.second])
    #expect(connection.interfaces.map(\.name) == ["eth0", "wlan0"])
  }

  @Test func `a process without a descriptor left does not know its addresses`() async {
    await #expect(processExitsWith: .success) {
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var (limit, none) = (rlimit(), rlimit())
      precondition(getrlimit(resource, &limit) == 0)
      none.rlim_max = limit.rlim_max
      precondition(setrlimit(resource, &none) == 0)
      let addresses = InterfaceAddress.all
      // What looks for leaks at the end needs descriptors of its own.
      precondition(setrlimit(resource, &limit) == 0)
      exit(addresses == nil ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test func `why an address has no socket is told once`() {
    let world = SlowWorld()
    world.tentative = [Self.first]
    var told: [String] = []
    let connection = Self.connection(in: world) { told.append($0) }
    for _ in 0..<3 {
      world.pass(.seconds(2))
      world.answer([Self.first])
    }
    #expect(told == ["bind: Cannot assign requested address"])
    #expect(connection.refusals == [SystemError("bind", code: 99)])
  }

  @Test func `an answer after the end of the call changes nothing`() {
    let world = SlowWorld()
    let connection = Self.connection(in: world)
    world.pass(.seconds(2))
    connection.close()
    world.answer([Self.first, Self.second])
    #expect(world.opened == [Self.first])
  }

  @Test func `the loop answers everyone who asked, later, with what the machine has`() {
    let loop = SocketLoop()
    var answers: [[InterfaceAddress]?] = []
    loop.listAddresses { answers.append($0) }
    loop.listAddresses { answers.append($0) }
    #expect(answers.isEmpty)
    #expect(loop.turn { answers.count == 2 })
    #expect(answers == [InterfaceAddress.all, InterfaceAddress.all])
  }
}
