internal import CallCore

/// What the network dropped, without what a call that goes well loses, too.
///
/// Of that kind are checks of pairs that cannot work: to an address behind somebody's NAT, from a host to its own address,
/// and whatever was dropped alike before ICE was connected all the same.
final class DropTally {
  private struct Key: Hashable {
    let reason: UInt64
    let subject: TraceSubject
    let from: UInt64
    let to: UInt64
  }

  private final class Flow {
    let reason: String
    let place: String
    let ends: [Endpoint]
    var count = 0
    var last = Instant.zero
    /// How many there were before ICE was connected.
    var early = 0

    init(reason: String, place: String, ends: [Endpoint]) {
      (self.reason, self.place, self.ends) = (reason, place, ends)
    }
  }

  private struct Group {
    let reason: String
    let place: String
    var count = 0
    var last = Instant.zero
  }

  /// What becomes of packets wherever they are not expected.
  private static let ofChecks = [
    "no-route", "nat-filter", "no-socket", "firewall", "no-permission", "nat-hairpin", "isolated",
  ]

  /// In order of first appearance.
  private var flows: [Flow] = []
  private var known: [Key: Flow] = [:]
  /// Both ends of pairs that carried media.
  private var selected: Set<Endpoint> = []
  /// Of networks behind a NAT that no server stands on.
  private let hidden: [IPPrefix]
  /// The prefixes of each network, by the place that its router is in the trace.
  private let inside: [String: [IPPrefix]]
  private let ice: ICEHistory

  init(_ context: MonitorContext, _ ice: ICEHistory) {
    self.ice = ice
    let topology = context.scenario.topology
    let ofServers = Set(topology.servers.map(\.network.value))
    hidden = topology.networks.filter { network in
      !ofServers.contains(network.name) && topology.routers(from: network).contains { $0.nat != nil }
    }.flatMap { $0.prefixes.map(\.value) }
    inside = Dictionary(
      topology.networks.map { ("network/\($0.name)", $0.prefixes.map(\.value)) }, uniquingKeysWith: +)
    ice.onSettled = { [unowned self] in
      for flow in flows { flow.early = flow.count }
    }
    // What a TURN server throws away has reached it, and is dropped there.
    listen(context, "packet.dropped", from: 2)
    listen(context, "turn.dropped", from: 1)
    // What a rule takes from a relay's TCP stream is no packet of its own.
    context.watch.listen(toAll: "stream.message-dropped") { [unowned self, unowned trace = context.trace] record in
      let content = trace.datum("content", of: record)?.description ?? "a message"
      let (reason, place) = ("rule, \(content) in a TCP stream", trace.subjects[Int(record.subject.id)])
      let flow = flows.first { $0.reason == reason && $0.place == place } ?? add(reason, place, [])
      (flow.count, flow.last) = (flow.count + 1, record.time)
    }
    for peer in context.scenario.peers.map(\.name) { follow(peer, context.watch) }
  }

  /// Packets are many: words are compared, and text is made once for each flow.
  private func listen(_ context: MonitorContext, _ kind: String, from index: Int) {
    context.watch.listen(toAll: kind) { [unowned self, unowned trace = context.trace] record in
      let key = Key(
        reason: record.values[0], subject: record.subject, from: record.values[index], to: record.values[index + 1])
      let flow: Flow
      if let old = known[key] {
        flow = old
      } else {
        let ends = [index, index + 1].compactMap { index -> Endpoint? in
          guard case .endpoint(let endpoint) = trace.datum(at: index, of: record) else { return nil }
          return endpoint
        }
        flow = add(trace.datum(at: 0, of: record).description, trace.subjects[Int(record.subject.id)], ends)
        known[key] = flow
      }
      flow.count += 1
      flow.last = record.time
    }
  }

  private func add(_ reason: String, _ place: String, _ ends: [Endpoint]) -> Flow {
    let flow = Flow(reason: reason, place: place, ends: ends)
    flows.append(flow)
    return flow
  }

  private func follow(_ peer: String, _ watch: Watch) {
    for side in ["local", "remote"] {
      let (address, port) = (
        watch.slot(peer, "selected.\(side).address"), watch.slot(peer, "selected.\(side).port")
      )
      // The port is the last of a pair to be written.
      watch.listen(port) { [unowned self, unowned watch] _ in
        guard let address = watch.value(address)?.description, let port = watch.value(port)?.description,
          let parsed = IPAddress(address), let number = UInt16(port)
        else { return }
        selected.insert(Endpoint(parsed, port: number))
      }
    }
  }

  /// `packets dropped: 8 at link/alice/wifi/tx (loss, last 9.83)`
  ///
  /// - Parameter withLosses: whether what links lost by chance matters.
  func lines(withLosses: Bool) -> [String] {
    var groups: [Group] = []
    for flow in flows where !isOfEveryCall(flow) && (withLosses || flow.reason != "loss") {
      let count = ice.isSettled ? flow.count - flow.early : flow.count
      guard count > 0 else { continue }
      let index = groups.firstIndex { $0.reason == flow.reason && $0.place == flow.place }
      if index == nil { groups.append(Group(reason: flow.reason, place: flow.place)) }
      groups[index ?? groups.count - 1].count += count
      groups[index ?? groups.count - 1].last = max(groups[index ?? groups.count - 1].last, flow.last)
    }
    guard !groups.isEmpty else { return [] }
    let parts = groups.sorted { $0.count > $1.count }.prefix(6).map {
      "\($0.count) at \($0.place) (\($0.reason), last \(Wording.number($0.last)))"
    }
    return ["packets dropped: \(parts.joined(separator: ", "))"]
  }

  /// Whether a network dropped packets for that reason since then.
  func dropped(at place: String, _ reason: String, since time: Instant) -> Bool {
    flows.contains { $0.place == place && $0.reason == reason && $0.last >= time }
  }

  private func isOfEveryCall(_ flow: Flow) -> Bool {
    guard let from = flow.ends.first, let to = flow.ends.last, Self.ofChecks.contains(flow.reason) else { return false }
    switch flow.reason {
    case "no-route" where isHidden(to.address, from: flow.place): return true
    case "no-socket" where from.address == to.address: return true
    default: return ice.isSettled && flow.early > 0 && selected.isDisjoint(with: flow.ends)
    }
  }

  /// Whether nobody at that place can know the way to an address.
  private func isHidden(_ address: IPAddress, from place: String) -> Bool {
    hidden.contains { $0.contains(address) } && !(inside[place] ?? []).contains { $0.contains(address) }
  }
}
