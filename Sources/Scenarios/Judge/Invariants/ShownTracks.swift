internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// During a call, what an app shows of its own tracks equals what it publishes: the flags that its vocabulary declares.
final class ShownTracks {
  /// How long they may differ while the call is connected.
  static let grace = Interval.seconds(1)

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      guard let machine = context.mainMachine(of: peer) else { continue }
      let state = watch.slot(peer, machine.name)
      for value in context.vocabulary(of: peer)?.values ?? [] {
        guard let name = value.shown else { continue }
        let shown = watch.slot(peer, PeerEvents.value(value.name, Bool.self))
        let real = watch.slot(peer, PeerEvents.value(name, Bool.self))
        var differsSince: Instant?
        let judge: (TraceRecord) -> Void = { [unowned watch] record in
          let isConnected = watch.value(state).map { machine.role(of: $0.description) == .connected } ?? false
          guard isConnected, let flag = watch.value(shown), flag != watch.value(real) ?? false else {
            return differsSince = nil
          }
          guard differsSince == nil else { return }
          differsSince = record.time
          watch.alarms.schedule(at: record.time + Self.grace) {
            guard differsSince == record.time else { return }
            let actual =
              "\(peer)'s app shows \(value.name) as \(flag) since \(Wording.time(record.time)), and \(name) is \(!flag) (I16)"
            report(Violation(.shownTracks, at: record.time + Self.grace, actual: actual))
          }
        }
        watch.listen(state, judge)
        watch.listen(shown, judge)
        watch.listen(real, judge)
      }
    }
  }
}
