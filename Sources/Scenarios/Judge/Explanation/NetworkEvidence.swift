internal import CallCore

/// What the network did: packets it dropped and why, checks that failed, and how the NATs mapped.
final class NetworkEvidence {
  private final class Tally {
    let key: [String]
    var count = 0
    var last = Instant.zero
    init(key: [String]) { self.key = key }
  }

  private let context: MonitorContext
  /// By reason and who dropped, in order of first appearance.
  private var drops: [Tally] = []
  /// By peer and reason.
  private var checks: [Tally] = []
  /// External endpoints of each internal one, by NAT: those that it has now, and the most it ever had at one time.
  private var mappings: [(nat: String, internal: String, live: [String], most: [String])] = []
  private var mappingCount: [String: Int] = [:]
  /// What ICE came to at each peer, before the connection was closed.
  private var iceStates: [String: String] = [:]

  init(_ context: MonitorContext) {
    self.context = context
    let trace = context.trace
    for peer in context.scenario.peers.map(\.name) {
      let slot = context.watch.slot(peer, "ice.state")
      context.watch.listen(slot) { [unowned self, unowned watch = context.watch] _ in
        if let state = watch.value(slot)?.description, state != "closed" { iceStates[peer] = state }
      }
    }
    // Packets are many: words are compared, and text is made once for each reason and place.
    var byWord: [Key: Tally] = [:]
    // What a TURN server throws away has reached it, and is dropped there.
    for kind in ["packet.dropped", "turn.dropped"] {
      context.watch.listen(toAll: kind) { [unowned self, unowned trace] record in
        let key = Key(reason: record.values[0], subject: record.subject)
        let tally: Tally
        if let known = byWord[key] {
          tally = known
        } else {
          tally = Tally(key: [trace.datum(at: 0, of: record).description, trace.subjects[Int(record.subject.id)]])
          byWord[key] = tally
          drops.append(tally)
        }
        tally.count += 1
        tally.last = record.time
      }
    }
    // What a rule takes from a relay's TCP stream is no packet of its own.
    context.watch.listen(toAll: "stream.message-dropped") { [unowned self, unowned trace] record in
      let content = trace.datum("content", of: record)?.description ?? "a message"
      let key = ["rule, \(content) in a TCP stream", trace.subjects[Int(record.subject.id)]]
      count(key, in: &drops, at: record.time)
    }
    context.watch.listen(toAll: "ice.check-failed") { [unowned self, unowned trace] record in
      let key = [
        trace.subjects[Int(record.subject.id)], trace.datum("reason", of: record)?.description ?? "",
        trace.datum("remote", of: record)?.description ?? "",
      ]
      count(key, in: &checks, at: record.time)
    }
    context.watch.listen(toAll: "nat.created") { [unowned self, unowned trace] record in
      guard trace.datum("protocol", of: record) == .symbol("udp"),
        let inside = trace.datum("internal", of: record)?.description,
        let outside = trace.datum("external", of: record)?.description
      else { return }
      let nat = trace.subjects[Int(record.subject.id)]
      mappingCount[nat, default: 0] += 1
      if let index = mappings.firstIndex(where: { $0.nat == nat && $0.internal == inside }) {
        if !mappings[index].live.contains(outside) { mappings[index].live.append(outside) }
        if mappings[index].live.count > mappings[index].most.count { mappings[index].most = mappings[index].live }
      } else {
        mappings.append((nat, inside, [outside], [outside]))
      }
    }
    // A port that takes the place of another, after a reboot or an expiry, says nothing about destinations.
    listenToEnds(of: "nat.removed", external: "external")
    listenToEnds(of: "nat.remapped", external: "previous")
  }

  private func listenToEnds(of kind: String, external: String) {
    context.watch.listen(toAll: kind) { [unowned self, unowned trace = context.trace] record in
      let nat = trace.subjects[Int(record.subject.id)]
      let inside = trace.datum("internal", of: record)?.description
      guard let index = mappings.firstIndex(where: { $0.nat == nat && $0.internal == inside }) else { return }
      let gone = trace.datum(external, of: record)?.description
      mappings[index].live.removeAll { $0 == gone }
      guard kind == "nat.remapped", let new = trace.datum("external", of: record)?.description else { return }
      mappings[index].live.append(new)
    }
  }

  private struct Key: Hashable {
    let reason: UInt64
    let subject: TraceSubject
  }

  private func count(_ key: [String], in tallies: inout [Tally], at time: Instant) {
    let tally: Tally
    if let known = tallies.first(where: { $0.key == key }) {
      tally = known
    } else {
      tally = Tally(key: key)
      tallies.append(tally)
    }
    tally.count += 1
    tally.last = time
  }

  /// Connectivity is explained only where it was in trouble; what was dropped always is.
  func lines(of peers: [String]) -> [String] {
    let isInTrouble = peers.contains { peer in
      let state = iceStates[peer]
      guard state != "connected", state != "completed" else { return false }
      return state == "checking" || checks.contains { $0.key[0] == peer }
    }
    return
      (isInTrouble ? failedChecks(of: peers) + natLines + TopologyVerdict(context.scenario).lines(between: peers) : [])
      + dropLines
  }

  private func failedChecks(of peers: [String]) -> [String] {
    peers.flatMap { peer -> [String] in
      let own = checks.filter { $0.key[0] == peer }
      guard !own.isEmpty else { return [] }
      let shown = own.prefix(4).map { tally in
        "\(tally.key[2]) (\(tally.key[1]), last \(Wording.number(tally.last)))"
      }
      let rest = own.count > 4 ? " and \(own.count - 4) more" : ""
      return ["\(peer): connectivity checks failed to \(shown.joined(separator: ", "))\(rest)"]
    }
  }

  /// One inside socket with several outside ports at one time shows that the mapping depends on the destination.
  private var natLines: [String] {
    mappings.filter { $0.most.count > 1 }.prefix(4).map { mapping in
      let shown = mapping.most.prefix(3).joined(separator: ", ")
      let more = mapping.most.count > 3 ? ", …" : ""
      return "\(mapping.nat) maps \(mapping.internal) to another port for each destination: \(shown)\(more)"
    }
  }

  private var dropLines: [String] {
    guard !drops.isEmpty else { return [] }
    let parts = drops.sorted { $0.count > $1.count }.prefix(6).map { tally in
      "\(tally.count) at \(tally.key[1]) (\(tally.key[0]), last \(Wording.number(tally.last)))"
    }
    return ["packets dropped: \(parts.joined(separator: ", "))"]
  }
}
