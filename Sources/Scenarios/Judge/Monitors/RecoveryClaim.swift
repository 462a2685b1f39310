package import CallCore
package import ScenarioFormat

/// What a verdict of `recovers` lays to its fault: that the fault took the target, and, of a failure, that it is why the
/// target was not back. A run without the fault shows whether that is so.
package struct RecoveryClaim {
  package let recovers: Expectation.Recovers
  /// Whose media it was.
  package let participants: [String]
  /// When the fault began first.
  package let began: Instant
  /// When it began to take the target.
  package let firing: Instant
  let firstLoss: Instant
  /// The last before the verdict.
  let lastLoss: Instant
  /// When it failed, if it did.
  let failure: Instant?

  /// A fault shifts a little what happens without it, too. This is as long as media may be late.
  static let tolerance = MediaBothWays.gap

  /// What is lost by then was the fault's to take, were it not lost without it.
  private var latestFirstLoss: Instant { firstLoss + Self.tolerance }
  private var latestLastLoss: Instant { lastLoss + Self.tolerance }

  /// How far a run without the fault has to go.
  package var horizon: Instant { max(latestFirstLoss, failure.map { max($0, latestLastLoss) } ?? latestFirstLoss) }

  /// Whether more of a run without the fault can change nothing.
  package func isDecided(by absences: [RecoveryWatch.Absence]) -> Bool { firstLoss(among: absences) != nil }

  /// The loss that takes the place of the fault's.
  private func firstLoss(among absences: [RecoveryWatch.Absence]) -> Instant? {
    absences.first { $0.start <= latestFirstLoss }?.start
  }

  /// When the target is lost without the fault, too; nil when that loss is the fault's, and so is the failure.
  ///
  /// - Parameter absences: those from the firing on, of a run without the fault that went to the ``horizon``, or was
  ///   decided.
  package func loss(among absences: [RecoveryWatch.Absence]) -> Instant? {
    if let loss = firstLoss(among: absences) { return loss }
    guard let failure else { return nil }
    let end = max(failure, latestLastLoss)
    return absences.first { absence in
      absence.start <= end && absence.end.map { $0 > failure - Self.tolerance } ?? true
    }?.start
  }
}
