internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// A call does not ring whose end has arrived at the device, in whichever order offer and end came.
final class GhostRing {
  /// The time that an app gets to stop ringing.
  static let grace = Interval.seconds(1)

  /// An end of a call by one of its users.
  private struct End: Hashable {
    let call: String
    let sender: String
  }

  /// When ends arrived first at one peer, and the calls that its user placed.
  private final class Side {
    var ends: [End: Instant] = [:]
    var placed: Set<String> = []
    /// Whom the user called last, until that call is there or refused.
    var called: String?
    /// The calls that were reported.
    var reported: Set<String> = []
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
        let end = End(call: message.call, sender: message.sender)
        side.ends[end] = side.ends[end] ?? now
        look(at: peer, side, after: now)
      }
      let vocabulary = context.vocabulary(of: peer)
      context.watch.listen(to: PeerEvents.action, of: peer) { _, action, called in
        if case .begin = vocabulary?.action(action)?.role { side.called = called }
      }
      context.watch.listen(to: PeerEvents.actionRefused, of: peer) { _, action, _ in
        if case .begin = vocabulary?.action(action)?.role { side.called = nil }
      }
      // Another process of the app has heard of no end.
      context.watch.listen(to: PeerEvents.appState, of: peer) { _, state in
        if state == AppState.terminated.rawValue { side.ends = [:] }
      }
      context.watch.listen(to: PeerEvents.state(machine.name), of: peer) { [unowned self] record, state, _, _ in
        guard machine.role(of: state) == .alerting else { return }
        notePlacement(by: peer, side)
        look(at: peer, side, after: record.time)
      }
    }
  }

  /// Takes the call that the peer shows for the one that its user has just placed, if it is with those.
  private func notePlacement(by peer: String, _ side: Side) {
    let watch = context.watch
    guard let called = side.called, called == watch.value(watch.slot(peer, PeerEvents.callPeer)),
      let id = watch.value(watch.slot(peer, PeerEvents.callID))
    else { return }
    side.placed.insert(id)
    side.called = nil
  }

  /// Looks whether the peer rings for a call that is over, when the grace has passed.
  private func look(at peer: String, _ side: Side, after time: Instant) {
    guard !side.ends.isEmpty else { return }
    let watch = context.watch
    watch.alarms.schedule(at: time + Self.grace) { [unowned self] in
      guard let stage = CallStage(of: peer, context), case .underway(let state, let since) = stage,
        context.mainMachine(of: peer)?.role(of: state) == .alerting,
        let id = watch.value(watch.slot(peer, PeerEvents.callID)),
        let others = watch.value(watch.slot(peer, PeerEvents.callPeer))
      else { return }
      // A call of several that rings is over when who placed it ends it, who comes first. For who placed it, it is when all
      // the others have left.
      let names = others.split(separator: ", ").map(String.init)
      let decisive = side.placed.contains(id) ? names : Array(names.prefix(1))
      let ends = decisive.compactMap { side.ends[End(call: id, sender: context.scenario.userID(of: $0))] }
      guard let end = ends.max(), ends.count == decisive.count, side.reported.insert(id).inserted else { return }
      let actual =
        "\(peer) is \(state) since \(Wording.time(since)), and \(decisive.joined(separator: " and "))'s end of that call "
        + "arrived at \(Wording.time(end))"
      report(Violation(.ghostRing, at: time + Self.grace, actual: actual))
    }
  }
}
