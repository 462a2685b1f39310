internal import CallCore

/// Why an expectation failed: what the peers did, which faults were active, and what the network did to packets.
final class Explanation {
  struct Finding {
    var trail: [String]
    var faults: [String]
    var explanation: [String]
  }

  private let context: MonitorContext
  private let trails: StateTrails
  private let faults: FaultHistory
  private let lost: LostNetworks
  private let network: NetworkEvidence
  private let recent: RecentTrouble
  private let deeds: UserDeeds
  private let ice: ICEHistory

  init(_ context: MonitorContext) {
    self.context = context
    trails = StateTrails(context)
    faults = FaultHistory(context)
    lost = LostNetworks(context)
    ice = ICEHistory(context)
    network = NetworkEvidence(context, ice, faults)
    recent = RecentTrouble(context)
    deeds = UserDeeds(context, ice)
  }

  /// What is known at `time`, which is now.
  func explain(_ expectation: Expectation, at time: Instant) -> Finding {
    let peers = Self.peers(of: expectation, in: context.scenario)
    return explain(
      peers, at: time, deeds: deeds.lines(of: expectation, at: time),
      isOfMedia: UserDeeds.isOfSound(expectation) && peers.contains(where: ice.wasConnected))
  }

  func explain(peers: [String], at time: Instant) -> Finding {
    explain(peers, at: time, deeds: deeds.lines(at: time), isOfMedia: false)
  }

  /// People come first: what the network did beside them is rarely the cause.
  private func explain(_ peers: [String], at time: Instant, deeds: [String], isOfMedia: Bool) -> Finding {
    Finding(
      trail: trails.lines(of: peers), faults: faults.lines(at: time, isOfMedia: isOfMedia),
      explanation: deeds + recent.lines(of: peers, at: time) + lost.lines(of: peers)
        + network.lines(of: peers, at: time))
  }

  /// The peers an expectation is about. Where it names fewer than two they are all, because a call has two ends; of more
  /// than four the one that it names.
  private static func peers(of expectation: Expectation, in scenario: Scenario) -> [String] {
    var named: [String] =
      switch expectation.kind {
      case .sequence(let sequence): [sequence.value.peer]
      case .set(let set): [set.value.peer]
      case .eventually(let eventually): eventually.predicate.values.map(\.peer)
      case .always(let invariably), .never(let invariably): invariably.predicate.values.map(\.peer)
      case .leadsTo(let leadsTo): (leadsTo.condition.values + leadsTo.consequence.values).map(\.peer)
      case .ends(let ends): [ends.peer.value]
      case .count, .recovers: []
      case .metric(let metric): [metric.value.peer]
      case .sometimes(let predicate): predicate.values.map(\.peer)
      }
    let all = scenario.peers.map(\.name)
    named = all.filter(named.contains)
    return named.count < 2 ? (all.count <= 4 || named.isEmpty ? all : named) : named
  }
}
