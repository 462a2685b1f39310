import CallCore
import Testing

@testable import SimNet

struct FirewallTests {
  private static let pairs = [
    (Endpoint("192.0.2.10:5000")!, Endpoint("198.51.100.1:443")!),
    (Endpoint("[2001:db8::10]:5000")!, Endpoint("[2001:db8:1::1]:443")!),
  ]

  @Test(arguments: pairs)
  func `only answers come in`(_ inside: Endpoint, _ outside: Endpoint) {
    var firewall = Firewall(.stateful)
    let other = Endpoint(outside.address, port: 444)
    let unsolicited = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: .zero)
    let outbound = firewall.decide(.outbound, source: inside, destination: outside, protocol: .udp, at: .zero)
    let answer = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: at(1))
    let stranger = firewall.decide(.inbound, source: other, destination: inside, protocol: .udp, at: at(1))
    let otherTransport = firewall.decide(
      .inbound, source: outside, destination: inside, protocol: .tcp, flags: .syn, at: at(1))
    #expect(unsolicited == .drop(.unsolicited))
    #expect(outbound == .pass)
    #expect(answer == .pass)
    #expect(stranger == .drop(.unsolicited))
    #expect(otherTransport == .drop(.unsolicited))
  }

  @Test(arguments: pairs) func `a router that leaves IPv4 to its NAT lets IPv6 in as an answer only`(
    _ inside: Endpoint, _ outside: Endpoint
  ) {
    var firewall = Firewall(.statefulIPv6)
    let unsolicited = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: .zero)
    #expect(unsolicited == (inside.address.isIPv6 ? .drop(.unsolicited) : .pass))
    let outbound = firewall.decide(.outbound, source: inside, destination: outside, protocol: .udp, at: at(1))
    let answer = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: at(2))
    #expect(outbound == .pass && answer == .pass)
  }

  @Test func `a flow is forgotten after its idle time and refreshed both ways`() {
    let (inside, outside) = Self.pairs[0]
    var firewall = Firewall(.stateful, timers: SessionTimers(udp: .seconds(60)))
    _ = firewall.decide(.outbound, source: inside, destination: outside, protocol: .udp, at: .zero)
    let refreshed = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: at(59))
    #expect(firewall.nextExpiry == at(119))
    let late = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: at(119))
    #expect(refreshed == .pass)
    #expect(late == .drop(.unsolicited))
    #expect(firewall.sessionCount == 0)
  }

  @Test func `a border without UDP drops it both ways and lets TCP out`() {
    let (inside, outside) = Self.pairs[0]
    var firewall = Firewall(.noUDP)
    let udp = firewall.decide(.outbound, source: inside, destination: outside, protocol: .udp, at: .zero)
    let back = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: .zero)
    let tcp = firewall.decide(.outbound, source: inside, destination: outside, protocol: .tcp, flags: .syn, at: .zero)
    #expect(udp == .drop(.udpBlocked) && back == .drop(.udpBlocked))
    #expect(tcp == .pass)
  }

  @Test func `a web-only border lets TCP out to 443 and to nothing else`() {
    let (inside, outside) = Self.pairs[0]
    let turn = Endpoint(outside.address, port: 3478)
    var firewall = Firewall(.webOnly)
    let web = firewall.decide(.outbound, source: inside, destination: outside, protocol: .tcp, flags: .syn, at: .zero)
    let other = firewall.decide(.outbound, source: inside, destination: turn, protocol: .tcp, flags: .syn, at: .zero)
    #expect(web == .pass)
    #expect(other == .drop(.portBlocked))
  }

  @Test func `what is kept of refusals does not grow with the flows that are refused`() {
    var firewall = Firewall(.noUDP)
    for port in 1...1_000 as ClosedRange<UInt16> {
      let inside = Endpoint(alice.address, port: port)
      _ = firewall.decide(.outbound, source: inside, destination: server, protocol: .udp, at: .zero)
      let stranger = Endpoint(server.address, port: port)
      _ = firewall.decide(.inbound, source: stranger, destination: alice, protocol: .udp, at: .zero)
    }
    #expect(firewall.refusals.values.reduce(0, +) == 2_000 && firewall.refusals.count == 2)
  }

  @Test func `an open port is reached unasked and answers past the port list`() {
    let (inside, outside) = Self.pairs[0]
    var firewall = Firewall(FirewallRules(allowedUDPPorts: [53], openPorts: [5000]))
    let asked = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: .zero)
    let answer = firewall.decide(.outbound, source: inside, destination: outside, protocol: .udp, at: .zero)
    #expect(asked == .pass)
    #expect(answer == .pass)
  }

  @Test func `new rules hold for running flows at once`() {
    let (inside, outside) = Self.pairs[0]
    var firewall = Firewall(.stateful)
    _ = firewall.decide(.outbound, source: inside, destination: outside, protocol: .udp, at: .zero)
    firewall.rules = .noUDP
    let blocked = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: .zero)
    firewall.rules = .stateful
    let again = firewall.decide(.inbound, source: outside, destination: inside, protocol: .udp, at: .zero)
    #expect(blocked == .drop(.udpBlocked))
    #expect(again == .pass)
  }

  @Test func `a restart forgets flows and adopts running connections only where configured`() {
    let (inside, outside) = Self.pairs[0]
    for adopts in [false, true] {
      var firewall = Firewall(FirewallRules(adoptsMidstreamTCP: adopts))
      _ = firewall.decide(.outbound, source: inside, destination: outside, protocol: .tcp, flags: .syn, at: .zero)
      firewall.reset()
      let inbound = firewall.decide(
        .inbound, source: outside, destination: inside, protocol: .tcp, flags: .ack, at: .zero)
      let outbound = firewall.decide(
        .outbound, source: inside, destination: outside, protocol: .tcp, flags: .ack, at: .zero)
      #expect(inbound == .drop(.unsolicited))
      #expect(outbound == (adopts ? .pass : .drop(.unsolicited)))
    }
  }
}
