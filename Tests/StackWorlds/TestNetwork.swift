package import CallCore
package import ICE
import Testing

/// Two agents, NATs in front of their sockets, delay and loss: as much network as ICE can tell apart.
package final class TestNetwork {
  package struct NAT {
    package var isSymmetric: Bool
    /// Whether only addresses and ports that were sent to may answer.
    package var filters: Bool
    package let publicAddress: IPAddress
    package var mappings: [(base: Endpoint, remote: Endpoint?, mapped: Endpoint)] = []
    package var permitted: [(mapped: Endpoint, remote: Endpoint)] = []
    package var nextPort: UInt16 = 40_000
  }

  private struct Packet {
    package let at: Instant
    package let number: Int
    package let bytes: [UInt8]
    package let path: Path
    package let peer: TestPeer
  }

  package var now = Instant.zero
  package let alice: TestPeer
  package let bob: TestPeer
  package var delay = Interval.milliseconds(20)
  package var delayTo: (Endpoint) -> Interval? = { _ in nil }
  package var loss = 0.0
  /// Says of a socket and a destination whether a datagram is swallowed.
  package var isBlocked: (_ from: Endpoint, _ to: Endpoint) -> Bool = { _, _ in false }
  /// Sees each datagram as it is sent, and may replace it.
  package var tap: (_ bytes: [UInt8], _ from: Endpoint, _ to: Endpoint) -> [UInt8]? = { bytes, _, _ in bytes }
  package private(set) var sent = 0

  private var nats: [(base: Endpoint, nat: Int)] = []
  private var natTable: [NAT] = []
  private var owners: [(base: Endpoint, peer: TestPeer)] = []
  private var packets: [Packet] = []
  private var random: RandomStream
  private let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)

  package init(
    alice aliceRole: ICERole = .controlling, bob bobRole: ICERole = .controlled, settings: ICESettings = ICESettings(),
    bobSettings: ICESettings? = nil, seed: UInt64 = 1
  ) {
    alice = TestPeer("alice", aliceRole, settings, seed: seed)
    bob = TestPeer("bob", bobRole, bobSettings ?? settings, seed: seed)
    random = RandomSource(seed: seed).stream("network")
  }

  deinit { memory.deallocate() }

  // MARK: Building

  /// A socket without a NAT, with its host candidate.
  @discardableResult
  package func addHost(
    _ peer: TestPeer, _ text: String, localPreference: UInt16 = .max, network: ICENetwork? = nil
  ) throws -> Endpoint {
    let base = endpoint(text)
    owners.append((base, peer))
    var candidate = ICECandidate.host(base, localPreference: localPreference)
    if let cost = network?.type.cost, cost > 0 { candidate.networkCost = Int(cost) }
    try peer.agent.addLocalCandidate(candidate, network: network, at: now)
    drain(peer)
    return base
  }

  /// A socket that belongs to a peer; no candidate is added.
  package func addSocket(_ peer: TestPeer, _ text: String) -> Endpoint {
    let base = endpoint(text)
    owners.append((base, peer))
    return base
  }

  @discardableResult
  package func addRelay(
    _ peer: TestPeer, _ text: String, over transport: ICERelayTransport = .udp, localPreference: UInt16 = .max,
    network: ICENetwork? = nil
  ) throws -> Endpoint {
    let base = addSocket(peer, text)
    let server = endpoint("198.51.100.200:3478").address
    try peer.agent.addLocalCandidate(
      .relay(base, mapped: base, server: server, over: transport, localPreference: localPreference), network: network,
      at: now)
    drain(peer)
    return base
  }

  /// Puts `base` behind a NAT; sockets that name the same public address share it.
  package func putBehindNAT(_ base: Endpoint, public address: String, symmetric: Bool = false, filters: Bool = true) {
    guard let address = IPAddress(address) else { preconditionFailure("not an address") }
    let known = natTable.firstIndex { $0.publicAddress == address }
    if known == nil { natTable.append(NAT(isSymmetric: symmetric, filters: filters, publicAddress: address)) }
    nats.append((base, known ?? natTable.count - 1))
  }

  /// What a STUN server sees of `base`: a fresh server-reflexive candidate for it.
  @discardableResult
  package func addReflexive(_ peer: TestPeer, base: Endpoint) throws -> Endpoint {
    let server = endpoint("198.51.100.100:3478")
    guard let nat = nats.first(where: { $0.base == base })?.nat else { preconditionFailure("no NAT") }
    let mapped = map(base, to: server, nat)
    try peer.agent.addLocalCandidate(.serverReflexive(mapped, base: base, server: server.address), base: base, at: now)
    drain(peer)
    return mapped
  }

  /// Forgets all mappings of a NAT, as a reboot or a long silence does.
  package func rebind(_ address: String) {
    for index in natTable.indices where natTable[index].publicAddress == IPAddress(address) {
      natTable[index].mappings = []
      natTable[index].permitted = []
    }
  }

  // MARK: Signalling

  package func exchangeCredentials() throws {
    try alice.agent.setRemoteCredentials(bob.agent.localCredentials, at: now)
    try bob.agent.setRemoteCredentials(alice.agent.localCredentials, at: now)
    drain(alice)
    drain(bob)
  }

  package func signalCandidates(from sender: TestPeer, to receiver: TestPeer) {
    for candidate in sender.agent.localCandidates where candidate.type != .peerReflexive {
      var signalled = candidate
      signalled.ufrag = sender.agent.localCredentials.ufrag
      // Through text, as real signalling goes.
      guard let parsed = ICECandidate(signalled.description) else { preconditionFailure("unreadable candidate") }
      receiver.agent.addRemoteCandidate(parsed, at: now)
    }
    drain(receiver)
  }

  package func endCandidates() {
    for peer in [alice, bob] {
      peer.agent.endOfLocalCandidates(at: now)
      peer.agent.endOfRemoteCandidates(at: now)
      drain(peer)
    }
  }

  /// Credentials and candidates both ways, then the end of both.
  package func signalAll() throws {
    try exchangeCredentials()
    signalCandidates(from: alice, to: bob)
    signalCandidates(from: bob, to: alice)
    endCandidates()
  }

  /// A call, ten seconds old, of Alice on Wi-Fi, with cellular as a backup when wanted, to Bob on one network.
  package static func connected(
    alsoCellular: Bool = true, aliceControls: Bool = true, settings: ICESettings = ICESettings()
  ) throws -> (network: TestNetwork, wifi: Endpoint, cellular: Endpoint) {
    let network = TestNetwork(
      alice: aliceControls ? .controlling : .controlled, bob: aliceControls ? .controlled : .controlling,
      settings: settings)
    let cellular = endpoint("198.18.0.1:5001")
    let wifi = try network.addHost(network.alice, "192.0.2.1:5000", localPreference: 65_535)
    if alsoCellular { try network.addHost(network.alice, "\(cellular)", localPreference: 60_000) }
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(10))
    return (network, wifi, cellular)
  }

  // MARK: Running

  package func run(until end: Instant) {
    while true {
      let wakes = [alice, bob].compactMap { peer in peer.agent.wake.deadline.map { (max($0, now), peer) } }
      let wake = wakes.min { $0.0 < $1.0 }
      let packet = packets.indices.min { (packets[$0].at, packets[$0].number) < (packets[$1].at, packets[$1].number) }
      if let packet, packets[packet].at <= (wake?.0 ?? end), packets[packet].at <= end {
        let next = packets.remove(at: packet)
        now = max(now, next.at)
        deliver(next.bytes, on: next.path, to: next.peer)
      } else if let wake, wake.0 <= end {
        now = wake.0
        wake.1.agent.advance(to: now)
        wake.1.advances += 1
        drain(wake.1)
        if let again = wake.1.agent.wake.deadline, again <= now {
          Issue.record("\(wake.1.name) asks at \(now) for \(again): a hot loop")
          return
        }
      } else {
        now = end
        return
      }
    }
  }

  package func run(for interval: Interval) { run(until: now + interval) }

  /// Runs with media both ways, a packet each 20 ms, on the paths that the agents chose. No NAT is between them.
  package func talk(for interval: Interval) {
    let end = now + interval
    while now < end {
      for (sender, receiver) in [(alice, bob), (bob, alice)] {
        guard let path = sender.sendingPath, !isBlocked(path.local, path.remote) else { continue }
        sender.agent.markSent(at: now)
        receiver.agent.markReceived(on: path.reversed, at: now)
        drain(receiver)
      }
      run(until: min(end, now + .milliseconds(20)))
    }
  }

  package func deliver(_ bytes: [UInt8], on path: Path, to peer: TestPeer) {
    peer.agent.receive(bytes.span.bytes, on: path, at: now)
    drain(peer)
  }

  package func drain(_ peer: TestPeer) {
    var buffer = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    _ = pump(
      &peer.agent, buffer: &buffer,
      send: { bytes, path in self.send(bytes.copied, from: path.local, to: path.remote) },
      event: { peer.diary.append((self.now, $0)) })
    // The span is only a view: what is left in it goes with it.
    buffer.removeAll()
    _ = buffer.finalize(for: memory)
  }

  package func send(_ original: [UInt8], from base: Endpoint, to destination: Endpoint) {
    sent += 1
    guard let bytes = tap(original, base, destination), !isBlocked(base, destination), !random.chance(loss) else {
      return
    }
    var source = base
    if let nat = nats.first(where: { $0.base == base })?.nat {
      source = map(base, to: destination, nat)
      natTable[nat].permitted.append((source, destination))
    }
    guard let socket = translate(destination, from: source),
      let peer = owners.first(where: { $0.base == socket })?.peer
    else { return }
    let arrival = now + (delayTo(destination) ?? delay)
    packets.append(
      Packet(at: arrival, number: sent, bytes: bytes, path: Path(local: socket, remote: source), peer: peer))
  }

  private func map(_ base: Endpoint, to remote: Endpoint, _ nat: Int) -> Endpoint {
    let key = natTable[nat].isSymmetric ? remote : nil
    if let known = natTable[nat].mappings.first(where: { $0.base == base && $0.remote == key }) { return known.mapped }
    let mapped = Endpoint(natTable[nat].publicAddress, port: natTable[nat].nextPort)
    natTable[nat].nextPort += 1
    natTable[nat].mappings.append((base, key, mapped))
    return mapped
  }

  /// The socket a destination reaches, or nil when a NAT in front of it lets nothing in.
  private func translate(_ destination: Endpoint, from source: Endpoint) -> Endpoint? {
    for nat in natTable where nat.publicAddress == destination.address {
      // No hairpin: a NAT does not turn its own public address around.
      guard source.address != nat.publicAddress else { return nil }
      let isPermitted = nat.permitted.contains { $0.mapped == destination && $0.remote == source }
      guard !nat.filters || isPermitted else { return nil }
      return nat.mappings.first { $0.mapped == destination }?.base
    }
    // A private socket is only reached from beside it: this network has no such neighbours.
    return nats.contains { $0.base == destination } ? nil : destination
  }
}
