internal import CallCore

/// What a verdict of `recovers` lays to its fault: that the fault took the target, and, of a failure, that it is why the
/// target was not back. A run without the fault shows whether that is so.
struct RecoveryClaim {
  let recovers: Expectation.Recovers
  /// When the fault began first.
  let began: Instant
  /// When it began to take the target.
  let firing: Instant
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
  var horizon: Instant { max(latestFirstLoss, failure.map { max($0, latestLastLoss) } ?? latestFirstLoss) }

  /// Whether more of a run without the fault than up to `now` can change nothing.
  func isDecided(by absences: [RecoveryTarget.Absence], at now: Instant) -> Bool {
    now > firing && firstLoss(among: absences) != nil
  }

  /// The loss that takes the place of the fault's. What is back before the fault begins is none.
  private func firstLoss(among absences: [RecoveryTarget.Absence]) -> Instant? {
    absences.first { absence in
      absence.start <= latestFirstLoss && absence.end.map { $0 > firing } ?? true
    }?.start
  }

  /// When the target is lost without the fault, too; nil when that loss is the fault's, and so is the failure.
  ///
  /// - Parameter absences: those of a run without the fault that went to the ``horizon``, or was decided.
  func loss(among absences: [RecoveryTarget.Absence]) -> Instant? {
    if let loss = firstLoss(among: absences) { return loss }
    guard let failure else { return nil }
    let end = max(failure, latestLastLoss)
    return absences.first { absence in
      absence.start <= end && absence.end.map { $0 > failure - Self.tolerance } ?? true
    }?.start
  }
}
