package import CallCore
internal import ScenarioFormat
package import Statistics

/// The invariants of a run: the defaults, with the additions and exceptions of the scenario.
package final class InvariantJudge {
  package private(set) var violations: [Violation] = []
  private let context: MonitorContext
  private let explanation: Explanation
  private let enabled: [Invariant]
  private var monitors: [AnyObject] = []
  private var agreement: Agreement?
  private var statistics: HonestStats?
  private var mute: Mute?
  private var dataDelivery: DataDelivery?
  private var shownTracks: ShownTracks?
  private let crossedOffers: CrossedOffers
  /// The number of violations that are reported per invariant: a broken peer may violate it with every packet.
  private static let limit = 5

  init(_ context: MonitorContext, _ explanation: Explanation) {
    self.context = context
    self.explanation = explanation
    enabled = Invariant.allCases.filter { invariant in
      context.scenario.invariants.last { $0.invariant == invariant }?.isOn ?? invariant.isDefault
    }
    for peer in context.scenario.peers.map(\.name) { CallStage.follow(peer, context) }
    let arrivals = Arrivals(context)
    crossedOffers = CrossedOffers(context, arrivals)
    let report: (Violation) -> Void = { [unowned self] in add($0) }
    monitors.append(arrivals)
    for invariant in enabled {
      switch invariant {
      case .consent: monitors.append(Consent(context, report))
      case .captureScope: monitors.append(CaptureScope(context, report))
      case .noCleartext: monitors.append(NoCleartext(context, report))
      case .preAcceptPrivacy: monitors.append(PreAcceptPrivacy(context, report))
      case .agreement: agreement = Agreement(context, report)
      case .honestStats: statistics = HonestStats(context, report)
      case .oneActiveCall: monitors.append(OneActiveCall(context, report))
      case .mute: mute = Mute(context, report)
      case .ghostRing: monitors.append(GhostRing(context, arrivals, report))
      case .signalledCertificate: monitors.append(SignalledCertificate(context, arrivals, report))
      case .boundedBacklog: monitors.append(BoundedBacklog(context, report))
      case .unverifiedSources: monitors.append(UnverifiedSources(context, report))
      case .dataDelivery: dataDelivery = DataDelivery(context, report)
      case .appAway: monitors.append(AppAway(context, report))
      case .indicator: monitors.append(Indicator(context, report))
      case .callKitOrder: monitors.append(CallKitOrder(context, report))
      case .reportedPushes: monitors.append(ReportedPushes(context, report))
      case .audioConfigured: monitors.append(AudioConfigured(context, report))
      case .audioRecovered: monitors.append(AudioRecovered(context, report))
      case .audioRestored: monitors.append(AudioRestored(context, report))
      case .shownTracks: shownTracks = ShownTracks(context, report)
      case .quiescence, .endedCalls, .partnerOnly: break
      }
    }
    monitors.append(
      CallMessages(
        context, arrivals, endedCalls: isOn(.endedCalls) ? report : nil,
        partnerOnly: isOn(.partnerOnly) ? report : nil))
    monitors.append(LegalTransitions(context, report))
    monitors.append(FittingMessages(context, report))
  }

  func isOn(_ invariant: Invariant) -> Bool { enabled.contains(invariant) }

  private func add(_ violation: Violation) {
    let count = violations.count { $0.title == violation.title }
    guard count < Self.limit, !violations.contains(violation) else { return }
    var violation = violation
    let finding = explanation.explain(peers: context.scenario.peers.map(\.name), at: violation.time)
    (violation.trail, violation.faults, violation.explanation) = (finding.trail, finding.faults, finding.explanation)
    violation.signature = FindingSignature(violation.title, finding.courses)
    violations.append(violation)
  }

  // MARK: Input from the runner

  /// The time within which a message on a data channel comes, when the network is well.
  package static var dataGrace: Interval { DataDelivery.grace }

  /// Takes the statistics of a peer's connection, read between its events.
  package func sampled(_ report: StatsReport, of peer: String, over connection: String, at time: Instant) {
    statistics?.check(report, of: peer, at: time)
    mute?.check(report, of: peer, over: connection, at: time)
  }

  /// Whether two offers wait for each other.
  package var areOffersCrossed: Bool { crossedOffers.isWaiting }

  /// Whether no peer is in a transient state, or in a call that the other side has left.
  package var arePeersSettled: Bool { agreement?.isOneSided != true && unsettledSince == nil }

  /// When the newest of the transient states that peers are in began; nil if there is none.
  package var unsettledSince: Instant? {
    context.scenario.peers.compactMap { peer in
      if case .underway(_, let since)? = CallStage(of: peer.name, context) { since } else { nil }
    }.max()
  }

  /// Judges after the timeline, when the faults are cleared and the time to recover has passed.
  ///
  /// - Parameter overdue: messages on reliable data channels that should have come.
  package func endOfPhaseTwo(overdue: [(peer: String, label: String, count: Int)] = [], at time: Instant) {
    dataDelivery?.check(overdue, at: time)
    agreement?.check(at: time)
    shownTracks?.check(at: time)
    StuckStates(context).check(at: time) { add($0) }
    crossedOffers.check(at: time) { add($0) }
  }

  /// Judges the leftovers after everything was shut down, one line each: `alice: 2 timers`.
  package func quiesced(leftovers: [String], at time: Instant) {
    guard isOn(.quiescence) else { return }
    for line in leftovers { add(Violation(.quiescence, at: time, actual: line)) }
  }
}
