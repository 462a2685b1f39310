import CallCore
import Testing

@testable import SimNet

/// What a tally says of a NAT, against another NAT that is given the same packets.
struct NATTallyTests {
  /// A NAT with one behaviour changed, by what is changed.
  private static func changed(_ old: NATConfiguration, _ random: inout RandomStream) -> NATConfiguration {
    var new = old
    switch random.uniform(below: 17) {
    case 0: new.mapping = EndpointDependence.allCases[Int(random.uniform(below: 3))]
    case 1: new.filtering = EndpointDependence.allCases[Int(random.uniform(below: 3))]
    case 2: new.timers.udpAnswered = .seconds(Int64(5 + random.uniform(below: 60)))
    case 3: new.timers.udpFirst = .seconds(Int64(5 + random.uniform(below: 60)))
    case 4: new.timers.udpAnsweredAge = .seconds(Int64(random.uniform(below: 9)))
    case 5: new.inboundRefresh.toggle()
    case 6: new.preservesPort.toggle()
    case 7: new.preservesParity.toggle()
    case 8: new.portSelection = new.portSelection == .random ? .sequential : .random
    case 9: new.portReuseDelay = .seconds(Int64(random.uniform(below: 60)))
    case 10: new.mappingsPerHost = Int(1 + random.uniform(below: 12))
    case 11: new.mappingLimit = Int(1 + random.uniform(below: 20))
    case 12: new.hairpinning = new.hairpinning == .none ? .externalSource : .none
    case 13: new.adoptsMidstreamTCP.toggle()
    case 14 where new.blocks == nil: new.portRange = 2_000...UInt16(2_000 + random.uniform(below: 32))
    case 15: new.pooling = new.pooling == .paired ? .arbitrary : .paired
    default: new.timers.tcpReset = .seconds(Int64(5 + random.uniform(below: 60)))
    }
    return new
  }

  @Test func `a NAT whose tally shows nothing of a change has done the same as one without it`() {
    var random = RandomSource(seed: 5).stream("tally")
    var (same, shown) = (0, 0)
    for _ in 0..<3_000 {
      let old = NATConfiguration(
        mapping: EndpointDependence.allCases[Int(random.uniform(below: 3))],
        filtering: EndpointDependence.allCases[Int(random.uniform(below: 3))], timers: .init(udp: .seconds(30)),
        preservesPort: random.chance(0.5), portSelection: random.chance(0.5) ? .random : .sequential,
        portRange: 2_000...(random.chance(0.5) ? 2_031 : 2_003),
        portReuseDelay: random.chance(0.5) ? .zero : .seconds(20),
        blocks: random.chance(0.3) ? PortBlocks(size: 4, perHost: 1) : nil)
      let new = Self.changed(old, &random)
      let addresses = (0...Int(random.uniform(below: 2))).map { IPAddress(v4: publicAddress.v4Bits + UInt32($0)) }
      var with = makeNAT(old, addresses: addresses)
      var without = makeNAT(old, addresses: addresses)
      var now = Instant.zero
      _ = Self.play(&with, &without, &random, from: &now)
      let earlier = with.tally
      with.change(to: new, at: now)
      without.change(to: old, at: now)
      let story = Self.play(&with, &without, &random, from: &now)
      if with.tally.shows(new, insteadOf: old, since: earlier) {
        shown += 1
      } else {
        same += 1
        #expect(story.isSame, "\(old) and \(new)")
      }
    }
    #expect(same > 500 && shown > 500, "\(same) and \(shown)")
  }

  /// Gives both the same few packets, and says whether they did the same with them.
  private static func play(
    _ a: inout NAT, _ b: inout NAT, _ random: inout RandomStream, from now: inout Instant
  ) -> (isSame: Bool, packets: Int) {
    let inside = (0..<6).map { Endpoint(IPAddress("192.168.1.\(2 + $0 / 3)")!, port: UInt16(2_000 + $0 % 3)) }
    let outside = (0..<4).map { Endpoint(IPAddress("198.51.100.\(1 + $0 / 2)")!, port: UInt16(1 + $0 % 2)) }
    let flags: [TCPFlags] = [.syn, .ack, .rst, [.fin, .ack]]
    var isSame = true
    let count = Int(1 + random.uniform(below: 12))
    for _ in 0..<count {
      now += .milliseconds(Int64(random.uniform(below: 20_000)))
      let transport: TransportProtocol = random.chance(0.7) ? .udp : .tcp
      let flag = flags[Int(random.uniform(below: 4))]
      let there = outside[Int(random.uniform(below: 4))]
      if random.chance(0.6) {
        let isHairpin = random.chance(0.1)
        let here = inside[Int(random.uniform(below: 6))]
        let to = isHairpin ? Endpoint(publicAddress, port: 2_003) : there
        let first = a.translateOutbound(source: here, destination: to, protocol: transport, flags: flag, at: now)
        let second = b.translateOutbound(source: here, destination: to, protocol: transport, flags: flag, at: now)
        isSame = first == second && isSame
      } else {
        let ports = a.mappings.map(\.external.port)
        let port = ports.isEmpty || random.chance(0.2) ? 2_009 : ports[Int(random.uniform(below: UInt64(ports.count)))]
        let to = Endpoint(publicAddress, port: port)
        let first = a.translateInbound(source: there, destination: to, protocol: transport, flags: flag, at: now)
        let second = b.translateInbound(source: there, destination: to, protocol: transport, flags: flag, at: now)
        isSame = first == second && isSame
      }
      isSame = isSame && a.mappings == b.mappings
    }
    return (isSame, count)
  }

  @Test func `a segment of a host without mappings tells nothing of the mapping behavior`() {
    var nat = makeNAT(NATConfiguration(mapping: .endpointIndependent))
    var other = nat.configuration
    other.mapping = .addressAndPortDependent
    let beginning = nat.tally
    let reset = nat.translateOutbound(
      source: alice, destination: server, protocol: .tcp, flags: .rst, at: .zero + .seconds(1))
    #expect(reset == .drop(.noMapping))
    #expect(!nat.tally.shows(other, insteadOf: nat.configuration, since: beginning))
    _ = nat.translateOutbound(source: alice, destination: server, protocol: .tcp, flags: .syn, at: .zero + .seconds(2))
    #expect(nat.tally.shows(other, insteadOf: nat.configuration, since: beginning))
  }

  @Test func `the block of a port that is kept was chosen`() throws {
    var nat = makeNAT(
      NATConfiguration(portSelection: .sequential, portRange: 5_000...5_063, blocks: PortBlocks(size: 8)))
    var other = nat.configuration
    other.portSelection = .random
    let beginning = nat.tally
    #expect(try nat.send(alice, server).port == alice.port)
    #expect(nat.tally.shows(other, insteadOf: nat.configuration, since: beginning))
  }

  @Test func `free ports are those nobody has, in the range and out of rest`() throws {
    var nat = makeNAT(NATConfiguration(timers: .init(udp: .seconds(10)), portRange: 5_000...5_063))
    #expect(nat.freePortCount == 128)
    _ = try nat.send(alice, server)
    #expect(nat.freePortCount == 127)
    nat.advance(to: .zero + .seconds(11))
    #expect(nat.freePortCount == 128)
    var resting = nat.configuration
    resting.portReuseDelay = .seconds(100)
    nat.change(to: resting, at: .zero + .seconds(12))
    _ = try nat.send(alice, server, at: .zero + .seconds(13))
    nat.advance(to: .zero + .seconds(60))
    #expect(nat.mappingCount == 0 && nat.freePortCount == 127)
    nat.reset(at: .zero + .seconds(61))
    #expect(nat.freePortCount == 128)
    #expect(makeNAT(.linux).freePortCount == nil)
  }
}
