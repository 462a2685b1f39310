internal import CallCore
internal import ScenarioFormat

/// The verdict on the topology alone, whether two peers can reach each other (RFC 4787, RFC 5128).
struct TopologyVerdict {
  private let scenario: Scenario
  private let faults: [Fault]

  /// - Parameter faults: the faults in force.
  init(_ scenario: Scenario, under faults: [Fault] = []) { (self.scenario, self.faults) = (scenario, faults) }

  /// Returns sentences that explain what each peer's networks block and, for two peers, why no direct path can work. An
  /// obstacle of one network is described only if no other network of the peer avoids it.
  ///
  /// - Parameter isOfPaths: false if pairs had been found, so that only firewalls can have ended them.
  func lines(between peers: [String], isOfPaths: Bool = true) -> [String] {
    let real = peers.compactMap { scenario.peer($0) }.filter(\.hasCallStack)
    let firewalls = real.flatMap {
      FirewallVerdict(topology: scenario.topology, peer: $0, paths: paths(of: $0)).lines
    }
    guard isOfPaths else { return firewalls }
    let needy = real.filter { $0.ice.policy == .relay }
    // A peer with a relay-only policy tries no direct pair, and neither does its partner.
    guard needy.isEmpty else {
      let lack = needy.compactMap { peer in
        scenario.topology.lackOfRelays(for: [peer]).map {
          "\(peer.name) may use relays alone (policy: relay), and \($0)"
        }
      }
      return firewalls + lack
    }
    return firewalls + pairs(of: real).flatMap { directPairs($0, $1) }
  }

  /// Returns the pairs of peers that connect to each other: two, or of more those whose connections are named after
  /// each other.
  private func pairs(of peers: [Scenario.Peer]) -> [(Scenario.Peer, Scenario.Peer)] {
    peers.indices.flatMap { index in
      peers[(index + 1)...].filter { peers.count == 2 || peers[index].connectionNames?.contains($0.name) == true }
        .map { (peers[index], $0) }
    }
  }

  /// Returns why each peer cannot reach the signalling server.
  func signalling(of peers: [String], isDropping: (String) -> Bool) -> [String] {
    peers.compactMap { scenario.peer($0) }.flatMap { peer in
      FirewallVerdict(topology: scenario.topology, peer: peer, paths: paths(of: peer)).signalling(
        isDropping: isDropping)
    }
  }

  private func paths(of peer: Scenario.Peer) -> [AccessPath] { AccessPath.all(of: peer, in: scenario, under: faults) }

  // MARK: NATs

  /// Returns why no pair of host, server-reflexive or peer-reflexive candidates of two peers can work, if none can.
  private func directPairs(_ a: Scenario.Peer, _ b: Scenario.Peer) -> [String] {
    let (paths, others) = (paths(of: a), paths(of: b))
    let pairs = paths.flatMap { path in others.map { (path, $0) } }
    let verdicts = pairs.map { verdict(of: $0.0, $0.1, haveAsked: (asksForAddress(a), asksForAddress(b))) }
    // Obstacles of firewalls alone have been described.
    guard !verdicts.contains(.mayWork), verdicts.contains(where: { $0 != .isBlocked }) else { return [] }
    guard verdicts.contains(where: { $0.reason != nil }) else { return [hostCandidates(a, b)] }
    let borders = "\(a.name) is behind \(describe(paths)), \(b.name) behind \(describe(others))"
    let why = verdicts.compactMap(\.reason).inOrderOfAppearance.joined(separator: ", or ")
    let lack = scenario.topology.lackOfRelays(for: [a, b]).map { ", and \($0)" } ?? ""
    return [borders, "\(why): no direct pair can work, only a relay" + lack]
  }

  private enum PairVerdict: Equatable {
    case mayWork, isBlocked
    /// Both peers are behind NATs that block each other.
    case neitherIsPassed(isSymmetric: Bool)
    /// The NATs could be passed if both ends had asked a server for their outside address.
    case isNotAsked

    var reason: String? {
      switch self {
      case .mayWork, .isBlocked, .isNotAsked: nil
      case .neitherIsPassed(isSymmetric: true): "neither can know the port that the other's NAT will use towards it"
      case .neitherIsPassed(isSymmetric: false):
        "the symmetric NAT uses a port towards the peer that the other's port filter was not told of"
      }
    }
  }

  /// - Parameter haveAsked: whether each peer asks a server for its outside address.
  private func verdict(of path: AccessPath, _ other: AccessPath, haveAsked: (Bool, Bool)) -> PairVerdict {
    let ruling = verdict(of: path, other)
    guard ruling == .mayWork, !meet(path, other), let nat = path.strictest?.nat, let facing = other.strictest?.nat
    else { return ruling }
    // Checks from an unknown address pass only an endpoint-independent filter.
    let isReached = haveAsked.1 && (haveAsked.0 || facing.filter == .endpointIndependent)
    let isReaching = haveAsked.0 && (haveAsked.1 || nat.filter == .endpointIndependent)
    return isReached || isReaching ? .mayWork : .isNotAsked
  }

  /// Returns whether a path leads from one to the other without a NAT.
  private func meet(_ path: AccessPath, _ other: AccessPath) -> Bool {
    path.passes(other.network) || other.passes(path.network) || (path.hasIPv6 && other.hasIPv6)
  }

  private func verdict(of path: AccessPath, _ other: AccessPath) -> PairVerdict {
    // If one network is on the other's path out, they meet before the NATs of both.
    guard !path.passes(other.network), !other.passes(path.network) else { return .mayWork }
    guard !path.closesMedia, !other.closesMedia else { return .isBlocked }
    guard !meet(path, other), let nat = path.strictest?.nat, let facing = other.strictest?.nat,
      !reaches(nat, facing), !reaches(facing, nat)
    else { return .mayWork }
    return .neitherIsPassed(isSymmetric: nat.isSymmetric && facing.isSymmetric)
  }

  private func hostCandidates(_ a: Scenario.Peer, _ b: Scenario.Peer) -> String {
    let silent = [a, b].filter { !asksForAddress($0) }
    guard silent.count == 1 else {
      return "neither \(a.name) nor \(b.name) asks a STUN or TURN server, so that they have host candidates alone: "
        + "neither is told the other's address outside its NAT"
    }
    let other = silent[0].name == a.name ? b.name : a.name
    return "\(silent[0].name) asks no STUN or TURN server, so that it has host candidates alone: \(other) is not told "
      + "its address outside its NAT"
  }

  private func asksForAddress(_ peer: Scenario.Peer) -> Bool {
    scenario.topology.servers.contains { [.stun, .turn].contains($0.kind) && peer.ice.asks($0.name) }
  }

  private func describe(_ paths: [AccessPath]) -> String {
    paths.compactMap(\.strictest).map(describe).joined(separator: " and ")
  }

  /// Returns whether checks from behind one NAT pass the other, to the port that its STUN server saw.
  private func reaches(_ from: Topology.NAT, _ to: Topology.NAT) -> Bool {
    switch to.filter {
    case .endpointIndependent: true
    case .address: !to.isSymmetric
    case .addressAndPort: !to.isSymmetric && !from.isSymmetric
    }
  }

  private func describe(_ border: AccessPath.Border) -> String {
    let kind = border.nat.isSymmetric ? "a symmetric NAT" : "a NAT"
    return "\(kind) (\(border.network.name): mapping by \(border.nat.map.rawValue), "
      + "filtering by \(border.nat.filter.rawValue))"
  }
}
