internal import CallCore
internal import ScenarioFormat

/// Whether audio arrives at both ends of a call.
///
/// It does while each participant has received an authenticated media packet within the last ``gap``, and never without
/// participants. A participant with several connections must receive media over each open one. The gap is longer than
/// the 400 ms between the packets of a pause in speech (RFC 3389, Opus DTX).
final class MediaBothWays {
  static let gap = Interval.milliseconds(500)

  /// The participants whose media a watch follows.
  private struct Following {
    let participants: [String]
    var followers = 1
    var isTrue: Bool
    /// The time of the next look, for all watches.
    var look: Instant?
  }

  private struct Receiver {
    let peer: String
    let connections: [(received: Watch.Slot<UInt32>, open: Watch.Slot<Int>)]
  }

  private let context: MonitorContext
  private let receivers: [Receiver]
  private var followings: [Following] = []
  /// Called when media begin or stop arriving at followed participants.
  var onChange: ((Instant) -> Void)?

  init(_ context: MonitorContext) {
    self.context = context
    let watch = context.watch
    receivers = context.scenario.peers.filter(\.hasCallStack).map { peer in
      Receiver(
        peer: peer.name,
        connections: peer.connectionSubjects.map {
          (watch.slot($0, PeerConnectionEvents.mediaReceived), watch.slot($0, PeerEvents.openConnections))
        })
    }
    for receiver in receivers {
      CallStage.follow(receiver.peer, context)
      for connection in receiver.connections {
        watch.listen(connection.received) { [unowned self] in
          if followings.contains(where: { !$0.isTrue }) { refresh(at: $0.time) }
        }
      }
    }
  }

  /// Returns the time of the last media packet, for several open connections that of the one waiting longest; nil while
  /// one has had none.
  private func lastArrival(at receiver: Receiver) -> Instant? {
    let open = receiver.connections.filter { receiver.connections.count == 1 || context.watch.value($0.open) ?? 0 > 0 }
    let times = open.map { context.watch.changedAt($0.received) }
    return times.contains(nil) ? nil : times.compactMap(\.self).min()
  }

  /// The participants of a call now. If an app does not report its calls, its peer counts after it has received media.
  var participants: [String] {
    receivers.filter { receiver in
      switch CallStage(of: receiver.peer, context) {
      case .connected?: true
      case CallStage.none?, .underway?: false
      case nil: lastArrival(at: receiver) != nil
      }
    }.map(\.peer)
  }

  func arrives(at participants: [String]) -> Bool { end(for: participants).map { $0 > context.trace.now } ?? false }

  func follow(_ participants: [String]) {
    if let index = index(of: participants) {
      followings[index].followers += 1
    } else {
      followings.append(Following(participants: participants, isTrue: arrives(at: participants)))
      scheduleEnd(for: followings.count - 1)
    }
  }

  func unfollow(_ participants: [String]) {
    guard let index = index(of: participants) else { return }
    followings[index].followers -= 1
    if followings[index].followers == 0 { followings.remove(at: index) }
  }

  private func index(of participants: [String]) -> Int? {
    followings.firstIndex { $0.participants == participants }
  }

  /// Returns the time at which media will no longer arrive at all of them, if no packet comes.
  private func end(for participants: [String]) -> Instant? {
    let last = receivers.filter { participants.contains($0.peer) }.map(lastArrival)
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
      if holds { scheduleEnd(for: index) }
    }
    if hasChanged { onChange?(now) }
  }

  /// Schedules one look at the earliest possible end, not one per packet.
  private func scheduleEnd(for index: Int) {
    let participants = followings[index].participants
    guard let end = end(for: participants), end > context.trace.now, end != followings[index].look else { return }
    followings[index].look = end
    context.alarms.schedule(at: end) { [weak self] in
      guard let self, let index = self.index(of: participants), followings[index].look == end else { return }
      refresh(at: end)
      if let index = self.index(of: participants) { scheduleEnd(for: index) }
    }
  }

  /// `alice last received media at 18.31 s, bob never received media`
  func account(of participants: [String]) -> String {
    receivers.filter { participants.isEmpty || participants.contains($0.peer) }.map { receiver in
      lastArrival(at: receiver).map { "\(receiver.peer) last received media at \(Wording.time($0))" }
        ?? "\(receiver.peer) never received media"
    }.joined(separator: ", ")
  }
}
