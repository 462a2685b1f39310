import CallCore
import Testing

@testable import SimNet

/// A host that accepts streams, or opens them, and writes down what happens.
private final class StreamHost: HostDelegate {
  unowned let simulator: Simulator
  var host: HostID!
  var accepted: [(stream: StreamID, path: Path)] = []
  var events: [StreamEvent] = []
  var times: [Instant] = []
  var echoes = false

  init(_ simulator: Simulator) { self.simulator = simulator }

  func interfacesChanged() {}
  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {}
  func timerFired(_ token: UInt64) {}
  func accepted(_ stream: StreamID, path: Path) { accepted.append((stream, path)) }

  func streamEvent(_ event: StreamEvent, on stream: StreamID) {
    events.append(event)
    times.append(simulator.now)
    if echoes, case .data(let bytes) = event { try? simulator.send(bytes, on: stream, of: host) }
  }

  var bytes: [UInt8] { events.flatMap { if case .data(let bytes) = $0 { bytes } else { [] as [UInt8] } } }
  var closeReasons: [StreamCloseReason] {
    events.compactMap { if case .closed(let reason) = $0 { reason } else { nil } }
  }
}

/// A client at home behind a NAT and a server on the internet that echoes on port 443.
private struct StreamWorld {
  let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 3))
  let client: StreamHost
  let server: StreamHost
  let remote: Endpoint

  init(_ link: LinkSettings = LinkSettings(delay: .milliseconds(20)), firewall: FirewallRules? = nil) throws {
    let internet = try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/24")!])
    server = StreamHost(simulator)
    server.echoes = true
    server.host = try simulator.addHost("server", delegate: server)
    try simulator.attach(server.host, to: internet, link: "server")
    let home = try simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "internet", tx: link, rx: link, nat: .home,
      firewall: firewall)
    client = StreamHost(simulator)
    client.host = try simulator.addHost("client", delegate: client)
    try simulator.attach(client.host, to: home, link: "client")
    try simulator.listen(server.host, port: 443)
    remote = Endpoint("203.0.113.2:443")!
  }

  func run(_ span: Interval) { simulator.run(until: simulator.now + span) }
}

@Suite struct HostStreamTests {
  @Test(arguments: [576, 700, 1_000, 1_280, 1_500], [false, true])
  func `a stream fits the narrowest uplink on its way`(mtu: Int, isIPv6: Bool) throws {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 3))
    let wide = LinkSettings(delay: .milliseconds(5))
    var narrow = wide
    narrow.mtu = mtu
    try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/24")!, IPPrefix("2001:db8::/64")!])
    try simulator.addNetwork(
      "tunnel", prefixes: [IPPrefix("100.64.0.0/24")!, IPPrefix("2001:db8:1::/64")!], parent: "internet", tx: narrow,
      rx: wide, nat: .home)
    let home = try simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!, IPPrefix("2001:db8:2::/64")!], parent: "tunnel", tx: wide,
      rx: wide, nat: .home)
    let (client, server) = (StreamHost(simulator), StreamHost(simulator))
    server.echoes = true
    server.host = try simulator.addHost("server", delegate: server)
    client.host = try simulator.addHost("client", delegate: client)
    try simulator.attach(server.host, to: try simulator.network("internet"), link: "server")
    try simulator.attach(client.host, to: home, link: "client")
    try simulator.listen(server.host, port: 443)
    let address = simulator.interfaces(of: server.host)[0].addresses.first { $0.isIPv6 == isIPv6 }!
    let drops = Drops(simulator.trace)
    let stream = try simulator.connect(client.host, to: Endpoint(address, port: 443))
    simulator.run(until: .zero + .seconds(1))
    let bytes = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try simulator.send(bytes, on: stream, of: client.host)
    simulator.run(until: .zero + .seconds(20))
    #expect(client.bytes == bytes)
    #expect(drops.reasons.isEmpty)
  }

  @Test func `a path that swallows large packets without a word stops a stream`() throws {
    let world = try StreamWorld(LinkSettings(delay: .milliseconds(20), blackholeAbove: 700))
    let stream = try world.simulator.connect(world.client.host, to: world.remote)
    world.run(.seconds(1))
    try world.simulator.send([UInt8](repeating: 1, count: 600), on: stream, of: world.client.host)
    world.run(.seconds(1))
    try world.simulator.send([UInt8](repeating: 2, count: 5_000), on: stream, of: world.client.host)
    world.run(.seconds(20))
    #expect(world.client.bytes.count == 600)
  }

  @Test func `the segment size of a header is lowered, never raised, and nothing else is touched`() throws {
    // A SYN that offers 1200 behind a NOP, as other stacks write it.
    let fixed: [UInt8] = [0, 1, 0, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0x70, 2, 0, 9, 0, 0, 0, 0]
    let segment = fixed + [1, 2, 4, 0x04, 0xB0, 1, 1, 0]
    for (limit, expected) in [(1_400, nil), (1_200, nil), (640, 640), (1, 1)] as [(UInt16, UInt16?)] {
      var bytes = segment
      let isLowered = TCPHeader.lowerMaximumSegmentSize(in: &bytes, to: limit)
      let offered = TCPHeader(parsing: bytes.span.bytes)?.maximumSegmentSize
      #expect(isLowered == (expected != nil))
      #expect(offered == expected ?? 1_200)
      #expect(zip(bytes, segment).enumerated().allSatisfy { $0 == 23 || $0 == 24 || $1.0 == $1.1 })
    }
    for count in segment.indices {
      var cut = Array(segment.prefix(count))
      _ = TCPHeader.lowerMaximumSegmentSize(in: &cut, to: 500)
    }
  }

  private static let channelData: [UInt8] = [0x40, 0, 0, 24, 22, 0xFE, 0xFD] + [UInt8](repeating: 5, count: 21)
  private static let refresh: [UInt8] = [0, 4, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 1, count: 12)

  @Test func `a rule sees the messages of a TURN connection, both ways and through a NAT`() throws {
    let world = try StreamWorld()
    world.server.echoes = false
    let (simulator, client, server) = (world.simulator, world.client, world.server)
    let stream = try simulator.connect(client.host, to: world.remote)
    world.run(.seconds(1))
    let accepted = try #require(server.accepted.first?.stream)
    func sendBoth() throws {
      for message in [Self.channelData, Self.refresh] {
        try simulator.send(message: message.span.bytes, on: stream, of: client.host)
        try simulator.send(message: message.span.bytes, on: accepted, of: server.host)
      }
      world.run(.seconds(1))
    }
    let out = simulator.addRule(PacketRule(content: .dtls, sender: client.host, limit: 1))
    try sendBoth()
    #expect(server.bytes == Self.refresh)
    #expect(client.bytes == Self.channelData + Self.refresh)
    simulator.removeRule(out)
    simulator.addRule(PacketRule(content: .turn, receiver: client.host, skip: 1, limit: 1))
    try sendBoth()
    #expect(server.bytes == Self.refresh + Self.channelData + Self.refresh)
    #expect(client.bytes == Self.channelData + Self.refresh + Self.channelData)
    // Bytes that nobody calls a message are no rule's business.
    simulator.addRule(PacketRule(sender: client.host))
    try simulator.send(Self.channelData, on: stream, of: client.host)
    world.run(.seconds(1))
    #expect(server.bytes.count == 2 * Self.refresh.count + 2 * Self.channelData.count)
  }

  @Test func `a stream crosses a NAT, echoes and closes on both sides`() throws {
    let world = try StreamWorld()
    let stream = try world.simulator.connect(world.client.host, to: world.remote)
    world.run(.seconds(1))
    #expect(world.client.events == [.connected])
    #expect(world.client.times == [.zero + .milliseconds(40)])
    #expect(world.server.accepted.first?.path.remote.address == IPAddress("203.0.113.3"))
    try world.simulator.send([1, 2, 3], on: stream, of: world.client.host)
    world.run(.seconds(1))
    #expect(world.client.bytes == [1, 2, 3])
    world.simulator.close(stream, of: world.client.host)
    world.run(.seconds(1))
    world.simulator.close(world.server.accepted[0].stream, of: world.server.host)
    world.run(.minutes(5))
    #expect(world.client.closeReasons == [.normal])
    #expect(world.server.closeReasons == [.normal])
    #expect(world.simulator.streamCount(of: world.client.host) == 0)
    #expect(world.simulator.packetsInFlight == 0)
  }

  @Test func `a stream delivers everything in order over a rough link`() throws {
    let rough = LinkSettings(
      rate: .megabitsPerSecond(2), queue: .packets(20), delay: .milliseconds(30), jitter: .uniform(.milliseconds(10)),
      order: .allow, loss: .random(0.05), duplication: 0.02,
      corruption: Corruption(probability: 0.01, isAfterChecksum: true))
    let world = try StreamWorld(rough)
    let stream = try world.simulator.connect(world.client.host, to: world.remote)
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    world.run(.seconds(5))
    try world.simulator.send(bytes, on: stream, of: world.client.host)
    world.run(.minutes(2))
    #expect(world.client.bytes == bytes)
  }

  @Test func `a port nobody listens on refuses`() throws {
    let world = try StreamWorld()
    _ = try world.simulator.connect(world.client.host, to: Endpoint(world.remote.address, port: 80))
    world.run(.seconds(1))
    #expect(world.client.closeReasons == [.refused])
    #expect(world.client.times == [.zero + .milliseconds(40)])
  }

  @Test func `a border that forbids UDP lets streams through`() throws {
    let world = try StreamWorld(firewall: .webOnly)
    _ = try world.simulator.connect(world.client.host, to: world.remote)
    world.run(.seconds(1))
    #expect(world.client.events == [.connected])
  }

  @Test func `a link that goes down for long times a stream out`() throws {
    let world = try StreamWorld()
    let stream = try world.simulator.connect(world.client.host, to: world.remote)
    world.run(.seconds(1))
    try world.simulator.setLink("home", isUp: false)
    try world.simulator.send([1], on: stream, of: world.client.host)
    world.run(.minutes(60))
    #expect(world.client.closeReasons == [.timedOut])
  }

  @Test func `a host without a way to the peer cannot connect`() throws {
    let world = try StreamWorld()
    #expect(throws: StreamError.unreachable) {
      try world.simulator.connect(world.client.host, to: Endpoint("[2001:db8::1]:443")!)
    }
  }

  @Test func `a host reaches its own streams`() throws {
    let world = try StreamWorld()
    try world.simulator.listen(world.client.host, port: 9)
    _ = try world.simulator.connect(world.client.host, to: Endpoint("192.168.1.2:9")!)
    world.run(.seconds(1))
    #expect(world.client.accepted.count == 1)
    #expect(world.client.events.contains(.connected))
  }
}
