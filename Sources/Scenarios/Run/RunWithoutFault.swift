internal import CallCore
internal import Profiles
internal import ScenarioFormat
internal import ScenarioJudge

/// A run that is played again without one of its faults, to learn what would have been lost all the same.
///
/// The fault's entry stays as a mark from one of its firings on: what counts from it, waits for it or clears it goes on. Up
/// to that firing both runs are one. This one writes nothing, and nothing of it is judged but when a target is lost.
final class RunWithoutFault {
  private let fault: String
  private let stage: RunStage
  private let asked: [(claim: RecoveryClaim, target: RecoveryTarget)]
  /// What was missing from the firing of each claim on; nil before that.
  private var watches: [RecoveryWatch?]

  /// - Parameters:
  ///   - start: the firing that is the first to be left out.
  ///   - claims: those of the fault.
  init(_ fault: String, from start: Instant, _ claims: [RecoveryClaim], of run: SingleRun) throws {
    self.fault = fault
    let outputs = RunOutputs()
    let context = MonitorContext(listeningTo: run.cell.scenario, run.profiles.registry, outputs)
    asked = claims.map { ($0, RecoveryTarget($0.recovers, context)) }
    watches = asked.map { _ in nil }
    stage = try RunStage(context, seed: run.seed, profiles: run.profiles, outputs: outputs)
    stage.effects.withheld = (fault, start)
  }

  /// Plays it, once.
  ///
  /// - Returns: when the target of each claim is lost without the fault, too.
  func losses() throws -> [Instant?] {
    defer {
      // Async code that waits would never end, and keep its app.
      stage.world.shutDownPeers()
      stage.world.shutDownServers()
      stage.context.close()
    }
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
    let began = stage.context.anchors.firstFiring(of: fault)
    return try zip(asked, watches).map { asked, watch in
      guard let watch, began == asked.claim.began else {
        throw HarnessError(
          "it differs from the judged run before \(Wording.time(asked.claim.began)), when the fault comes")
      }
      return asked.claim.loss(among: watch.absences)
    }
  }
}

extension SingleRun {
  /// Asks of every verdict whether the fault did what it lays to it.
  ///
  /// - Returns: a finding of each run without a fault that could not be played, so that its verdicts cannot stand.
  func refute(_ recoveries: [RecoversMonitor]) -> [Finding] {
    var findings: [Finding] = []
    let claiming = recoveries.filter { !$0.claims.isEmpty }
    for fault in claiming.map(\.fault).inOrderOfAppearance {
      do {
        try refute(claiming.filter { $0.fault == fault }, fault)
      } catch {
        findings.append(
          Finding(
            .harness, "recovers: \(fault)", expected: "the run without it shows whether it took what was lost",
            actual: "that run could not be played: \(error)", time: .zero))
      }
    }
    return findings
  }

  /// In one run for all that name the same fault; of several firings the first is asked first.
  private func refute(_ recoveries: [RecoversMonitor], _ fault: String) throws {
    let losses = try RunWithoutFault(fault, from: .zero, recoveries.map { $0.claims[0] }, of: self).losses()
    for (monitor, loss) in zip(recoveries, losses) {
      guard let loss = try confirmed(loss, monitor.claims[0]) else { continue }
      monitor.refute(lossWithoutFault: loss, standing: try firstThatStands(of: monitor.claims.dropFirst(), fault))
    }
  }

  private func firstThatStands(of claims: ArraySlice<RecoveryClaim>, _ fault: String) throws -> RecoveryClaim? {
    guard !claims.isEmpty else { return nil }
    let losses = try RunWithoutFault(fault, from: .zero, Array(claims), of: self).losses()
    return try zip(claims, losses).first { try confirmed($1, $0) == nil }?.0
  }

  /// Where a run without any firing loses what a later one took, it may be for want of what came of the earlier ones, as a
  /// call that followed them: then a run that has these decides.
  private func confirmed(_ loss: Instant?, _ claim: RecoveryClaim) throws -> Instant? {
    guard loss != nil, claim.firing > claim.began else { return loss }
    return try RunWithoutFault(claim.recovers.fault.value, from: claim.firing, [claim], of: self).losses()[0]
  }
}
