internal import CallCore

/// Whether audio arrives at both ends of a call.
///
/// It does while each of its participants has received an authenticated media packet within the last ``gap``, and never
/// when there are none. The gap is longer than the 400 ms between the packets of a pause in speech (RFC 3389, Opus DTX).
final class MediaBothWays {
  static let gap = Interval.milliseconds(500)

  /// Participants whose media somebody follows.
  private struct Following {
    let participants: [String]
    var isTrue: Bool
  }

  private let context: MonitorContext
  private let arrivals: [(peer: String, slot: Watch.Slot)]
  private var followings: [Following] = []
  /// Told when media begin or cease to arrive at participants that are followed.
  var onChange: ((Instant) -> Void)?

  init(_ context: MonitorContext) {
    self.context = context
    arrivals = context.scenario.peers.filter(\.hasCallStack).map {
      ($0.name, context.watch.slot($0.name, "media.received"))
    }
    for (peer, slot) in arrivals {
      CallStage.follow(peer, context)
      context.watch.listen(slot) { [unowned self] in
        if followings.contains(where: { !$0.isTrue }) { refresh(at: $0.time) }
      }
    }
  }

  /// Who is in a call now. Of apps that do not say so, those count that have received media.
  var participants: [String] {
    arrivals.filter { peer, slot in
      switch CallStage(of: peer, context) {
      case .connected?: true
      case CallStage.none?, .underway?: false
      case nil: context.watch.changedAt(slot) != nil
      }
    }.map(\.peer)
  }

  func arrives(at participants: [String]) -> Bool { end(for: participants).map { $0 > context.trace.now } ?? false }

  func follow(_ participants: [String]) {
    followings.append(Following(participants: participants, isTrue: arrives(at: participants)))
    scheduleEnd(for: participants)
  }

  func unfollow(_ participants: [String]) {
    if let index = followings.firstIndex(where: { $0.participants == participants }) { followings.remove(at: index) }
  }

  /// When media no longer arrive at all of them, if nothing more comes.
  private func end(for participants: [String]) -> Instant? {
    let last = arrivals.filter { participants.contains($0.peer) }.map { context.watch.changedAt($0.slot) }
    guard !last.isEmpty, last.allSatisfy({ $0 != nil }) else { return nil }
    return last.compactMap(\.self).min().map { $0 + Self.gap + .nanoseconds(1) }
  }

  private func refresh(at now: Instant) {
    var hasChanged = false
    for index in followings.indices {
      let holds = arrives(at: followings[index].participants)
      guard holds != followings[index].isTrue else { continue }
      followings[index].isTrue = holds
      hasChanged = true
      if holds { scheduleEnd(for: followings[index].participants) }
    }
    if hasChanged { onChange?(now) }
  }

  /// One look at the earliest moment at which they can cease, not one a packet.
  private func scheduleEnd(for participants: [String]) {
    guard let end = end(for: participants), end > context.trace.now else { return }
    context.alarms.schedule(at: end) { [weak self] in
      guard let self, followings.contains(where: { $0.participants == participants && $0.isTrue }) else { return }
      refresh(at: end)
      scheduleEnd(for: participants)
    }
  }

  /// `alice last received media at 18.31 s, bob never received media`
  func account(of participants: [String]) -> String {
    arrivals.filter { participants.isEmpty || participants.contains($0.peer) }.map { peer, slot in
      context.watch.changedAt(slot).map { "\(peer) last received media at \(Wording.time($0))" }
        ?? "\(peer) never received media"
    }.joined(separator: ", ")
  }
}
