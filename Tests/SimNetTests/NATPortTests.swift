import CallCore
import Testing

@testable import SimNet

struct NATPortTests {
  @Test func `a free port is kept and a taken one is replaced`() throws {
    var nat = makeNAT(.portRestricted)
    let first = try nat.send(alice, server)
    let second = try nat.send(bob, server)
    #expect(first.port == 5000)
    #expect(second.port != 5000)
    let toBob = nat.receive(server, second)
    #expect(toBob == .forward(source: server, destination: bob))
  }

  @Test func `netfilter shares a port between hosts until they talk to the same remote`() throws {
    var nat = makeNAT(.linux)
    let first = try nat.send(alice, server)
    let shared = try nat.send(bob, serverOtherAddress)
    let collided = try nat.send(bob, server)
    #expect(first.port == 5000 && shared.port == 5000)
    #expect(collided.port != 5000)
    let toAlice = nat.receive(server, first)
    let toBob = nat.receive(serverOtherAddress, first)
    let toNobody = nat.receive(serverOtherPort, first)
    #expect(toAlice == .forward(source: server, destination: alice))
    #expect(toBob == .forward(source: serverOtherAddress, destination: bob))
    #expect(toNobody == .drop(.filtered))
  }

  @Test func `sequential ports follow one another and wrap within the range`() throws {
    var nat = makeNAT(
      NATConfiguration(
        mapping: .addressAndPortDependent, preservesPort: false, portSelection: .sequential, portRange: 4000...4002))
    var ports: [UInt16] = []
    for port in UInt16(1)...3 { ports.append(try nat.send(alice, Endpoint(server.address, port: port)).port) }
    #expect(ports == [4000, 4001, 4002])
    let fourth = nat.translateOutbound(
      source: alice, destination: Endpoint(server.address, port: 4), protocol: .udp, at: .zero)
    #expect(fourth == .drop(.portsExhausted))
    nat.advance(to: at(300))
    let reused = try nat.send(alice, server, at: at(300)).port
    #expect(reused == 4000)
  }

  @Test func `the 16385th mapping and every one after it to the last port is given`() throws {
    var nat = makeNAT(NATConfiguration(preservesPort: false, portRange: 1_024...65_535))
    var ports: Set<UInt16> = []
    for host in 0..<64_512 {
      let source = Endpoint(IPAddress(v4: 0x0A00_0000 + UInt32(host)), port: 5000)
      ports.insert(try nat.send(source, server).port)
    }
    #expect(ports.count == 64_512)
    let extra = Endpoint("10.9.9.9:1")!
    let exhausted = nat.translateOutbound(source: extra, destination: server, protocol: .udp, at: .zero)
    #expect(exhausted == .drop(.portsExhausted))
  }

  @Test func `well-known ports map to well-known ports and high to high`() throws {
    var nat = makeNAT(NATConfiguration(preservesPort: false))
    for number in 1...40 {
      let low = try nat.send(Endpoint(alice.address, port: UInt16(number)), server)
      let high = try nat.send(Endpoint(alice.address, port: UInt16(2_000 + number)), server)
      #expect(low.port <= 1_023 && high.port >= 1_024)
    }
  }

  @Test func `parity is kept where configured`() throws {
    var nat = makeNAT(NATConfiguration(preservesPort: false, preservesParity: true))
    for port in UInt16(6_000)..<6_100 {
      let external = try nat.send(Endpoint(alice.address, port: port), server)
      #expect(external.port & 1 == port & 1)
    }
  }

  @Test func `a host at its quota is refused while its neighbour is served`() throws {
    var nat = makeNAT(NATConfiguration(mapping: .addressAndPortDependent, mappingsPerHost: 2))
    let sent1 = try? nat.send(alice, server)
    #expect(sent1 != nil)
    let sent2 = try? nat.send(alice, serverOtherPort)
    #expect(sent2 != nil)
    let third = nat.translateOutbound(source: alice, destination: serverOtherAddress, protocol: .udp, at: .zero)
    #expect(third == .drop(.portsExhausted))
    let sent3 = try? nat.send(bob, server)
    #expect(sent3 != nil)
    let known = try? nat.send(alice, server, at: at(1))
    #expect(known != nil)
    let afterExpiry = try? nat.send(alice, serverOtherAddress, at: at(301))
    #expect(afterExpiry != nil)
  }

  @Test func `a freed port rests for its reuse delay`() throws {
    var nat = makeNAT(
      NATConfiguration(
        timers: SessionTimers(udp: .seconds(10)), preservesPort: false, portRange: 4000...4000,
        portReuseDelay: .seconds(120)))
    let sent4 = try? nat.send(alice, server)
    #expect(sent4 != nil)
    let sent5 = try? nat.send(bob, server, at: at(10))
    #expect(sent5 == nil)
    let sent6 = try? nat.send(bob, server, at: at(129))
    #expect(sent6 == nil)
    let sent7 = try? nat.send(bob, server, at: at(130))
    #expect(sent7 != nil)
  }

  @Test func `paired pooling keeps a host on one address and spreads hosts`() throws {
    let pool = (1...4).map { IPAddress(v4: 0xCB00_7100 + UInt32($0)) }
    var nat = makeNAT(NATConfiguration(mapping: .addressAndPortDependent, pooling: .paired), addresses: pool)
    var addresses: [IPAddress] = []
    for host in UInt32(0)..<4 {
      var mine: Set<IPAddress> = []
      for port in UInt16(1)...20 {
        let source = Endpoint(IPAddress(v4: 0x0A00_0001 + host), port: 7_000)
        mine.insert(try nat.send(source, Endpoint(server.address, port: port)).address)
      }
      #expect(mine.count == 1)
      addresses += mine
    }
    #expect(addresses == pool)
    var arbitrary = makeNAT(NATConfiguration(mapping: .addressAndPortDependent, pooling: .arbitrary), addresses: pool)
    var seen: Set<IPAddress> = []
    for port in UInt16(1)...40 {
      seen.insert(try arbitrary.send(alice, Endpoint(server.address, port: port)).address)
    }
    #expect(seen.count > 1)
  }
}

struct NATHairpinTests {
  private func hairpin(_ hairpinning: Hairpinning, filtering: EndpointDependence) throws -> (NATVerdict, Endpoint) {
    var nat = makeNAT(NATConfiguration(filtering: filtering, hairpinning: hairpinning))
    let aliceOutside = try nat.send(alice, server)
    let bobOutside = try nat.send(bob, server)
    _ = nat.translateOutbound(source: bob, destination: aliceOutside, protocol: .udp, at: .zero)
    return (
      nat.translateOutbound(source: alice, destination: bobOutside, protocol: .udp, at: .zero), aliceOutside
    )
  }

  @Test func `REQ-9 a hairpinned packet shows the external source`() throws {
    let (verdict, outside) = try hairpin(.externalSource, filtering: .addressAndPortDependent)
    #expect(verdict == .forward(source: outside, destination: bob))
  }

  @Test func `the internal-source form shows the internal source`() throws {
    let (verdict, _) = try hairpin(.internalSource, filtering: .addressAndPortDependent)
    #expect(verdict == .forward(source: alice, destination: bob))
  }

  @Test func `without hairpinning the packet is dropped`() throws {
    let (verdict, _) = try hairpin(.none, filtering: .endpointIndependent)
    #expect(verdict == .drop(.hairpin))
  }

  @Test func `the filter holds for hairpinned packets too`() throws {
    var nat = makeNAT(.portRestricted)
    let bobOutside = try nat.send(bob, server)
    let verdict = nat.translateOutbound(source: alice, destination: bobOutside, protocol: .udp, at: .zero)
    #expect(verdict == .drop(.filtered))
  }
}

struct NATFaultTests {
  @Test func `a reboot forgets every mapping and gives other ports`() throws {
    var nat = makeNAT(.symmetric)
    let before = try nat.send(alice, server)
    nat.reset(at: at(1))
    let inbound = nat.receive(server, before, at: at(1))
    #expect(inbound == .drop(.noMapping))
    let after = try nat.send(alice, server, at: at(1))
    #expect(after != before)
    let reasons = nat.drainEvents().map { if case .removed(_, let reason) = $0 { reason.name } else { "created" } }
    #expect(reasons == ["created", "reset", "created"])
  }

  @Test func `a reconnect brings the new address`() throws {
    var nat = makeNAT(.home)
    _ = try? nat.send(alice, server)
    let other = IPAddress("203.0.113.77")!
    nat.reset(externalAddresses: [other], at: at(1))
    let after = try? nat.send(alice, server, at: at(1))
    #expect(after == Endpoint(other, port: 5000))
  }

  @Test(arguments: [NATConfiguration.portRestricted, .addressRestricted, .linux])
  func `a remap moves live mappings and keeps their sessions`(_ configuration: NATConfiguration) throws {
    var nat = makeNAT(configuration)
    let old = try nat.send(alice, server)
    nat.remap(at: at(1))
    let new = try nat.send(alice, server, at: at(1))
    #expect(new != old)
    let toOld = nat.receive(server, old, at: at(1))
    let toNew = nat.receive(server, new, at: at(1))
    #expect(toOld == .drop(.noMapping))
    #expect(toNew == .forward(source: server, destination: alice))
    nat.advance(to: at(1_000))
    let left = nat.mappingCount + nat.sessionCount
    #expect(left == 0)
  }

  @Test func `removing one host's mappings leaves the others`() throws {
    var nat = makeNAT(.portRestricted)
    let aliceOutside = try nat.send(alice, server)
    let bobOutside = try nat.send(bob, server)
    nat.removeMappings(of: alice.address, at: at(1))
    let toAlice = nat.receive(server, aliceOutside, at: at(1))
    let toBob = nat.receive(server, bobOutside, at: at(1))
    #expect(toAlice == .drop(.noMapping))
    #expect(toBob == .forward(source: server, destination: bob))
  }
}
