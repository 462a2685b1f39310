package import CallCore
package import ScenarioFormat

/// The claim of a `recovers` verdict: that the fault took the target and, for a failure, that it kept the target from
/// returning. A run without the fault shows whether that is true.
package struct RecoveryClaim {
  package let recovers: Expectation.Recovers
  /// The participants whose media were the target.
  package let participants: [String]
  /// The first beginning of the fault.
  package let began: Instant
  /// The firing that took the target.
  package let firing: Instant
  let firstLoss: Instant
  /// The last loss before the verdict.
  let lastLoss: Instant
  /// The time of the failure, if it failed.
  let failure: Instant?

  /// The tolerance for events that a fault shifts: media may be late by this.
  static let tolerance = MediaBothWays.gap

  /// The latest time of a loss in a run without the fault that refutes the claim.
  private var latestFirstLoss: Instant { firstLoss + Self.tolerance }
  private var latestLastLoss: Instant { lastLoss + Self.tolerance }

  /// The time until which a run without the fault must be played.
  package var horizon: Instant { max(latestFirstLoss, failure.map { max($0, latestLastLoss) } ?? latestFirstLoss) }

  /// Returns whether the rest of a run without the fault cannot change the result.
  package func isDecided(by absences: [RecoveryWatch.Absence]) -> Bool { firstLoss(among: absences) != nil }

  /// Returns the loss that corresponds to the fault's.
  private func firstLoss(among absences: [RecoveryWatch.Absence]) -> Instant? {
    absences.first { $0.start <= latestFirstLoss }?.start
  }

  /// Returns the time at which the target is lost without the fault, too; nil when the fault caused that loss and the
  /// failure.
  ///
  /// - Parameter absences: the absences after the firing, in a run without the fault that went to the ``horizon`` or
  ///   was decided.
  package func loss(among absences: [RecoveryWatch.Absence]) -> Instant? {
    if let loss = firstLoss(among: absences) { return loss }
    guard let failure else { return nil }
    let end = max(failure, latestLastLoss)
    return absences.first { absence in
      absence.start <= end && absence.end.map { $0 > failure - Self.tolerance } ?? true
    }?.start
  }
}
