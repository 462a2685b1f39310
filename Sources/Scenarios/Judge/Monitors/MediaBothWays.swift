internal import CallCore

/// Whether audio arrives at both ends of the call.
///
/// It does while every peer that was in a call when the fault began has received an authenticated media packet within the
/// last ``gap``, and never when nobody was. Of apps that do not say whether they are in a call, those count that had
/// received media. The gap is longer than the 400 ms between the packets of a pause in speech (RFC 3389, Opus DTX).
final class MediaBothWays {
  static let gap = Interval.milliseconds(500)

  private let context: MonitorContext
  private let arrivals: [(peer: String, slot: Watch.Slot)]
  private var concerned: [(peer: String, slot: Watch.Slot)] = []
  private(set) var isTrue = false
  var onChange: ((Instant) -> Void)?

  init(_ context: MonitorContext) {
    self.context = context
    arrivals = context.scenario.peers.filter(\.hasCallStack).map {
      ($0.name, context.watch.slot($0.name, "media.received"))
    }
    for (peer, slot) in arrivals {
      CallStage.follow(peer, context)
      context.watch.listen(slot) { [unowned self] in
        if !concerned.isEmpty, !isTrue { refresh(at: $0.time) }
      }
    }
  }

  func begin(at time: Instant) {
    concerned = arrivals.filter { peer, slot in
      switch CallStage(of: peer, context) {
      case .connected?: true
      case CallStage.none?, .underway?: false
      case nil: context.watch.changedAt(slot) != nil
      }
    }
    refresh(at: time)
  }

  private func refresh(at now: Instant) {
    let stalest = concerned.map { context.watch.changedAt($0.slot) ?? .zero - Self.gap - .nanoseconds(1) }.min()
    let holds = stalest.map { now - $0 <= Self.gap } ?? false
    if holds, let stalest {
      // One look at the earliest moment at which it can end, not one a packet.
      let end = stalest + Self.gap + .nanoseconds(1)
      context.alarms.schedule(at: end) { [weak self] in self?.refresh(at: end) }
    }
    guard holds != isTrue else { return }
    isTrue = holds
    onChange?(now)
  }

  /// `alice last received media at 18.31 s, bob never`
  var account: String {
    let peers = concerned.isEmpty ? arrivals : concerned
    return peers.map { peer, slot in
      context.watch.changedAt(slot).map { "\(peer) last received media at \(Wording.time($0))" }
        ?? "\(peer) never received media"
    }.joined(separator: ", ")
  }
}
