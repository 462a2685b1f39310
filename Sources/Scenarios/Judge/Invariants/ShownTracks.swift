internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// During a call, what an app shows of its own tracks equals what it publishes, and once the network is well, it shows as on
/// of others only what is: the values that its vocabulary declares.
final class ShownTracks {
  /// How long they may differ while the call is connected.
  static let grace = Interval.seconds(1)

  private let context: MonitorContext
  private let report: (Violation) -> Void
  /// The values that list others, and the flag that each of those has set.
  private var lists: [(peer: String, shown: String, flag: String)] = []

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.context = context
    self.report = report
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      guard let machine = context.mainMachine(of: peer) else { continue }
      let state = watch.slot(peer, machine.name)
      for value in context.vocabulary(of: peer)?.values ?? [] {
        guard let name = value.shown else { continue }
        guard value.type == .flag else {
          lists.append((peer, value.name, name))
          _ = watch.slot(peer, PeerEvents.value(value.name, String.self))
          continue
        }
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

  /// Judges what apps show of others, when the network has been well for a while.
  func check(at time: Instant) {
    let (watch, scenario) = (context.watch, context.scenario)
    for (peer, shown, flag) in lists {
      guard case .connected? = CallStage(of: peer, context) else { continue }
      let users = watch.value(watch.slot(peer, PeerEvents.value(shown, String.self))) ?? ""
      for user in users.split(separator: " ").map(String.init) where !isBorrowed(user) {
        // A user who has left may have had no way to say so: the server tells the others after its timeout.
        guard case .connected? = CallStage(of: user, context), let other = scenario.peer(user),
          other.profile?.value == scenario.peer(peer)?.profile?.value,
          watch.value(watch.slot(user, PeerEvents.value(flag, Bool.self))) == false
        else { continue }
        let actual = "\(peer)'s app shows \(user) in \(shown) at \(Wording.time(time)), and \(user)'s \(flag) is false"
        report(Violation(.shownTracks, at: time, actual: actual))
      }
    }
  }

  /// Whether another peer has the id of this one in its settings, as an identity that it takes.
  private func isBorrowed(_ user: String) -> Bool {
    let id = context.scenario.userID(of: user)
    return context.scenario.peers.contains { peer in
      peer.name != user && peer.settings.entries.contains { $0.value.value == .text(id) }
    }
  }
}
