import CallCore
import Testing

@testable import SimNet

/// An internet with a server, and whatever a test hangs below it.
private struct World {
  let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
  let server: Recorder
  let drops: Drops
  let serverSocket: UDPSocket

  init() throws {
    try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/24")!, IPPrefix("2001:db8::/32")!])
    server = Recorder(simulator)
    server.echoes = true
    let host = try simulator.addHost("server", delegate: server)
    try simulator.attach(host, to: try simulator.network("internet"), link: "server")
    serverSocket = try simulator.bind(host, port: 3_478)
    drops = Drops(simulator.trace)
  }

  func host(_ name: String, on network: String, port: UInt16 = 5_000) throws -> (Recorder, UDPSocket, HostID) {
    let recorder = Recorder(simulator)
    let host = try simulator.addHost(name, delegate: recorder)
    try simulator.attach(host, to: try simulator.network(network), link: name)
    return (recorder, try simulator.bind(host, port: port), host)
  }

  func endpoint(_ text: String) -> Endpoint { Endpoint(text)! }

  /// Long enough for every packet, too short for any mapping to fall idle.
  func settle() { simulator.run(until: simulator.now + .seconds(1)) }
}

@Suite struct TopologyTests {
  @Test func `addresses are given out in order from each prefix`() throws {
    let world = try World()
    let (_, _, a) = try world.host("a", on: "internet")
    let addresses = world.simulator.interfaces(of: a)[0].addresses
    #expect(addresses == [IPAddress("203.0.113.3")!, IPAddress("2001:db8::3")!])
  }

  @Test func `a small network runs out of addresses before its broadcast address`() throws {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    let network = try simulator.addNetwork("n", prefixes: [IPPrefix("10.0.0.0/30")!])
    let host = try simulator.addHost("h")
    let first = try simulator.attach(host, to: network, link: "1")
    #expect(simulator.interface(first).addresses == [IPAddress("10.0.0.2")!])
    #expect(throws: SimulatorError.addressesExhausted(network: "n")) {
      try simulator.attach(host, to: network, link: "2")
    }
    #expect(throws: SimulatorError.addressInUse(IPAddress("10.0.0.2")!)) {
      try simulator.attach(host, to: network, link: "3", addresses: [IPAddress("10.0.0.2")!])
    }
  }

  @Test func `routed networks reach each other through their parents both ways`() throws {
    let world = try World()
    let link = LinkSettings(delay: .milliseconds(10))
    try world.simulator.addNetwork(
      "isp", prefixes: [IPPrefix("198.51.100.0/24")!], parent: "internet", tx: link, rx: link)
    try world.simulator.addNetwork(
      "site", prefixes: [IPPrefix("192.0.2.0/24")!], parent: "isp", tx: link, rx: link)
    let (a, socket, _) = try world.host("a", on: "site")
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    #expect(world.server.arrivals.first?.path.remote == world.endpoint("192.0.2.2:5000"))
    #expect(a.milliseconds == [40])
  }

  @Test func `an address nobody has is no route`() throws {
    let world = try World()
    let (_, socket, _) = try world.host("a", on: "internet")
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.99:1"))
    world.simulator.send([1], from: socket, to: world.endpoint("8.8.8.8:1"))
    world.settle()
    #expect(world.drops.reasons == ["no-route", "no-route"])
  }

  @Test func `a NAT shows its external address and lets the answer in`() throws {
    let world = try World()
    try world.simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "internet", nat: .portRestricted)
    let (a, socket, _) = try world.host("a", on: "home")
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    #expect(world.server.arrivals.first?.path.remote.address == IPAddress("203.0.113.3")!)
    #expect(a.arrivals.first?.path.local == world.endpoint("192.168.1.2:5000"))
    #expect(world.simulator.natMappings(of: try world.simulator.network("home")).count == 1)
  }

  @Test func `two NATs one behind the other both translate`() throws {
    let world = try World()
    try world.simulator.addNetwork(
      "carrier", prefixes: [IPPrefix("100.64.0.0/16")!], parent: "internet", nat: .carrier)
    try world.simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "carrier", nat: .home)
    let (a, socket, _) = try world.host("a", on: "home")
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    #expect(world.server.arrivals.first?.path.remote.address == IPAddress("203.0.113.3")!)
    #expect(a.tags == [1])
    let inner = world.simulator.natMappings(of: try world.simulator.network("home"))
    let outer = world.simulator.natMappings(of: try world.simulator.network("carrier"))
    #expect(outer.map(\.internal) == inner.map(\.external))
  }

  @Test func `two hosts behind one NAT meet by hairpin without leaving over the uplink`() throws {
    let world = try World()
    try world.simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "internet", link: "wan", nat: .fullCone)
    let (a, aSocket, _) = try world.host("a", on: "home")
    let (b, bSocket, _) = try world.host("b", on: "home", port: 6_000)
    for socket in [aSocket, bSocket] {
      world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3478"))
    }
    world.settle()
    let wan = try world.simulator.link("wan")
    let crossed = world.simulator.statistics(of: wan, .tx).offeredPackets
    let external = world.server.arrivals.map(\.path.remote)
    world.simulator.send([2], from: aSocket, to: external[1])
    world.settle()
    #expect(b.arrivals.last?.bytes == [2])
    #expect(b.arrivals.last?.path.remote == external[0])
    #expect(world.simulator.statistics(of: wan, .tx).offeredPackets == crossed)
    #expect(a.tags == [1])
  }

  @Test func `IPv6 passes a NAT untranslated while its firewall keeps strangers out`() throws {
    let world = try World()
    try world.simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!, IPPrefix("2001:db8:1::/64")!], parent: "internet",
      nat: .home, firewall: .stateful)
    let (a, socket, _) = try world.host("a", on: "home")
    world.simulator.send([1], from: world.serverSocket, to: world.endpoint("[2001:db8:1::2]:5000"))
    world.settle()
    #expect(world.drops.reasons == ["firewall"])
    world.simulator.send([2], from: socket, to: world.endpoint("[2001:db8::2]:3478"))
    world.settle()
    #expect(world.server.arrivals.first?.path.remote == world.endpoint("[2001:db8:1::2]:5000"))
    #expect(a.tags == [2])
  }

  @Test func `every reason of a NAT reaches the trace`() throws {
    let world = try World()
    var configuration = NATConfiguration.symmetric
    configuration.mappingsPerHost = 1
    try world.simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "internet", nat: configuration)
    let (_, socket, _) = try world.host("a", on: "home")
    let (_, stranger, _) = try world.host("stranger", on: "internet")
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    world.simulator.send([1], from: stranger, to: world.server.arrivals[0].path.remote)
    world.simulator.send([1], from: stranger, to: world.endpoint("203.0.113.3:9"))
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3479"))
    world.settle()
    #expect(Set(world.drops.reasons) == ["nat-filter", "nat-no-mapping", "nat-ports-exhausted"])
  }

  @Test func `a rebooted NAT forgets its mappings and may change its address`() throws {
    let world = try World()
    try world.simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "internet", nat: .fullCone)
    let (a, socket, _) = try world.host("a", on: "home")
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    let old = world.server.arrivals[0].path.remote
    try world.simulator.rebootNAT("home", externalAddresses: [IPAddress("203.0.113.50")!])
    world.simulator.send([2], from: world.serverSocket, to: old)
    world.simulator.send([3], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    #expect(world.server.arrivals[1].path.remote.address == IPAddress("203.0.113.50")!)
    #expect(a.tags == [1, 3])
    #expect(world.drops.reasons == ["no-route"])
    #expect(throws: SimulatorError.notPresent("internet has no NAT")) { try world.simulator.rebootNAT("internet") }
  }

  @Test func `a NAT may be put up and taken away`() throws {
    let world = try World()
    try world.simulator.addNetwork("site", prefixes: [IPPrefix("192.0.2.0/24")!], parent: "internet")
    let (a, socket, _) = try world.host("a", on: "site")
    let server = world.endpoint("203.0.113.2:3478")
    world.simulator.send([1], from: socket, to: server)
    world.settle()
    try world.simulator.setNAT(.portRestricted, of: "site")
    world.simulator.send([2], from: socket, to: server)
    world.simulator.send([9], from: world.serverSocket, to: world.endpoint("192.0.2.2:5000"))
    world.settle()
    #expect(world.drops.reasons == ["no-route"])
    try world.simulator.setNAT(.symmetric, of: "site")
    world.simulator.send([3], from: socket, to: server)
    world.settle()
    try world.simulator.setNAT(nil, of: "site")
    world.simulator.send([4], from: socket, to: server)
    world.settle()
    let sources = world.server.arrivals.map { "\($0.path.remote.address)" }
    #expect(sources == ["192.0.2.2", "203.0.113.3", "203.0.113.3", "192.0.2.2"])
    #expect(a.tags == [1, 2, 3, 4])
    #expect(throws: SimulatorError.notPresent("internet has no border")) {
      try world.simulator.setNAT(.home, of: "internet")
    }
  }

  @Test func `clients of an isolated network reach what lies beyond it and not each other`() throws {
    let world = try World()
    try world.simulator.addNetwork(
      "guests", prefixes: [IPPrefix("10.0.0.0/24")!, IPPrefix("2001:db8:5::/64")!], parent: "internet",
      nat: NATConfiguration(filtering: .endpointIndependent, hairpinning: .externalSource))
    try world.simulator.addNetwork(
      "below", prefixes: [IPPrefix("10.1.0.0/24")!, IPPrefix("2001:db8:6::/64")!], parent: "guests")
    let (a, aSocket, aHost) = try world.host("a", on: "guests")
    let (b, bSocket, bHost) = try world.host("b", on: "guests")
    let (c, _, cHost) = try world.host("c", on: "below")
    try world.simulator.setIsolated(true, of: "guests")
    for host in [bHost, cHost] {
      for address in world.simulator.interfaces(of: host)[0].addresses {
        world.simulator.send([1], from: aSocket, to: Endpoint(address, port: 5_000))
      }
    }
    world.settle()
    #expect(world.drops.reasons == Array(repeating: "isolated", count: 4))
    world.simulator.send([2], from: aSocket, to: world.endpoint("203.0.113.2:3478"))
    world.simulator.send([2], from: aSocket, to: world.endpoint("[2001:db8::2]:3478"))
    world.simulator.send([3], from: bSocket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    #expect(a.tags == [2, 2] && b.tags == [3] && c.tags.isEmpty)
    // By the router's outside they meet, where it hairpins.
    let outside = try #require(world.simulator.natMappings(of: world.simulator.network("guests")).last?.external)
    world.simulator.send([4], from: aSocket, to: outside)
    world.settle()
    #expect(b.tags == [3, 4])
    try world.simulator.setIsolated(false, of: "guests")
    let neighbour = world.simulator.interfaces(of: aHost)[0].addresses[0]
    world.simulator.send([5], from: bSocket, to: Endpoint(neighbour, port: 5_000))
    world.settle()
    #expect(a.tags == [2, 2, 5])
  }

  @Test func `an idle mapping is seen to go`() throws {
    let world = try World()
    try world.simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "internet", nat: .portRestricted)
    let (_, socket, _) = try world.host("a", on: "home")
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.simulator.run(until: .zero + .seconds(299))
    let home = try world.simulator.network("home")
    #expect(world.simulator.natMappings(of: home).count == 1)
    world.simulator.run(until: .zero + .seconds(301))
    #expect(world.simulator.natMappings(of: home).isEmpty)
    #expect(world.simulator.nextEventTime == nil)
  }

  @Test func `a firewall that blocks UDP may be put up while the world runs`() throws {
    let world = try World()
    try world.simulator.addNetwork("site", prefixes: [IPPrefix("192.0.2.0/24")!], parent: "internet")
    let (a, socket, _) = try world.host("a", on: "site")
    world.simulator.send([1], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    try world.simulator.setFirewall(.noUDP, of: "site")
    world.simulator.send([2], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    try world.simulator.setFirewall(nil, of: "site")
    world.simulator.send([3], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    #expect(a.tags == [1, 3])
    #expect(world.drops.reasons == ["firewall"])
  }
}

@Suite struct HandoffTests {
  @Test func `a host with two interfaces sends by the first that is up and hears of changes`() throws {
    let world = try World()
    try world.simulator.addNetwork("wifi", prefixes: [IPPrefix("192.0.2.0/24")!], parent: "internet")
    try world.simulator.addNetwork("lte", prefixes: [IPPrefix("198.51.100.0/24")!], parent: "internet")
    let phone = Recorder(world.simulator)
    let host = try world.simulator.addHost("phone", delegate: phone)
    try world.simulator.attach(host, to: try world.simulator.network("wifi"), link: "w", type: .wifi)
    try world.simulator.attach(host, to: try world.simulator.network("lte"), link: "l", type: .cellular)
    let socket = try world.simulator.bind(host)
    let bound = try world.simulator.bind(host, address: IPAddress("192.0.2.2"))
    world.settle()
    phone.changes = []
    let server = world.endpoint("203.0.113.2:3478")
    world.simulator.send([1], from: socket, to: server)
    world.settle()
    try world.simulator.setLink("w", isUp: false)
    world.simulator.send([2], from: socket, to: server)
    world.simulator.send([3], from: bound, to: server)
    world.settle()
    let sources = world.server.arrivals.map(\.path.remote.address)
    #expect(sources == [IPAddress("192.0.2.2")!, IPAddress("198.51.100.2")!])
    #expect(world.drops.reasons == ["link-down"])
    #expect(phone.changes.count == 1)
    #expect(world.simulator.interfaces(of: host).map(\.isUp) == [false, true])
    #expect(world.simulator.interfaces(of: host).map(\.type) == [.wifi, .cellular])
  }

  @Test func `moving to another network gives new addresses and the old ones die`() throws {
    let world = try World()
    try world.simulator.addNetwork("home", prefixes: [IPPrefix("192.0.2.0/24")!], parent: "internet")
    try world.simulator.addNetwork("cafe", prefixes: [IPPrefix("198.51.100.0/24")!], parent: "internet")
    let (phone, socket, host) = try world.host("phone", on: "home")
    world.simulator.run(until: .zero + .seconds(1))
    let interface = world.simulator.interfaces(of: host)[0].id
    try world.simulator.move(interface, to: try world.simulator.network("cafe"))
    world.simulator.send([1], from: world.serverSocket, to: world.endpoint("192.0.2.2:5000"))
    world.simulator.send([2], from: socket, to: world.endpoint("203.0.113.2:3478"))
    world.settle()
    #expect(phone.tags == [2])
    #expect(phone.arrivals[0].path.local == world.endpoint("198.51.100.2:5000"))
    #expect(phone.changes.count == 2)
    #expect(world.drops.reasons == ["no-route"])
  }

  @Test func `a socket bound to any address answers on the network of its peer`() throws {
    let world = try World()
    let host = try world.simulator.addHost("both", delegate: Recorder(world.simulator))
    try world.simulator.addNetwork("side", prefixes: [IPPrefix("10.0.0.0/24")!])
    try world.simulator.attach(host, to: try world.simulator.network("internet"), link: "one")
    try world.simulator.attach(host, to: try world.simulator.network("side"), link: "two")
    let (peer, _, _) = try world.host("peer", on: "side")
    let socket = try world.simulator.bind(host)
    world.simulator.send([1], from: socket, to: world.endpoint("10.0.0.3:5000"))
    world.settle()
    #expect(peer.arrivals.first?.path.remote.address == IPAddress("10.0.0.2"))
  }
}
