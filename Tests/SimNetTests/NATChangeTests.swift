import CallCore
import Testing

@testable import SimNet

/// A NAT whose behavior is changed while it runs keeps everything else.
struct NATChangeTests {
  static let behaviors = EndpointDependence.allCases.flatMap { mapping in
    EndpointDependence.allCases.map { NATConfiguration(mapping: mapping, filtering: $0, preservesPort: false) }
  }

  @Test(arguments: behaviors, behaviors)
  func `running flows keep their ports and new ones follow the new behavior`(
    _ old: NATConfiguration, _ new: NATConfiguration
  ) throws {
    var nat = makeNAT(old)
    let external = try nat.send(alice, server)
    nat.change(to: new, at: at(1))
    let again = try nat.send(alice, server, at: at(2))
    #expect(again == external)
    #expect(nat.receive(server, external, at: at(2)) == .forward(source: server, destination: alice))
    // A host that was silent so far has what a new NAT of that behavior would give it.
    let first = try nat.send(bob, server, at: at(3))
    let otherPort = try nat.send(bob, serverOtherPort, at: at(3))
    let otherAddress = try nat.send(bob, serverOtherAddress, at: at(3))
    #expect((otherPort == first) == (new.mapping != .addressAndPortDependent))
    #expect((otherAddress == first) == (new.mapping == .endpointIndependent))
    let stranger = nat.receive(Endpoint("198.51.100.1:9")!, first, at: at(4))
    let farStranger = nat.receive(Endpoint("198.51.100.9:9")!, first, at: at(4))
    #expect((stranger == .drop(.filtered)) == (new.filtering == .addressAndPortDependent))
    #expect((farStranger == .drop(.filtered)) == (new.filtering != .endpointIndependent))
  }

  @Test func `a new filter holds for mappings that are there`() throws {
    var nat = makeNAT(NATConfiguration(filtering: .endpointIndependent))
    let external = try nat.send(alice, server)
    #expect(nat.receive(serverOtherPort, external) != .drop(.filtered))
    var strict = nat.configuration
    strict.filtering = .addressDependent
    nat.change(to: strict, at: at(1))
    #expect(nat.receive(serverOtherPort, external, at: at(1)) == .forward(source: serverOtherPort, destination: alice))
    #expect(nat.receive(serverOtherAddress, external, at: at(1)) == .drop(.filtered))
    strict.filtering = .addressAndPortDependent
    nat.change(to: strict, at: at(2))
    #expect(nat.receive(serverOtherPort, external, at: at(2)) == .drop(.filtered))
    #expect(nat.receive(server, external, at: at(2)) == .forward(source: server, destination: alice))
  }

  @Test func `a timer that changes runs from the last packet`() throws {
    var nat = makeNAT(NATConfiguration())
    _ = try nat.send(alice, server, at: at(0))
    _ = try nat.send(bob, server, at: at(70))
    _ = nat.drainEvents()
    nat.change(to: NATConfiguration(timers: SessionTimers(udp: .seconds(60))), at: at(100))
    #expect(nat.mappings.map(\.internal) == [bob])
    #expect(nat.drainEvents().count == 1)
    #expect(nat.nextExpiry == at(130))
    nat.change(to: NATConfiguration(timers: SessionTimers(udp: .seconds(90))), at: at(110))
    #expect(nat.nextExpiry == at(160))
    nat.advance(to: at(160))
    #expect(nat.mappingCount == 0)
  }

  @Test func `the sequence of ports goes on as if nothing had changed`() throws {
    let random = NATConfiguration(preservesPort: false)
    var changed = makeNAT(random)
    var plain = makeNAT(random)
    var other = random
    other.timers = SessionTimers(udp: .seconds(20))
    for step in 0..<20 {
      let source = Endpoint(IPAddress("10.0.0.\(step + 2)")!, port: 5_000)
      if step % 5 == 3 { changed.change(to: step % 2 == 0 ? random : other, at: .zero) }
      #expect(try changed.send(source, server) == plain.send(source, server))
    }
  }

  @Test func `a smaller quota ends no mapping and a port given out is not given out again`() throws {
    var nat = makeNAT(NATConfiguration(mapping: .addressAndPortDependent, preservesPort: true))
    let first = try nat.send(alice, server)
    let second = try nat.send(alice, serverOtherPort)
    var narrow = nat.configuration
    narrow.mappingsPerHost = 1
    narrow.portRange = 5_000...5_001
    nat.change(to: narrow, at: at(1))
    #expect(try nat.send(alice, server, at: at(1)) == first)
    #expect(try nat.send(alice, serverOtherPort, at: at(1)) == second)
    #expect(throws: NATDropReason.portsExhausted) { try nat.send(alice, serverOtherAddress, at: at(1)) }
    #expect(try nat.send(bob, server, at: at(1)).port == 5_001)
  }

  @Test func `freed ports rest as long as the present delay says`() throws {
    var configuration = NATConfiguration(
      timers: SessionTimers(udp: .seconds(10)), portRange: 5_000...5_000, portReuseDelay: .seconds(100))
    var nat = makeNAT(configuration)
    _ = try nat.send(alice, server)
    nat.advance(to: at(10))
    #expect(throws: NATDropReason.portsExhausted) { try nat.send(bob, server, at: at(20)) }
    configuration.portReuseDelay = .seconds(5)
    nat.change(to: configuration, at: at(21))
    #expect(try nat.send(bob, server, at: at(21)).port == 5_000)
  }

  /// Whatever is changed and sent, a flow that is alive keeps its external endpoint, and its answers reach it.
  @Test(arguments: 0..<20) func `flows survive any sequence of changes`(seed: Int) throws {
    var random = RandomSource(seed: UInt64(seed)).stream("walk")
    func pick<T>(_ choices: [T]) -> T { choices[Int(random.uniform(below: UInt64(choices.count)))] }
    func configuration() -> NATConfiguration {
      NATConfiguration(
        mapping: pick(EndpointDependence.allCases), filtering: pick(EndpointDependence.allCases),
        timers: SessionTimers(udp: pick([.seconds(60), .seconds(300)])), inboundRefresh: pick([true, false]),
        preservesPort: pick([true, false]), hairpinning: pick([.none, .externalSource]))
    }
    var nat = makeNAT(configuration())
    var now = Instant.zero
    var alive: [(inside: Endpoint, remote: Endpoint, external: Endpoint, last: Instant)] = []
    var (created, removed) = (0, 0)
    for _ in 0..<600 {
      now += .seconds(Int64(random.uniform(below: 8)))
      alive.removeAll { now - $0.last >= .seconds(60) }
      let remote = pick([server, serverOtherPort, serverOtherAddress])
      let inside = Endpoint(IPAddress("10.0.0.\(2 + random.uniform(below: 3))")!, port: 5_000)
      switch random.uniform(below: 8) {
      case 0: nat.change(to: configuration(), at: now)
      case 1:
        guard let flow = alive.first else { continue }
        _ = nat.receive(pick([server, serverOtherPort, serverOtherAddress]), flow.external, at: now)
      default:
        let external = try nat.send(inside, remote, at: now)
        if let index = alive.firstIndex(where: { $0.inside == inside && $0.remote == remote }) {
          #expect(alive[index].external == external)
          alive.remove(at: index)
        }
        alive.append((inside, remote, external, now))
      }
      for flow in alive {
        let answer = nat.receive(flow.remote, flow.external, at: now)
        #expect(answer == .forward(source: flow.remote, destination: flow.inside))
      }
      for event in nat.drainEvents() {
        switch event {
        case .created: created += 1
        case .removed: removed += 1
        case .remapped, .blockTaken, .blockFreed: break
        }
      }
      #expect(nat.mappingCount == created - removed)
    }
    nat.advance(to: now + .seconds(1_000))
    #expect(nat.mappingCount == 0 && nat.sessionCount == 0)
  }

  @Test func `every mapping moves to another port under its running flows`() throws {
    for configuration in Self.behaviors {
      var nat = makeNAT(configuration)
      let (first, second) = (try nat.send(alice, server), try nat.send(bob, server))
      nat.remap(at: at(1))
      let moved = try nat.send(alice, server, at: at(1))
      #expect(moved != first && nat.mappings.count == 2)
      #expect(nat.receive(server, moved, at: at(1)) == .forward(source: server, destination: alice))
      #expect(nat.receive(server, second, at: at(1)) == .drop(.noMapping))
    }
  }
}

/// The same in a world.
@Suite struct RunningNATTests {
  private let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
  private let removals: NATRemovals
  private let socket: UDPSocket
  private let host: HostID
  private let remote: Endpoint

  init() throws {
    try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/29")!])
    let far = try simulator.addHost("server")
    try simulator.attach(far, to: try simulator.network("internet"), link: "server")
    _ = try simulator.bind(far, port: 3_478)
    remote = Endpoint(simulator.interfaces(of: far)[0].addresses[0], port: 3_478)
    try simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "internet",
      nat: NATConfiguration(timers: SessionTimers(udp: .seconds(10))))
    host = try simulator.addHost("a")
    try simulator.attach(host, to: try simulator.network("home"), link: "a")
    socket = try simulator.bind(host, port: 5_000)
    removals = NATRemovals(simulator.trace)
  }

  @Test func `a mapping that falls idle before those that were there is seen to go in time`() throws {
    _ = try simulator.connect(host, to: remote)
    simulator.run(until: at(3))
    simulator.send([1], from: socket, to: remote)
    simulator.run(until: at(20))
    #expect(removals.seconds == [13])
  }

  @Test func `a mapping that a shortened timer ends is seen to go in time`() throws {
    simulator.send([1], from: socket, to: remote)
    simulator.run(until: at(1))
    try simulator.changeNAT("home", to: NATConfiguration(timers: SessionTimers(udp: .seconds(4))))
    simulator.run(until: at(20))
    #expect(removals.seconds == [4])
  }

  @Test func `a NAT that reboots with another address takes one that is free, and all in turn`() throws {
    let home = try simulator.network("home")
    var seen: [String] = []
    for _ in 0..<6 {
      try simulator.rebootNAT("home", externalAddresses: [])
      seen += simulator.externalAddresses(of: home).map(\.description)
    }
    #expect(seen == [4, 5, 6, 3, 4, 3].map { "203.0.113.\($0)" })
    try simulator.rebootNAT("home")
    #expect(simulator.externalAddresses(of: home).map(\.description) == ["203.0.113.3"])
  }

  @Test func `what cannot change under mappings is refused`() throws {
    var overloading = NATConfiguration(
      mapping: .addressAndPortDependent, filtering: .addressAndPortDependent, overloadsPorts: true)
    #expect(throws: SimulatorError.self) { try simulator.changeNAT("home", to: overloading) }
    overloading.mapping = .endpointIndependent
    #expect(throws: SimulatorError.self) { try simulator.changeNAT("home", to: overloading) }
    #expect(throws: SimulatorError.notPresent("internet has no NAT")) {
      try simulator.changeNAT("internet", to: NATConfiguration())
    }
    #expect(try simulator.natConfiguration(of: "internet") == nil)
  }
}

/// When mappings went, in whole seconds.
private final class NATRemovals {
  var seconds: [Int64] = []

  init(_ trace: Trace) {
    trace.listen(to: NetworkEvents.mappingRemoved) { [self] record, _, _, _, _ in
      seconds.append((record.time - .zero).milliseconds / 1_000)
    }
  }
}
