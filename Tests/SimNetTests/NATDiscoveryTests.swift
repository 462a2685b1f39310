import CallCore
import STUN
import Testing

@testable import SimNet

/// A client of RFC 5780 behind one of our NATs, and our STUN server with its four sockets in front of it.
///
/// The client knows nothing of the NAT's configuration: what it finds out by the RFC's tests must be what was configured.
private struct BehaviorDiscovery: ~Copyable {
  var nat: NAT
  var server = STUNBindingServer(
    behaviorDiscovery: .init(primary: BehaviorDiscovery.primary, alternate: BehaviorDiscovery.alternate))
  var now = Instant.zero
  private var transactions: UInt64 = 0
  /// Every test uses a socket of its own, so that none profits from what another opened.
  private var ports: UInt16 = 40_000

  static let primary = Endpoint("198.51.100.1:3478")!
  static let alternate = Endpoint("198.51.100.2:3479")!

  init(_ configuration: NATConfiguration) { nat = makeNAT(configuration) }

  mutating func socket() -> Endpoint {
    ports += 2
    return Endpoint(alice.address, port: ports)
  }

  /// One Binding transaction: what the answer says, and the socket it reached; nil when it was lost on its way.
  mutating func ask(
    _ destination: Endpoint, from local: Endpoint, change: STUNChangeRequest = [], responsePort: UInt16? = nil
  ) -> (answer: STUNMessage, arrivedAt: Endpoint)? {
    transactions += 1
    var request = STUNMessageBuilder(.request, .binding, STUNTransactionID(high: 0, low: transactions))
    if !change.isEmpty { request.append(.changeRequest, change) }
    if let responsePort { request.append(.responsePort, responsePort) }
    guard
      case .forward(let source, let destination) = nat.translateOutbound(
        source: local, destination: destination, protocol: .udp, at: now)
    else { return nil }
    server.receive(request.bytes.span.bytes, on: Path(local: destination, remote: source), at: now)
    guard let (bytes, path) = response() else { return nil }
    guard
      case .forward(_, let arrivedAt) = nat.translateInbound(
        source: path.local, destination: path.remote, protocol: .udp, at: now),
      let answer = try? STUNMessage(parsing: bytes.span.bytes)
    else { return nil }
    return (answer, arrivedAt)
  }

  private mutating func response() -> (bytes: [UInt8], path: Path)? {
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1_500)
    defer { memory.deallocate() }
    var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    guard let path = server.transmit(into: &output) else { return nil }
    return (output.span.bytes.copied, path)
  }

  /// Section 4.3: where one socket appears to the primary, to the alternate address, and to its alternate port.
  mutating func mapping() -> EndpointDependence? {
    let local = socket()
    guard let first = ask(Self.primary, from: local)?.answer, let other = first[.otherAddress],
      let second = ask(Endpoint(other.address, port: Self.primary.port), from: local)?.answer
    else { return nil }
    if second[.xorMappedAddress] == first[.xorMappedAddress] { return .endpointIndependent }
    guard let third = ask(other, from: local)?.answer else { return nil }
    return third[.xorMappedAddress] == second[.xorMappedAddress] ? .addressDependent : .addressAndPortDependent
  }

  /// Section 4.4: which of the server's other sockets get an answer through.
  mutating func filtering() -> EndpointDependence? {
    let local = socket()
    guard ask(Self.primary, from: local) != nil else { return nil }
    if ask(Self.primary, from: local, change: [.changeIP, .changePort]) != nil { return .endpointIndependent }
    return ask(Self.primary, from: local, change: .changePort) != nil ? .addressDependent : .addressAndPortDependent
  }

  /// Section 4.5: whether a request to another socket's mapped address comes back in, and from where.
  mutating func hairpinning() -> Hairpinning? {
    let (sender, receiver) = (socket(), socket())
    guard let own = ask(Self.primary, from: sender)?.answer[.xorMappedAddress],
      let target = ask(Self.primary, from: receiver)?.answer[.xorMappedAddress]
    else { return nil }
    // What a filter lets in, the receiver has to have sent to first.
    _ = nat.translateOutbound(source: receiver, destination: own, protocol: .udp, at: now)
    guard
      case .forward(let source, let destination) = nat.translateOutbound(
        source: sender, destination: target, protocol: .udp, at: now),
      destination == receiver
    else { return Hairpinning.none }
    return source == sender ? .internalSource : .externalSource
  }

  /// Section 4.6: the longest silence after which an answer still finds the socket, to the second.
  ///
  /// A second socket asks for the answer to be sent to the first one's port, so that asking refreshes nothing.
  mutating func lifetime(atMost limit: Int64) -> Int64 {
    var (alive, dead) = (Int64(0), limit)
    while dead - alive > 1 {
      let silence = (alive + dead) / 2
      let (tested, asking) = (socket(), socket())
      let mapped = ask(Self.primary, from: tested)?.answer[.xorMappedAddress]
      now = now + .seconds(silence)
      let arrivedAt = ask(Self.primary, from: asking, responsePort: mapped?.port)?.arrivedAt
      if arrivedAt == tested { alive = silence } else { dead = silence }
      // Nothing of this round may be left for the next.
      now = now + .seconds(limit)
    }
    return alive
  }
}

@Suite struct NATDiscoveryTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let mapping, filtering: EndpointDependence
    let hairpinning: Hairpinning
    let lifetime: Int64

    var testDescription: String {
      "mapping \(mapping), filtering \(filtering), hairpinning \(hairpinning), \(lifetime) s"
    }
  }

  static let cases = EndpointDependence.allCases.flatMap { mapping in
    EndpointDependence.allCases.flatMap { filtering in
      [Hairpinning.none, .externalSource, .internalSource].flatMap { hairpinning in
        [Int64(30), 120, 300].map {
          Case(mapping: mapping, filtering: filtering, hairpinning: hairpinning, lifetime: $0)
        }
      }
    }
  }

  @Test(arguments: cases) func `a client of RFC 5780 finds out what the NAT is`(_ wanted: Case) {
    var discovery = BehaviorDiscovery(
      NATConfiguration(
        mapping: wanted.mapping, filtering: wanted.filtering,
        timers: SessionTimers(udp: .seconds(wanted.lifetime)), preservesPort: false, hairpinning: wanted.hairpinning))
    let (mapping, filtering) = (discovery.mapping(), discovery.filtering())
    let hairpinning = discovery.hairpinning()
    let lifetime = discovery.lifetime(atMost: 1_000)
    #expect(mapping == wanted.mapping)
    #expect(filtering == wanted.filtering)
    // A mapping that only the server may use hides hairpinning from this test, as it does from the peers of a call.
    let isVisible = wanted.mapping == .endpointIndependent || wanted.filtering == .endpointIndependent
    #expect(hairpinning == (isVisible ? wanted.hairpinning : Hairpinning.none))
    // A mapping of n seconds is gone when n seconds have passed.
    #expect(lifetime == wanted.lifetime - 1)
  }

  @Test func `without a NAT the mapped address is one's own`() {
    var discovery = BehaviorDiscovery(NATConfiguration())
    discovery.nat = NAT(NATConfiguration(), externalAddresses: [alice.address], random: RandomStream(seed: 1))
    let local = discovery.socket()
    let mapped = discovery.ask(BehaviorDiscovery.primary, from: local)?.answer[.xorMappedAddress]
    #expect(mapped == local)
  }
}
