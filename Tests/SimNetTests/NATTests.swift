import CallCore
import Testing

@testable import SimNet

let alice = Endpoint("10.0.0.2:5000")!
let bob = Endpoint("10.0.0.3:5000")!
let publicAddress = IPAddress("203.0.113.1")!
let server = Endpoint("198.51.100.1:3478")!
let serverOtherPort = Endpoint("198.51.100.1:3479")!
let serverOtherAddress = Endpoint("198.51.100.2:3478")!

func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

func makeNAT(_ configuration: NATConfiguration, addresses: [IPAddress] = [publicAddress]) -> NAT {
  NAT(configuration, externalAddresses: addresses, random: RandomStream(seed: 7))
}

extension NAT {
  /// Sends from inside and returns the external endpoint.
  mutating func send(
    _ source: Endpoint, _ destination: Endpoint, at now: Instant = .zero, tcp flags: TCPFlags? = nil
  ) throws(NATDropReason) -> Endpoint {
    let verdict = translateOutbound(
      source: source, destination: destination, protocol: flags == nil ? .udp : .tcp, flags: flags ?? [], at: now)
    switch verdict {
    case .forward(let external, _): return external
    case .drop(let reason): throw reason
    }
  }

  mutating func receive(
    _ source: Endpoint, _ destination: Endpoint, at now: Instant = .zero, tcp flags: TCPFlags? = nil
  ) -> NATVerdict {
    translateInbound(
      source: source, destination: destination, protocol: flags == nil ? .udp : .tcp, flags: flags ?? [], at: now)
  }

  mutating func drainEvents() -> [NATEvent] {
    var all: [NATEvent] = []
    while let event = nextEvent() { all.append(event) }
    return all
  }
}

struct NATBehaviorTests {
  static let combinations = EndpointDependence.allCases.flatMap { mapping in
    EndpointDependence.allCases.map { (mapping, $0) }
  }

  @Test(arguments: combinations)
  func `mapping reuses a port exactly as far as its behavior looks`(
    _ mapping: EndpointDependence, _ filtering: EndpointDependence
  ) throws {
    var nat = makeNAT(NATConfiguration(mapping: mapping, filtering: filtering, preservesPort: false))
    let first = try nat.send(alice, server)
    let again = try nat.send(alice, server)
    let otherPort = try nat.send(alice, serverOtherPort)
    let otherAddress = try nat.send(alice, serverOtherAddress)
    #expect(again == first)
    #expect((otherPort == first) == (mapping != .addressAndPortDependent))
    #expect((otherAddress == first) == (mapping == .endpointIndependent))
  }

  @Test(arguments: combinations)
  func `filtering admits exactly the remotes its behavior names`(
    _ mapping: EndpointDependence, _ filtering: EndpointDependence
  ) throws {
    var nat = makeNAT(NATConfiguration(mapping: mapping, filtering: filtering))
    let external = try nat.send(alice, server)
    let same = nat.receive(server, external)
    let otherPort = nat.receive(serverOtherPort, external)
    let otherAddress = nat.receive(serverOtherAddress, external)
    let toAlice = { (source: Endpoint) in NATVerdict.forward(source: source, destination: alice) }
    #expect(same == toAlice(server))
    #expect(
      otherPort == (filtering == .addressAndPortDependent ? .drop(.filtered) : toAlice(serverOtherPort)))
    #expect(
      otherAddress == (filtering == .endpointIndependent ? toAlice(serverOtherAddress) : .drop(.filtered)))
  }

  @Test func `an endpoint nobody mapped is no mapping rather than filtered`() {
    var nat = makeNAT(.portRestricted)
    let verdict = nat.receive(server, Endpoint(publicAddress, port: 9))
    #expect(verdict == .drop(.noMapping))
  }

  @Test func `UDP and TCP have separate mappings`() throws {
    var nat = makeNAT(.fullCone)
    let external = try nat.send(alice, server)
    let tcp = nat.receive(server, external, tcp: .syn)
    #expect(tcp == .drop(.noMapping))
  }

  @Test func `IPv6 passes untouched both ways`() {
    var nat = makeNAT(.symmetric)
    let a = Endpoint("[2001:db8::1]:1")!
    let b = Endpoint("[2001:db8::2]:2")!
    let out = nat.translateOutbound(source: a, destination: b, protocol: .udp, at: .zero)
    let back = nat.receive(b, a)
    let count = nat.mappingCount
    #expect(out == .forward(source: a, destination: b))
    #expect(back == .forward(source: b, destination: a))
    #expect(count == 0)
  }

  @Test func `the mapping snapshot is in order of creation`() {
    var nat = makeNAT(.symmetric)
    for port in 1...50 { _ = try? nat.send(alice, Endpoint(server.address, port: UInt16(port))) }
    let numbers = nat.mappings.map(\.number)
    #expect(numbers == Array(1...50))
  }
}

struct NATExpiryTests {
  @Test func `REQ-5 an idle mapping lives 300 s by default and not a moment longer`() throws {
    var nat = makeNAT(.portRestricted)
    let external = try nat.send(alice, server)
    let expiry = nat.nextExpiry
    #expect(expiry == at(300))
    let before = nat.receive(server, external, at: at(300) - .nanoseconds(1))
    let after = nat.receive(server, external, at: at(300))
    #expect(before == .forward(source: server, destination: alice))
    #expect(after == .drop(.noMapping))
  }

  @Test func `outbound packets refresh, inbound ones only where configured`() throws {
    for inboundRefresh in [false, true] {
      var nat = makeNAT(NATConfiguration(inboundRefresh: inboundRefresh))
      let external = try nat.send(alice, server)
      _ = try? nat.send(alice, server, at: at(200))
      _ = nat.receive(server, external, at: at(400))
      let afterOutboundRefresh = nat.receive(server, external, at: at(499))
      #expect(afterOutboundRefresh == .forward(source: server, destination: alice))
      let late = nat.receive(server, external, at: at(650))
      #expect((late == .drop(.noMapping)) == !inboundRefresh)
    }
  }

  @Test func `a permission ends with its own silence while the mapping lives on`() throws {
    var nat = makeNAT(.addressRestricted)
    let external = try nat.send(alice, server)
    _ = try? nat.send(alice, serverOtherAddress, at: at(200))
    let verdict = nat.receive(server, external, at: at(350))
    let other = nat.receive(serverOtherAddress, external, at: at(350))
    #expect(verdict == .drop(.filtered))
    #expect(other == .forward(source: serverOtherAddress, destination: alice))
  }

  @Test func `expiry and creation are reported in order`() throws {
    var nat = makeNAT(.portRestricted)
    _ = try? nat.send(alice, server)
    nat.advance(to: at(300))
    let events = nat.drainEvents()
    guard events.count == 2, case .created(let made) = events[0], case .removed(let gone, .idle) = events[1] else {
      Issue.record("\(events)")
      return
    }
    #expect(made == gone)
    let next = nat.nextExpiry
    #expect(next == nil)
  }

  @Test func `netfilter gives 30 s unanswered and 120 s once answered and two seconds old`() throws {
    var nat = makeNAT(.linux)
    let external = try nat.send(alice, server)
    let unanswered = nat.nextExpiry
    #expect(unanswered == at(30))
    _ = nat.receive(server, external, at: at(1))
    let young = nat.nextExpiry
    #expect(young == at(31))
    _ = try? nat.send(alice, server, at: at(2))
    let answered = nat.nextExpiry
    #expect(answered == at(122))
  }

  @Test func `pf gives 60 s at first and 30 s to a sender nobody answers`() throws {
    var nat = makeNAT(.pf)
    let external = try nat.send(alice, server)
    let first = nat.nextExpiry
    _ = try? nat.send(alice, server, at: at(1))
    let single = nat.nextExpiry
    _ = nat.receive(server, external, at: at(2))
    let multiple = nat.nextExpiry
    #expect(first == at(60))
    #expect(single == at(31))
    #expect(multiple == at(62))
  }

  @Test func `time that goes backwards is ignored`() throws {
    var nat = makeNAT(.portRestricted)
    _ = try? nat.send(alice, server, at: at(100))
    _ = try? nat.send(alice, server, at: at(10))
    let expiry = nat.nextExpiry
    #expect(expiry == at(400))
  }
}

struct NATTCPTests {
  @Test func `an opening connection idles out after 4 minutes, an established one after 2 h 4 min`() throws {
    var nat = makeNAT(.portRestricted)
    let external = try nat.send(alice, server, tcp: .syn)
    let opening = nat.nextExpiry
    _ = nat.receive(server, external, tcp: [.syn, .ack])
    let established = nat.nextExpiry
    #expect(opening == at(240))
    #expect(established == at(2 * 3600 + 240))
  }

  @Test func `FIN both ways leaves 4 minutes, one way the full timer`() throws {
    var nat = makeNAT(.portRestricted)
    let external = try nat.send(alice, server, tcp: .syn)
    _ = nat.receive(server, external, tcp: [.syn, .ack])
    _ = try? nat.send(alice, server, tcp: [.fin, .ack])
    let half = nat.nextExpiry
    _ = nat.receive(server, external, tcp: [.fin, .ack])
    let both = nat.nextExpiry
    #expect(half == at(7440))
    #expect(both == at(240))
  }

  @Test func `an RST leaves 4 minutes, and a later segment shows it was spurious`() throws {
    var nat = makeNAT(.portRestricted)
    let external = try nat.send(alice, server, tcp: .syn)
    _ = nat.receive(server, external, tcp: [.syn, .ack])
    _ = nat.receive(server, external, tcp: .rst)
    let reset = nat.nextExpiry
    _ = try? nat.send(alice, server, tcp: .ack)
    let alive = nat.nextExpiry
    #expect(reset == at(240))
    #expect(alive == at(7440))
  }

  @Test func `a NAT that does not adopt drops segments of connections it forgot`() throws {
    var configuration = NATConfiguration()
    configuration.adoptsMidstreamTCP = false
    var nat = makeNAT(configuration)
    let lost = nat.translateOutbound(source: alice, destination: server, protocol: .tcp, flags: .ack, at: .zero)
    #expect(lost == .drop(.noMapping))
    var adopting = makeNAT(.portRestricted)
    let external = try? adopting.send(alice, server, tcp: .ack)
    #expect(external != nil)
  }
}
