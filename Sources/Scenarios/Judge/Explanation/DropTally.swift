internal import CallCore
internal import ScenarioFormat

/// The packets that the network dropped, without those that a successful call loses, too.
///
/// Excluded are checks of pairs that cannot work: to an address behind another host's NAT, from a host to its own
/// address, and packets that were dropped in the same way before ICE was connected.
final class DropTally {
  private struct Group {
    let reason: String
    let place: String
    var count = 0
    var last = Instant.zero
  }

  /// The drop reasons of packets at a place that does not expect them.
  private static let ofChecks = [
    "no-route", "nat-filter", "no-socket", "firewall", "no-permission", "nat-hairpin", "isolated",
  ]

  private let context: MonitorContext
  private var flows: [StoryDrops.Flow] { context.story.drops.flows }
  /// The number of packets of each flow before ICE was connected.
  private var early: [Int] = []
  /// The endpoints of pairs that carried media.
  private var selected: Set<Endpoint> = []
  /// The prefixes of networks behind a NAT that have no server.
  private let hidden: [IPPrefix]
  /// The prefixes of each network, by the place of its router in the trace.
  private let inside: [String: [IPPrefix]]
  private let ice: ICEHistory

  init(_ context: MonitorContext, _ ice: ICEHistory) {
    (self.context, self.ice) = (context, ice)
    let topology = context.scenario.topology
    let ofServers = Set(topology.servers.map(\.network.value))
    hidden = topology.networks.filter { network in
      !ofServers.contains(network.name) && topology.routers(from: network).contains { $0.nat != nil }
    }.flatMap { $0.prefixes.map(\.value) }
    inside = Dictionary(
      topology.networks.map { ("network/\($0.name)", $0.prefixes.map(\.value)) }, uniquingKeysWith: +)
    ice.onSettled = { [unowned self] in early = flows.map(\.count) }
    for subject in context.scenario.peers.flatMap(\.connectionSubjects) { follow(subject, context.watch) }
  }

  private func follow(_ subject: String, _ watch: Watch) {
    for end in PeerConnectionEvents.PairEnd.allCases {
      let address = watch.slot(subject, PeerConnectionEvents.selectedAddress(end))
      watch.listen(to: PeerConnectionEvents.selectedPort(end), of: subject) { [unowned self, unowned watch] _, port in
        guard let address = watch.value(address).flatMap({ IPAddress($0) }), let port = UInt16(exactly: port) else {
          return
        }
        selected.insert(Endpoint(address, port: port))
      }
    }
  }

  /// Returns lines such as `packets dropped: 8 at link/alice/wifi/tx (loss, last 9.83)`.
  ///
  /// - Parameter withLosses: whether random losses of links matter.
  func lines(withLosses: Bool) -> [String] {
    var groups: [Group] = []
    for (index, flow) in flows.enumerated() {
      let early = index < early.count ? early[index] : 0
      guard !isOfEveryCall(flow, early: early), withLosses || flow.reason != "loss" else { continue }
      let count = ice.isSettled ? flow.count - early : flow.count
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

  /// Returns whether a network has dropped packets for a reason since a time.
  func dropped(at place: String, _ reason: String, since time: Instant) -> Bool {
    flows.contains { $0.place == place && $0.reason == reason && $0.last >= time }
  }

  private func isOfEveryCall(_ flow: StoryDrops.Flow, early: Int) -> Bool {
    guard let from = flow.ends.first, let to = flow.ends.last, Self.ofChecks.contains(flow.reason) else { return false }
    switch flow.reason {
    case "no-route" where isHidden(to.address, from: flow.place): return true
    case "no-socket" where from.address == to.address: return true
    default: return ice.isSettled && early > 0 && selected.isDisjoint(with: flow.ends)
    }
  }

  /// Returns whether no router at the place can have a route to an address.
  private func isHidden(_ address: IPAddress, from place: String) -> Bool {
    hidden.contains { $0.contains(address) } && !(inside[place] ?? []).contains { $0.contains(address) }
  }
}
