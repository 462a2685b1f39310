import CallCore
import DTLS
import PeerSession
import Synchronization
import TURN
import Testing

@testable import LivePeer

/// Our TURN server and our client on loopback.
@Suite struct TURNSocketServerTests {
  private static let loopback = InterfaceAddress(name: "lo", address: IPAddress("127.0.0.1")!, index: 1)
  private static let alice = TURNCredentials(username: "alice", password: "sesame")

  private static let authority = TLSAuthority(name: "test", entropy: .system, wallClock: WallClock())

  private final class Bench {
    let loop: SocketLoop
    let listening: Endpoint
    let listeningOverTLS: Endpoint
    let server: TURNSocketServer
    var events: [TURNServer.Event] = []

    /// Serves a port that is the first of `count` that relays may have.
    init(relays count: UInt16, loop: SocketLoop = SocketLoop()) throws {
      self.loop = loop
      let probe = try loop.openSocket(on: loopback, ports: 0...0) { _, _ in }
      let port = min(probe.local.port, .max - count)
      probe.close()
      var configuration = TURNServer.Configuration(
        realm: "callsim.test", credentials: TURNCredentialStore(users: [alice]), relays: [.init(loopback.address)])
      configuration.relayPorts = port...port + count - 1
      configuration.allowedPeers = [IPPrefix("127.0.0.0/8")!]
      server = TURNSocketServer(configuration: configuration, random: RandomSource(seed: 3), loop: loop)
      listening = try server.listen(on: Endpoint(loopback.address, port: port))[0]
      let start = WallClock().unixSeconds(at: .zero)
      let identity = authority.issue(
        names: ["turn.test"], addresses: [], validity: start - 60...start + 86_400, entropy: .system)
      listeningOverTLS = try server.listen(
        on: Endpoint(loopback.address, port: 0), over: TLSContext(server: identity))[0]
      server.onEvent = { [unowned self] in events.append($0) }
    }

    func place(for transport: Path.Transport) -> Endpoint { transport == .tls ? listeningOverTLS : listening }
  }

  private final class Client {
    private(set) var machine: TURNClient
    private(set) var received: [[UInt8]] = []
    private(set) var keyLog: [String] = []
    private(set) var end: TURNStream.End?
    private let loop: SocketLoop
    private var socket: (any LiveSocket)?
    private var stream: TURNStream?
    private var timer = LoopTimer {}

    init(of bench: Bench, _ transport: Path.Transport, as name: String = "turn.test") throws {
      let loop = bench.loop
      self.loop = loop
      var arrive: (RawSpan) -> Void = { _ in }
      let local: Endpoint
      if transport == .udp {
        let opened = try loop.openSocket(on: loopback, ports: 0...0) { message, _ in arrive(message) }
        (socket, local) = (opened, opened.local)
      } else {
        var trusting = TLSClientConfiguration()
        trusting.trust = .authorities(authority.certificates)
        let tls =
          transport == .tls
          ? TLSConnection(
            client: TLSContext(client: trusting), serverName: name, entropy: .system, wallClock: WallClock(), at: .zero)
          : nil
        stream = TURNStream(
          loop.openStream(from: loopback, to: bench.place(for: transport)), tls: tls, now: { loop.now })
        local = Endpoint(loopback.address, port: 9)
      }
      machine = TURNClient(
        configuration: .init(server: bench.place(for: transport), transport: transport, credentials: alice),
        local: local,
        random: RandomStream(seed: 1))
      arrive = { [unowned self] message in
        machine.receive(message, on: machine.path, at: loop.now)
        drain()
      }
      stream?.onMessage = { arrive($0) }
      stream?.onKeyLog = { [unowned self] in keyLog.append($0) }
      stream?.onEnd = { [unowned self] in end = $0 }
      timer = loop.makeTimer { [unowned self] in
        machine.advance(to: loop.now)
        drain()
      }
    }

    deinit {
      loop.remove(timer)
      socket?.close()
      stream?.close()
    }

    func allocate() throws -> Endpoint? {
      try machine.allocate(at: loop.now)
      drain()
      _ = loop.turn { machine.state != .allocating || end != nil }
      return machine.allocation?.relayed
    }

    func release() {
      machine.release(at: loop.now)
      drain()
      _ = loop.turn { machine.state != .releasing }
    }

    func send(_ payload: [UInt8], to peer: Endpoint) throws {
      try machine.send(payload.span.bytes, to: peer, at: loop.now)
      drain()
    }

    private func drain() {
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumDatagramSize) { buffer in
        var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
        let wake = pump(
          &machine, buffer: &output,
          send: { message, path in
            socket?.send(message, to: path.remote, ecn: .notECT)
            stream?.send(message)
          },
          event: { event in if case .data(_, let bytes) = event { received.append(bytes) } })
        _ = output.finalize(for: buffer)
        timer.deadline = wake.deadline
      }
    }
  }

  @Test func `a client over TLS believes no server of another name, and says why`() throws {
    let bench = try Bench(relays: 8)
    let client = try Client(of: bench, .tls, as: "other.test")
    #expect(try client.allocate() == nil)
    #expect(client.end == .failed(.certificate(.wrongName)))
    #expect(bench.server.counters.requests == 0)
  }

  @Test(
    arguments: [
      ("turn.test", true, 0, nil), ("other.test", true, 0, "the certificate is for another name"),
      (nil, true, 0, "the certificate is for another name"),
      ("turn.test", false, 0, "the certificate's issuer is unknown"),
      ("turn.test", true, 2, "the certificate has expired"),
    ] as [(String?, Bool, Int64, String?)])
  func `a live connection asks for a relay over TLS only where it believes the certificate`(
    host: String?, isAuthorityKnown: Bool, daysLater: Int64, problem: String?
  ) throws {
    let bench = try Bench(relays: 8)
    let stranger = TLSAuthority(name: "stranger", entropy: .system, wallClock: WallClock())
    let random = RandomSource.system
    let clock = WallClock(skew: .seconds(daysLater * 86_400))
    var session = SessionConfiguration.live(wallClock: clock, random: random)
    session.iceServers = [
      ICEServer(
        kind: .turn, endpoint: bench.listeningOverTLS, transport: .tls, host: host, username: "alice",
        credential: "sesame")
    ]
    session.iceTransportPolicy = .relay
    session.tls.trust = .authorities((isAuthorityKnown ? Self.authority : stranger).certificates)
    var configuration = LiveConfiguration(session: session, random: random)
    configuration.interfaces = .loopback
    let connection = LiveConnection(configuration, world: bench.loop)
    var (errors, relays): ([String], Int) = ([], 0)
    connection.onEvent = { if case .iceServerError(_, _, _, let reason) = $0 { errors.append(reason) } }
    connection.onObservation = { if case .turnAllocated = $0 { relays += 1 } }
    try connection.addTrack()
    try connection.setLocalDescription(connection.createOffer())
    #expect(bench.loop.turn { !errors.isEmpty || relays > 0 })
    #expect(relays == (problem == nil ? 1 : 0) && errors.count == (problem == nil ? 0 : 1))
    #expect(problem.map { errors.first?.contains($0) == true } ?? true, "\(errors)")
    #expect((bench.server.counters.requests == 0) == (problem != nil))
    connection.close()
    #expect(bench.loop.turn { connection.isSilent })
  }

  @Test func `whoever speaks in clear where TLS is served is sent away`() throws {
    let bench = try Bench(relays: 8)
    let stream = TURNStream(bench.loop.openStream(from: Self.loopback, to: bench.listeningOverTLS))
    var end: TURNStream.End?
    stream.onEnd = { end = $0 }
    stream.send(([0, 3, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)).span.bytes)
    #expect(bench.loop.turn { end != nil } && end == .closed)
    #expect(bench.server.counters.requests == 0)
  }

  @Test func `a client over TLS logs what decrypts its connection`() throws {
    let bench = try Bench(relays: 8)
    let client = try Client(of: bench, .tls)
    #expect(try client.allocate() != nil)
    #expect(client.keyLog.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") })
  }

  @Test(arguments: [Path.Transport.udp, .tcp, .tls])
  func `what a client and a peer send each other goes through the relay`(transport: Path.Transport) throws {
    let bench = try Bench(relays: 100)
    var atPeer: [(bytes: [UInt8], from: Endpoint)] = []
    let peer = try bench.loop.openSocket(on: Self.loopback, ports: 0...0) { atPeer.append(($0.copied, $1.remote)) }
    let client = try Client(of: bench, transport)
    let relay = try #require(try client.allocate())
    for number in 0..<5 as Range<UInt8> {
      try client.send([number, 1, 2], to: peer.local)
      #expect(bench.loop.turn { atPeer.count == Int(number) + 1 })
      peer.send(([number, 3] as [UInt8]).span.bytes, to: relay, ecn: .notECT)
      #expect(bench.loop.turn { client.received.count == Int(number) + 1 })
    }
    #expect(atPeer.map(\.bytes) == (0..<5).map { [$0, 1, 2] } && atPeer.allSatisfy { $0.from == relay })
    #expect(client.received == (0..<5).map { [$0, 3] })
    peer.close()
  }

  @Test(arguments: [Path.Transport.udp, .tcp])
  func `no relay draws the port that clients come to`(transport: Path.Transport) throws {
    let bench = try Bench(relays: 8)
    let client = try Client(of: bench, transport)
    for _ in 0..<40 {
      #expect(try client.allocate() != nil, "the server has become deaf")
      client.release()
    }
    let drawn = bench.events.contains { event in
      if case .openRelay(bench.listening, _, _) = event { true } else { false }
    }
    #expect(!drawn)
  }

  @Test(arguments: [Path.Transport.udp, .tcp])
  func `a relay that draws a port that another program has gets another`(transport: Path.Transport) throws {
    let bench = try Bench(relays: 8)
    let port = bench.listening.port + 1
    let held = try bench.loop.openSocket(on: Self.loopback, ports: port...port) { _, _ in }
    let client = try Client(of: bench, transport)
    for _ in 0..<40 {
      let relay = try #require(try client.allocate(), "none of the other ports was tried")
      #expect(relay != held.local)
      client.release()
    }
    let unavailable = bench.events.contains { event in
      if case .closeRelay(held.local, _, .unavailable) = event { true } else { false }
    }
    #expect(unavailable, "the other program's port was never drawn")
    held.close()
  }

  /// A client that resets its connection and comes back from the same port, while the server was busy with others.
  @Test func `a client may come back from the port of a connection that nobody has read the end of`() throws {
    let bench = try Bench(relays: 8)
    let (first, other) = (try PlainConnection(to: bench.listening), try PlainConnection(to: bench.listening))
    func talk(_ connection: PlainConnection) {
      connection.send(Self.binding)
      #expect(bench.loop.turn { connection.receivedCount == 1 })
    }
    talk(first)
    talk(other)
    // The listener is looked at before the connection that ended.
    let third = try PlainConnection(to: bench.listening)
    first.reset()
    let second = try PlainConnection(to: bench.listening, from: first.port)
    talk(second)
    talk(third)
  }

  private static let binding: [UInt8] = [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)

  /// A socket for all addresses would answer from the address that the route back begins with.
  @Test func `a wildcard is served at each address of its family, and answers come from where the request went`() throws
  {
    let places = ["127.0.0.2", "127.0.0.3"].map { InterfaceAddress(name: "lo", address: IPAddress($0)!, index: 1) }
    let loop = SocketLoop(addresses: { places + [InterfaceAddress(name: "lo", address: IPAddress("::1")!, index: 1)] })
    let configuration = TURNServer.Configuration(
      realm: "callsim.test", credentials: TURNCredentialStore(users: [Self.alice]), relays: [])
    let server = TURNSocketServer(configuration: configuration, random: RandomSource(seed: 3), loop: loop)
    let served = try server.listen(on: Endpoint(.anyIPv4, port: 0))
    #expect(served.map(\.address) == places.map(\.address))
    let binding = [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)
    for place in served {
      var answeredFrom: Endpoint?
      let client = try loop.openSocket(on: Self.loopback, ports: 0...0) { answeredFrom = $1.remote }
      client.send(binding.span.bytes, to: place, ecn: .notECT)
      #expect(loop.turn { answeredFrom != nil } && answeredFrom == place)
      client.close()
    }
  }

  @Test(arguments: [
    (["127.0.0.1", "192.0.2.2", "198.51.100.2"], "0.0.0.0", "192.0.2.2"),
    (["192.0.2.2", "::1", "fe80::1", "2001:db8::2"], "::", "2001:db8::2"),
    (["::1", "fe80::1"], "::", "fe80::1"),
    (["127.0.0.1", "2001:db8::2"], "0.0.0.0", "127.0.0.1"),
    (["127.0.0.1"], "::", nil),
  ])
  func `a wildcard's relays are where most peers can send to`(texts: [String], wildcard: String, relay: String?) {
    let addresses = texts.map { InterfaceAddress(name: "x", address: IPAddress($0)!, index: 1) }
    let chosen = TURNSocketServer.relayAddress(for: IPAddress(wildcard)!, of: addresses)
    #expect(chosen == relay.flatMap { IPAddress($0) })
  }

  @Test func `a wildcard of a family that the machine has not is refused`() {
    let loop = SocketLoop(addresses: { [Self.loopback] })
    let configuration = TURNServer.Configuration(
      realm: "callsim.test", credentials: TURNCredentialStore(users: [Self.alice]), relays: [])
    let server = TURNSocketServer(configuration: configuration, random: RandomSource(seed: 3), loop: loop)
    #expect(throws: SystemError.self) { try server.listen(on: Endpoint(.anyIPv6, port: 0)) }
  }

  @Test func `who may come in goes by what is said of it later`() throws {
    let bench = try Bench(relays: 100)
    var renewals = 0
    bench.server.renewCredentials(every: .milliseconds(1)) {
      renewals += 1
      return TURNCredentialStore(users: [])
    }
    #expect(bench.loop.turn { renewals == 2 })
    let client = try Client(of: bench, .udp)
    #expect(try client.allocate() == nil)
  }

  @Test func `no client waits for the list of interfaces`() throws {
    final class Count: Sendable { let value = Mutex(0) }
    let count = Count()
    let loop = SocketLoop(addresses: {
      count.value.withLock { $0 += 1 }
      return [Self.loopback]
    })
    let bench = try Bench(relays: 100, loop: loop)
    let before = count.value.withLock { $0 }
    let client = try Client(of: bench, .udp)
    #expect(try client.allocate() != nil)
    #expect(count.value.withLock { $0 } == before)
  }
}
