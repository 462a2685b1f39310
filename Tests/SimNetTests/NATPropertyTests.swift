import CallCore
import Testing

@testable import SimNet

/// RFC 4787 as a list of facts, with no index and no cleverness: what the NAT is compared with.
private struct ReferenceNAT {
  struct Fact {
    var mapping: Int
    var inside: Endpoint
    var remote: Endpoint
    var external: Endpoint
    var key: Endpoint
    var expires: Instant
  }

  let mapping: EndpointDependence
  let filtering: EndpointDependence
  let inboundRefresh: Bool
  let idle: Interval
  var facts: [Fact] = []
  var made = 0

  func key(_ remote: Endpoint) -> Endpoint {
    switch mapping {
    case .endpointIndependent: Endpoint(IPAddress(v4: 0), port: 0)
    case .addressDependent: Endpoint(remote.address, port: 0)
    case .addressAndPortDependent: remote
    }
  }

  /// Checks what the NAT did with an outbound packet; nil when it is right.
  mutating func outbound(_ inside: Endpoint, _ remote: Endpoint, got external: Endpoint, at now: Instant) -> String? {
    facts.removeAll { $0.expires <= now }
    let mates = facts.filter { $0.inside == inside && $0.key == key(remote) }
    if let mate = mates.first {
      guard mate.external == external else { return "mapping changed from \(mate.external) to \(external)" }
      if let index = facts.firstIndex(where: { $0.mapping == mate.mapping && $0.remote == remote }) {
        facts[index].expires = now + idle
        return nil
      }
    } else {
      guard !facts.contains(where: { $0.external == external }) else { return "port \(external) given twice" }
      made += 1
    }
    facts.append(
      Fact(
        mapping: mates.first?.mapping ?? made, inside: inside, remote: remote, external: external, key: key(remote),
        expires: now + idle))
    return nil
  }

  mutating func inbound(_ remote: Endpoint, _ external: Endpoint, at now: Instant) -> NATVerdict {
    facts.removeAll { $0.expires <= now }
    let mates = facts.filter { $0.external == external }
    guard let mate = mates.first else { return .drop(.noMapping) }
    let admitted =
      switch filtering {
      case .endpointIndependent: true
      case .addressDependent: mates.contains { $0.remote.address == remote.address }
      case .addressAndPortDependent: mates.contains { $0.remote == remote }
      }
    guard admitted else { return .drop(.filtered) }
    if inboundRefresh {
      if let index = facts.firstIndex(where: { $0.external == external && $0.remote == remote }) {
        facts[index].expires = now + idle
      } else {
        var fact = mate
        fact.remote = remote
        fact.expires = now + idle
        facts.append(fact)
      }
    }
    return .forward(source: remote, destination: mate.inside)
  }
}

struct NATPropertyTests {
  @Test(arguments: NATBehaviorTests.combinations, [false, true])
  func `random flows see what the reference model says`(
    _ behaviors: (EndpointDependence, EndpointDependence), _ inboundRefresh: Bool
  ) throws {
    let idle = Interval.seconds(30)
    var nat = makeNAT(
      NATConfiguration(
        mapping: behaviors.0, filtering: behaviors.1, timers: SessionTimers(udp: idle),
        inboundRefresh: inboundRefresh, preservesPort: inboundRefresh))
    var model = ReferenceNAT(
      mapping: behaviors.0, filtering: behaviors.1, inboundRefresh: inboundRefresh, idle: idle)
    var random = RandomStream(seed: 99)
    var externals: [Endpoint] = [Endpoint(publicAddress, port: 1)]
    var now = Instant.zero
    for step in 0..<3_000 {
      now += .milliseconds(random.uniform(in: 0...4_000))
      let inside = Endpoint(
        IPAddress(v4: 0x0A00_0001 + UInt32(random.uniform(below: 2))), port: 5_000 + UInt16(random.uniform(below: 2)))
      let remote = Endpoint(
        IPAddress(v4: 0xC633_6401 + UInt32(random.uniform(below: 3))), port: 100 + UInt16(random.uniform(below: 2)))
      if random.chance(0.5) {
        let external = try nat.send(inside, remote, at: now)
        externals.append(external)
        if externals.count > 8 { externals.removeFirst() }
        let complaint = model.outbound(inside, remote, got: external, at: now)
        #expect(complaint == nil, "step \(step)")
      } else {
        let external = externals[Int(random.uniform(below: UInt64(externals.count)))]
        let verdict = nat.receive(remote, external, at: now)
        let expected = model.inbound(remote, external, at: now)
        #expect(verdict == expected, "step \(step)")
      }
      let expiry = nat.nextExpiry
      #expect(expiry == model.facts.map(\.expires).min(), "step \(step)")
      let counts = (nat.mappingCount, nat.sessionCount)
      #expect(counts.0 == Set(model.facts.map(\.mapping)).count && counts.1 == model.facts.count, "step \(step)")
      _ = nat.drainEvents()
    }
  }

  @Test func `every named profile answers its own remote and forgets in the end`() throws {
    for (name, configuration) in NATConfiguration.named {
      var nat = makeNAT(configuration)
      let external = try nat.send(alice, server)
      let verdict = nat.receive(server, external)
      #expect(verdict == .forward(source: server, destination: alice), "\(name)")
      nat.advance(to: at(500_000))
      let left = nat.mappingCount
      #expect(left == 0, "\(name)")
    }
  }
}
