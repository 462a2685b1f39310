internal import CallCore
internal import Profiles
internal import ScenarioFormat
internal import ScenarioJudge

/// A repetition of a run without one of its faults, which shows whether a target would have been lost anyway.
///
/// From one of its firings on, the fault's entry only marks its time, so that entries and windows that depend on it
/// continue. Up to that firing both runs are identical. The repetition writes nothing, and only the loss of targets is
/// judged.
final class RunWithoutFault {
  private let fault: String
  private let stage: RunStage
  private let asked: [(claim: RecoveryClaim, target: RecoveryTarget)]
  /// The watch of each claim's missing targets, from the claim's firing on; nil before that.
  private var watches: [RecoveryWatch?]

  /// Prepares the repetition.
  ///
  /// - Parameters:
  ///   - start: the first firing to leave out.
  ///   - claims: the claims about the fault.
  init(_ fault: String, from start: Instant, _ claims: [RecoveryClaim], of run: SingleRun) throws {
    self.fault = fault
    let outputs = RunOutputs()
    let context = MonitorContext(listeningTo: run.cell.scenario, run.profiles.registry, outputs)
    asked = claims.map { ($0, RecoveryTarget($0.recovers, context)) }
    watches = asked.map { _ in nil }
    stage = try RunStage(context, seed: run.seed, profiles: run.profiles, outputs: outputs)
    stage.effects.withheld = (fault, start)
  }

  /// Plays the run, once.
  ///
  /// - Returns: for each claim, the time at which its target is lost without the fault, too; nil if it is not.
  func losses() throws -> [Instant?] {
    defer {
      // Waiting async code would never end, and would keep its app alive.
      stage.world.shutDownPeers()
      stage.world.shutDownServers()
      stage.context.close()
    }
    guard let horizon = asked.map(\.claim.horizon).max() else { return [] }
    try stage.world.start()
    for (index, (claim, target)) in asked.enumerated() {
      // A target that is missing after all else at this time counts as lost then.
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
  /// Checks every recovery verdict against a run without its fault.
  ///
  /// - Returns: a finding for each run without a fault that could not be played: its verdicts cannot stand.
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

  /// Plays one run for all expectations about one fault; of several firings the first is checked first.
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

  /// Confirms a loss. A run without any firing may lose a target for lack of an earlier firing's consequences, such as
  /// a call that followed it: then a run with the earlier firings decides.
  private func confirmed(_ loss: Instant?, _ claim: RecoveryClaim) throws -> Instant? {
    guard loss != nil, claim.firing > claim.began else { return loss }
    return try RunWithoutFault(claim.recovers.fault.value, from: claim.firing, [claim], of: self).losses()[0]
  }
}
