internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The evidence of the network: dropped packets and reasons, failed checks, and the mappings of NATs.
final class NetworkEvidence {
  private final class Tally {
    let key: [String]
    var count = 0
    var last = Instant.zero
    init(key: [String]) { self.key = key }
  }

  private let context: MonitorContext
  /// The failed checks by peer and reason.
  private var checks: [Tally] = []
  /// The external endpoints of each internal one, by NAT: the present ones, and the most at one time.
  private var mappings: [(nat: String, internal: Endpoint, live: [Endpoint], most: [Endpoint])] = []
  private let ice: ICEHistory
  private let faults: FaultHistory
  private let drops: DropTally
  private let relays: AwaitedRelays

  init(_ context: MonitorContext, _ ice: ICEHistory, _ faults: FaultHistory) {
    (self.context, self.ice, self.faults) = (context, ice, faults)
    drops = DropTally(context, ice)
    relays = AwaitedRelays(context)
    let trace = context.trace
    context.watch.listen(to: PeerConnectionEvents.checkFailed) {
      [unowned self, unowned trace] record, _, remote, reason in
      count([ConnectionSubject.owner(of: trace.name(of: record.subject)), reason, "\(remote)"], at: record.time)
    }
    context.watch.listen(to: NetworkEvents.mappingCreated) {
      [unowned self, unowned trace] record, transport, inside, outside in
      guard transport == "udp" else { return }
      let nat = trace.name(of: record.subject)
      if let index = mappings.firstIndex(where: { $0.nat == nat && $0.internal == inside }) {
        if !mappings[index].live.contains(outside) { mappings[index].live.append(outside) }
        if mappings[index].live.count > mappings[index].most.count { mappings[index].most = mappings[index].live }
      } else {
        mappings.append((nat, inside, [outside], [outside]))
      }
    }
    // A port that replaces another after a reboot or an expiry does not show a dependence on destinations.
    context.watch.listen(to: NetworkEvents.mappingRemoved) { [unowned self] record, _, _, inside, outside in
      end(outside, of: inside, at: record.subject)
    }
    context.watch.listen(to: NetworkEvents.mappingRemapped) { [unowned self] record, _, inside, outside, previous in
      end(previous, of: inside, at: record.subject, replacement: outside)
    }
  }

  private func end(
    _ outside: Endpoint, of inside: Endpoint, at nat: TraceSubject, replacement: Endpoint? = nil
  ) {
    let nat = context.trace.name(of: nat)
    guard let index = mappings.firstIndex(where: { $0.nat == nat && $0.internal == inside }) else { return }
    mappings[index].live.removeAll { $0 == outside }
    if let replacement { mappings[index].live.append(replacement) }
  }

  private func count(_ key: [String], at time: Instant) {
    let tally: Tally
    if let known = checks.first(where: { $0.key == key }) {
      tally = known
    } else {
      tally = Tally(key: key)
      checks.append(tally)
    }
    tally.count += 1
    tally.last = time
  }

  /// Returns lines about drops, and about connectivity if it was in trouble.
  func lines(of peers: [String], at time: Instant, withLosses: Bool) -> [String] {
    connectivity(of: peers, at: time) + signalling(of: peers, at: time) + drops.lines(withLosses: withLosses)
  }

  /// Returns why a call that was never established cannot reach the servers of its profile.
  private func signalling(of peers: [String], at time: Instant) -> [String] {
    guard !peers.allSatisfy(ice.wasConnected) else { return [] }
    let verdict = TopologyVerdict(context.scenario, under: faults.active(at: time).map(\.fault))
    return verdict.signalling(of: peers) { drops.dropped(at: "network/\($0)", "firewall", since: .zero) }
      + SlowServers(context.scenario).lines(of: peers, \.isDeclared)
  }

  private func connectivity(of peers: [String], at time: Instant) -> [String] {
    let end = ice.end(of: peers, before: time)
    let active = faults.active(at: end)
    let isInTrouble = peers.contains { peer in
      ice.isInTrouble(peer, hasFailedChecks: !failedChecks(of: peer).isEmpty)
    }
    // A closing firewall shows in its drops before ICE notices.
    let isCut = active.contains { instance in
      FirewallChange(instance.fault) != nil
        && drops.dropped(
          at: "network/\(instance.fault.arguments.text("network") ?? "")", "firewall", since: instance.start)
    }
    guard isInTrouble || isCut else { return [] }
    // A pair that worked was found, whatever lies between the peers.
    let isOfPaths = isInTrouble && !peers.contains(where: ice.wasConnected)
    return peers.compactMap(checkLine) + (isOfPaths ? natLines : [])
      + verdict(on: peers, decidedAt: end, at: time, isOfPaths: isOfPaths)
      + (isOfPaths ? candidates(of: peers, at: time) : [])
  }

  /// Returns lines about candidates that servers have not yet supplied.
  private func candidates(of peers: [String], at time: Instant) -> [String] {
    SlowServers(context.scenario).lines(of: peers) { !$0.isDeclared } + relays.lines(of: peers, at: time)
  }

  /// Returns the verdict on the topology at the decisive time, with that time if the topology has changed since.
  private func verdict(
    on peers: [String], decidedAt end: Instant, at time: Instant, isOfPaths: Bool
  ) -> [String] {
    func lines(at time: Instant) -> [String] {
      TopologyVerdict(context.scenario, under: faults.active(at: time).map(\.fault))
        .lines(between: peers, isOfPaths: isOfPaths)
    }
    guard end < time else { return lines(at: time) }
    let present = lines(at: time)
    return lines(at: end).map { present.contains($0) ? $0 : "\($0) (as it was at \(Wording.time(end)))" }
  }

  /// Returns the failed checks, without those that failed while another pair worked.
  private func failedChecks(of peer: String) -> [Tally] {
    let own = checks.filter { $0.key[0] == peer }
    guard ice.wasConnected(peer) else { return own }
    guard let lost = ice.lostAt(peer) else { return [] }
    return own.filter { $0.last >= lost }
  }

  private func checkLine(of peer: String) -> String? {
    let own = failedChecks(of: peer)
    guard !own.isEmpty else { return nil }
    let shown = own.prefix(4).map { tally in
      "\(tally.key[2]) (\(tally.key[1]), last \(Wording.number(tally.last)))"
    }
    let rest = own.count > 4 ? " and \(own.count - 4) more" : ""
    return "\(peer): connectivity checks failed to \(shown.joined(separator: ", "))\(rest)"
  }

  /// Lines about NATs: several outside ports of one inside socket at one time show that the mapping depends on the
  /// destination.
  private var natLines: [String] {
    mappings.filter { $0.most.count > 1 }.prefix(4).map { mapping in
      let shown = mapping.most.prefix(3).map(\.description).joined(separator: ", ")
      let more = mapping.most.count > 3 ? ", …" : ""
      return "\(mapping.nat) maps \(mapping.internal) to another port for each destination: \(shown)\(more)"
    }
  }
}
