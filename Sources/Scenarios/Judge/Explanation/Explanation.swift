internal import CallCore
internal import ScenarioFormat

/// Explains why an expectation failed or was not tested: the actions of the peers, the active faults, and the effect of
/// the network on packets.
package final class Explanation {
  package struct Finding {
    package var trail: [String]
    package var faults: [String]
    package var explanation: [String]
    /// The courses in the signature of the finding.
    var courses: [FindingSignature.Course]
  }

  let context: MonitorContext
  private let trails: StateTrails
  private let faults: FaultHistory
  private let lost: LostNetworks
  private let network: NetworkEvidence
  private let recent: RecentTrouble
  private let chosenActions: ChosenActions
  private let ice: ICEHistory
  private let hearing: Hearing

  init(_ context: MonitorContext) {
    self.context = context
    trails = StateTrails(context)
    faults = FaultHistory(context)
    lost = LostNetworks(context)
    ice = ICEHistory(context)
    network = NetworkEvidence(context, ice, faults)
    recent = RecentTrouble(context)
    hearing = Hearing(context, ice)
    chosenActions = ChosenActions(context, hearing)
  }

  /// The time between a cause and its detection: consent checks and media must be missing for seconds before a
  /// connection counts as lost.
  private static let lead = Interval.seconds(5)

  /// Explains a failure at `time`, which is now.
  func explain(_ expectation: Expectation, at time: Instant) -> Finding {
    let peers = Self.peers(of: expectation, in: context.scenario)
    let isOfMedia = Hearing.isOfSound(expectation) && peers.contains(where: ice.wasConnected)
    return Finding(
      trail: trails.lines(of: peers),
      faults: faults.lines(at: time, since: trouble(of: expectation, peers, at: time), isOfMedia: isOfMedia),
      explanation: people(of: expectation, at: time)
        + events(of: peers, at: time, withLosses: !hearing.isSilencedByDevices(expectation)),
      courses: courses(of: Self.named(by: expectation, in: context.scenario)))
  }

  /// Explains why an expectation was not tested, if an event that it waits for never came; in all other cases the cause
  /// is in the file.
  func explain(untested expectation: Expectation, at time: Instant) -> Finding? {
    guard lacksSomething(expectation) else { return nil }
    let peers = Self.peers(of: expectation, in: context.scenario)
    // For a call that was connected, earlier random losses of links are irrelevant.
    let isConnected = peers.allSatisfy(ice.wasConnected)
    let events =
      isConnected ? recent.lines(of: peers, at: time) : events(of: peers, at: time, withLosses: true)
    return Finding(
      trail: trails.lines(of: peers), faults: faults.lines(at: time, since: trouble(of: expectation, peers, at: time)),
      explanation: people(of: expectation, at: time) + events,
      courses: courses(of: Self.named(by: expectation, in: context.scenario)))
  }

  private func lacksSomething(_ expectation: Expectation) -> Bool {
    var anchors = expectation.windows.flatMap { [$0.from, $0.to] } + [expectation.origin]
    if case .leadsTo = expectation.kind { return true }
    if case .recovers(let recovers) = expectation.kind {
      guard context.anchors.firstFiring(of: recovers.fault.value) != nil else { return true }
      return !context.scenario.peers.filter(\.hasCallStack).map(\.name).allSatisfy(ice.wasConnected)
    }
    anchors.removeAll { anchor in anchor.map { context.anchors.first($0) != nil } ?? true }
    guard anchors.isEmpty else { return true }
    // Values of a connection are unknown without one.
    return expectation.values.contains { context.watch.value(context.watch.slot($0.subject, $0.name)) == nil }
  }

  func explain(peers: [String], at time: Instant) -> Finding {
    let trouble = (ice.trouble(of: peers) ?? time) - Self.lead
    return Finding(
      trail: trails.lines(of: peers), faults: faults.lines(at: time, since: trouble),
      explanation: chosenActions.lines(at: time) + events(of: peers, at: time, withLosses: true),
      courses: courses(of: peers))
  }

  /// Returns the actions of users and the faults of their devices that affect the expectation.
  private func people(of expectation: Expectation, at time: Instant) -> [String] {
    chosenActions.lines(of: expectation, at: time) + hearing.deviceLines(of: expectation)
  }

  /// Returns the events of apps, servers and the network. They follow the actions of users, which are the more likely
  /// cause.
  private func events(of peers: [String], at time: Instant, withLosses: Bool) -> [String] {
    recent.lines(of: peers, at: time) + lost.lines(of: peers)
      + network.lines(of: peers, at: time, withLosses: withLosses)
  }

  /// Returns the start of the trouble: the last change of the values the expectation reads, or the loss of the ICE
  /// pair.
  private func trouble(of expectation: Expectation, _ peers: [String], at time: Instant) -> Instant {
    ([time, ice.trouble(of: peers), context.lastChange(in: expectation)].compactMap(\.self).min() ?? time) - Self.lead
  }

  /// Returns the peers of an expectation. If it names fewer than two, all peers are included, because a call has two
  /// ends; with more than four peers, only the one that it names.
  private static func peers(of expectation: Expectation, in scenario: Scenario) -> [String] {
    let (named, all) = (written(in: expectation, of: scenario), scenario.peers.map(\.name))
    return named.count < 2 ? (all.count <= 4 || named.isEmpty ? all : named) : named
  }

  /// Returns the named peers, or all if it names none.
  private static func named(by expectation: Expectation, in scenario: Scenario) -> [String] {
    let named = written(in: expectation, of: scenario)
    return named.isEmpty ? scenario.peers.map(\.name) : named
  }

  private static func written(in expectation: Expectation, of scenario: Scenario) -> [String] {
    var named = expectation.values.map(\.owner)
    if case .ends(let ends) = expectation.kind { named = [ends.peer.value] }
    // Counts and recoveries are about both ends.
    switch expectation.kind {
    case .count, .recovers: named = []
    default: break
    }
    return scenario.peers.map(\.name).filter(named.contains)
  }
}
