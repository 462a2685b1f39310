package import CallCore
package import ScenarioFormat

/// The target of `recovers`, media both ways or a predicate, and whether it exists.
package final class RecoveryTarget {
  let name: String
  private let context: MonitorContext
  private let target: Expectation.Recovers.Target
  private let condition: Condition?
  private let media: MediaBothWays?
  private var watches: [RecoveryWatch] = []

  package init(_ recovers: Expectation.Recovers, _ context: MonitorContext) {
    self.context = context
    target = recovers.to
    switch target {
    case .mediaBothWays: (condition, media, name) = (nil, MediaBothWays(context), "media both ways")
    case .predicate(let predicate): (condition, media, name) = (context.condition(predicate), nil, "\(predicate)")
    }
    condition?.listen { [unowned self] _ in context.later { self.look(at: $0) } }
    media?.onChange = { [unowned self] time in context.watch.afterEvent { self.look(at: time) } }
  }

  /// The participants in calls, whose media are the target; empty for a predicate.
  var participants: [String] { media?.participants ?? [] }

  func isThere(for participants: [String]) -> Bool {
    condition?.isTrue ?? media?.arrives(at: participants) ?? false
  }

  /// Returns its last state in words.
  func account(of participants: [String]) -> String {
    switch target {
    case .mediaBothWays: media?.account(of: participants) ?? ""
    case .predicate(let predicate): context.account(predicate)
    }
  }

  /// Records from now on, after the current event, when it is missing for these participants.
  package func watch(for participants: [String], from time: Instant) -> RecoveryWatch {
    let watch = RecoveryWatch(participants, from: time)
    watches.append(watch)
    media?.follow(participants)
    context.watch.afterEvent { [unowned self] in look(at: time) }
    return watch
  }

  /// Restricts a watch to some of its participants.
  func leave(_ watch: RecoveryWatch, only isLeft: (String) -> Bool) {
    let awaited = watch.awaited.filter(isLeft)
    guard awaited != watch.awaited, !awaited.isEmpty else { return }
    media?.unfollow(watch.awaited)
    watch.awaited = awaited
    media?.follow(awaited)
  }

  /// Ends a watch.
  func end(_ watch: RecoveryWatch) {
    watches.removeAll { $0 === watch }
    media?.unfollow(watch.awaited)
  }

  private func look(at now: Instant) {
    for watch in watches { watch.note(isThere(for: watch.awaited), at: now) }
  }
}

/// The times at which the target of `recovers` was missing after one beginning of its fault.
package final class RecoveryWatch {
  /// A time in which the target was missing; without an end it has not returned.
  package struct Absence: Equatable {
    let start: Instant
    var end: Instant?
  }

  let began: Instant
  /// The participants in calls when it began.
  let participants: [String]
  /// The participants whose media are awaited.
  fileprivate(set) var awaited: [String]
  /// The absences in order of time.
  package private(set) var absences: [Absence] = []
  /// Called at the beginning and the end of each absence.
  var onChange: ((Instant) -> Void)?

  fileprivate init(_ participants: [String], from time: Instant) {
    (self.participants, awaited, began) = (participants, participants, time)
  }

  fileprivate func note(_ isThere: Bool, at now: Instant) {
    let wasThere = absences.last.map { $0.end != nil } ?? true
    guard isThere != wasThere else { return }
    if isThere { absences[absences.count - 1].end = now } else { absences.append(Absence(start: now)) }
    onChange?(now)
  }
}
