internal import CallCore
internal import Profiles

/// A run that is played again without one of its faults, to learn what would have been lost all the same.
///
/// The entry stays as a mark: what counts from it, waits for it or clears it goes on. Up to the fault's first beginning
/// both runs are one. This one writes nothing, and nothing of it is judged but when targets are lost.
final class RunWithoutFault {
  private let fault: String
  private let stage: RunStage
  private let asked: [(claim: RecoveryClaim, target: RecoveryTarget)]
  /// What was missing from the firing of each claim on; nil before that.
  private var watches: [RecoveryWatch?]

  /// - Parameter claims: those of the fault.
  init(_ fault: String, _ claims: [RecoveryClaim], of run: SingleRun) throws {
    self.fault = fault
    var scenario = run.cell.scenario
    for index in scenario.timeline.indices where scenario.timeline[index].id == fault {
      scenario.timeline[index].effect = .mark
    }
    let outputs = RunOutputs()
    let context = MonitorContext(listeningTo: scenario, run.profiles.registry, outputs)
    asked = claims.map { ($0, RecoveryTarget($0.recovers, context)) }
    watches = asked.map { _ in nil }
    stage = try RunStage(context, seed: run.seed, profiles: run.profiles, outputs: outputs)
  }

  /// Plays it, once.
  ///
  /// - Returns: when the target of each claim is lost without the fault, too.
  func losses() throws -> [Instant?] {
    defer { stage.context.close() }
    guard let horizon = asked.map(\.claim.horizon).max() else { return [] }
    try stage.world.start()
    for (index, (claim, target)) in asked.enumerated() {
      // What is missing when all is over that happens then is lost then.
      stage.context.alarms.schedule(at: claim.firing) { [unowned self] in
        watches[index] = target.watch(for: claim.participants, from: claim.firing)
      }
    }
    stage.play(until: horizon) {
      zip(asked, watches).allSatisfy { asked, watch in watch.map { asked.claim.isDecided(by: $0.absences) } ?? false }
    }
    if let failure = stage.failures.first { throw failure }
    return try zip(asked, watches).map { asked, watch in
      let (claim, began) = (asked.claim, stage.context.anchors.firstFiring(of: fault))
      guard let watch, began == claim.began else {
        throw HarnessError("it differs from the judged run before \(Wording.time(claim.began)), when the fault comes")
      }
      return claim.loss(among: watch.absences)
    }
  }

  /// Asks of every verdict whether the fault did what it lays to it, in one run for all that name the same fault.
  ///
  /// - Returns: a finding of each run without a fault that could not be played, so that its verdicts cannot stand.
  static func refute(_ recoveries: [RecoversMonitor], of run: SingleRun) -> [Finding] {
    var findings: [Finding] = []
    var faults: [String] = []
    for claim in recoveries.compactMap(\.claim) where !faults.contains(claim.recovers.fault.value) {
      faults.append(claim.recovers.fault.value)
    }
    for fault in faults {
      let asking = recoveries.filter { $0.claim?.recovers.fault.value == fault }
      do {
        let losses = try RunWithoutFault(fault, asking.compactMap(\.claim), of: run).losses()
        for (monitor, loss) in zip(asking, losses) { if let loss { monitor.refute(lossWithoutFault: loss) } }
      } catch {
        findings.append(
          Finding(
            .harness, "recovers: \(fault)", expected: "the run without it shows whether it took what was lost",
            actual: "that run could not be played: \(error)", time: .zero))
      }
    }
    return findings
  }
}
