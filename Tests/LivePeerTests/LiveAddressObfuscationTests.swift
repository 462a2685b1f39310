import CallCore
import Formats
import PeerSession
import SDP
import Testing

@testable import LivePeer

/// A live connection in a world of scripted sockets, whose addresses stand behind names.
@Suite struct LiveAddressObfuscationTests {
  private final class World: LiveWorld {
    var now = Instant.zero
    var addresses = ["198.18.1.3", "fd18::3", "127.0.0.1"].enumerated().map { number, text in
      InterfaceAddress(name: "eth\(number)", address: IPAddress(text)!, index: UInt32(number) + 1)
    }
    var announced: [(name: String, address: IPAddress)] = []
    var withdrawn: [String] = []
    var questions: [(name: String, answer: (IPAddress) -> Void)] = []
    var sent: [Endpoint] = []
    private var timers: [LoopTimer] = []

    private final class Socket: LiveSocket {
      let local: Endpoint
      unowned let world: World

      init(_ local: Endpoint, _ world: World) {
        self.local = local
        self.world = world
      }

      func send(_ datagram: RawSpan, to remote: Endpoint, ecn: ECN) { world.sent.append(remote) }
      func close() {}
    }

    func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer {
      let timer = LoopTimer(handler)
      timers.append(timer)
      return timer
    }

    func remove(_ timer: LoopTimer) { timers.removeAll { $0 === timer } }

    func run(for duration: Interval) {
      let end = now + duration
      while let next = timers.compactMap(\.deadline).min(), next <= end {
        now = max(now, next)
        for timer in timers { timer.fire(ifDueAt: now) }
      }
      now = end
    }

    func openSocket(
      on address: InterfaceAddress, ports: ClosedRange<UInt16>, receive: @escaping (RawSpan, Path) -> Void
    ) throws(SystemError) -> any LiveSocket { Socket(Endpoint(address.address, port: 5_000), self) }

    func openStream(from address: InterfaceAddress, to remote: Endpoint) -> any ByteStream {
      preconditionFailure("there is no TURN server")
    }

    func resolve(multicastName name: String, _ answer: @escaping (IPAddress) -> Void) {
      questions.append((name, answer))
    }

    func announce(multicastName name: String, of address: InterfaceAddress) {
      announced.append((name, address.address))
    }

    func withdraw(multicastName name: String) { withdrawn.append(name) }
  }

  private func connection(in world: World) throws -> LiveConnection {
    let random = RandomSource(seed: 3)
    var configuration = LiveConfiguration(session: .live(wallClock: WallClock(), random: random), random: random)
    configuration.interfaces.allowsLoopback = true
    configuration.obfuscatesAddresses = true
    let connection = LiveConnection(configuration, world: world)
    try connection.addTrack()
    return connection
  }

  @Test func `each address but loopback's has a random name that is announced, told instead of it, and withdrawn`()
    throws
  {
    let world = World()
    let connection = try connection(in: world)
    #expect(world.announced.map(\.address) == world.addresses.prefix(2).map(\.address))
    for (name, _) in world.announced {
      #expect(name.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.local/) != nil)
    }
    try connection.setLocalDescription(connection.createOffer())
    let sdp = try #require(connection.localDescription).sdp
    #expect(world.announced.allSatisfy { sdp.contains(" \($0.name) 5000 typ host") })
    #expect(sdp.contains(" 127.0.0.1 5000 typ host"))
    #expect(!sdp.contains("198.18.1.3") && !sdp.contains("fd18::3"))
    let stats = connection.statistics().json(timestamp: 0).description
    #expect(stats.contains(world.announced[0].name) && !stats.contains("198.18.1.3") && !stats.contains("fd18::3"))
    connection.close()
    #expect(connection.isSilent && world.withdrawn == world.announced.map(\.name))
  }

  @Test func `an address that is gone takes its name with it, and a new one gets another`() throws {
    let world = World()
    let connection = try connection(in: world)
    let first = world.announced[0].name
    world.addresses[0] = InterfaceAddress(name: "eth0", address: IPAddress("198.18.1.4")!, index: 1)
    world.run(for: .seconds(3))
    #expect(world.withdrawn == [first])
    #expect(world.announced.count == 3 && world.announced[2].address == IPAddress("198.18.1.4")!)
    #expect(world.announced[2].name != first)
    connection.close()
  }

  @Test func `the names of a remote description are asked for, and the addresses found are checked`() throws {
    let world = World()
    let (connection, other) = (try connection(in: world), World())
    let peer = try self.connection(in: other)
    try peer.setLocalDescription(peer.createOffer())
    try connection.setRemoteDescription(try #require(peer.localDescription))
    try connection.setLocalDescription(connection.createAnswer())
    #expect(world.questions.map(\.name) == other.announced.map(\.name))
    world.run(for: .seconds(1))
    // Loopback's candidate is no secret.
    #expect(Set(world.sent.map(\.address)) == [IPAddress("127.0.0.1")!])
    world.questions[0].answer(IPAddress("198.18.1.77")!)
    world.run(for: .seconds(1))
    #expect(world.sent.contains(Endpoint("198.18.1.77:5000")!))
    for end in [connection, peer] { end.close() }
  }
}
