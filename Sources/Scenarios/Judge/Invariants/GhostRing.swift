internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// A call does not ring whose end has arrived at the device, in whichever order offer and end came.
final class GhostRing {
  /// The time that an app gets to stop ringing.
  static let grace = Interval.seconds(1)

  /// The ends that arrived at one peer, by the call's id.
  private final class Side {
    var ends: [String: (sender: String, at: Instant)] = [:]
  }

  private let context: MonitorContext
  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ arrivals: Arrivals, _ report: @escaping (Violation) -> Void) {
    self.context = context
    self.report = report
    for peer in context.scenario.peers.map(\.name) {
      guard let machine = context.mainMachine(of: peer) else { continue }
      let side = Side()
      arrivals.listen(of: peer) { [unowned self] message in
        guard message.role == .end, !message.call.isEmpty else { return }
        let now = context.trace.now
        side.ends[message.call] = side.ends[message.call] ?? (message.sender, now)
        look(at: peer, side, after: now)
      }
      context.watch.listen(to: PeerEvents.state(machine.name), of: peer) { [unowned self] record, state, _, _ in
        if machine.role(of: state) == .alerting { look(at: peer, side, after: record.time) }
      }
    }
  }

  /// Looks whether the peer rings for a call that is over, when the grace has passed.
  private func look(at peer: String, _ side: Side, after time: Instant) {
    guard !side.ends.isEmpty else { return }
    let watch = context.watch
    watch.alarms.schedule(at: time + Self.grace) { [unowned self] in
      guard let stage = CallStage(of: peer, context), case .underway(let state, let since) = stage,
        context.mainMachine(of: peer)?.role(of: state) == .alerting,
        let id = watch.value(watch.slot(peer, PeerEvents.callID)), let end = side.ends[id],
        let partner = watch.value(watch.slot(peer, PeerEvents.callPeer)),
        context.scenario.userID(of: partner) == end.sender
      else { return }
      let actual =
        "\(peer) is \(state) since \(Wording.time(since)), and \(partner)'s end of that call arrived at "
        + Wording.time(end.at)
      report(Violation(.ghostRing, at: time + Self.grace, actual: actual))
    }
  }
}
