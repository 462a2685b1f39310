internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// During a call, what an app shows of its own tracks equals what it publishes, and once the network is well, it shows as on
/// of others only what is: the values that its vocabulary declares.
final class ShownTracks {
  /// How long they may differ while the call is connected.
  static let grace = Interval.seconds(1)
  /// How long an app may show of another what is not so while both are connected: longer than the session timeouts of the
  /// products, so that no outage lasts as long.
  static let graceOfOthers = Interval.seconds(60)

  private let context: MonitorContext
  /// The room that each peer has joined last; none where there are no rooms.
  private var lastRoom: [String: String] = [:]
  private let report: (Violation) -> Void
  /// The values that list others, and the flag that each of those has set.
  private var lists: [(peer: String, shown: String, flag: String)] = []
  /// Since when each of those shows a user wrongly, by their place in ``lists``.
  private var wrongSince: [Int: [String: Instant]] = [:]

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.context = context
    self.report = report
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      guard let machine = context.mainMachine(of: peer) else { continue }
      let vocabulary = context.vocabulary(of: peer)
      watch.listen(to: PeerEvents.action, of: peer) { [unowned self] _, action, room in
        if case .join? = vocabulary?.action(action)?.role { lastRoom[peer] = room }
      }
      let state = watch.slot(peer, machine.name)
      for value in vocabulary?.values ?? [] {
        guard let name = value.shown else { continue }
        guard value.type == .flag else {
          lists.append((peer, value.name, name))
          follow(lists.count - 1, state)
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

  // MARK: What apps show of others

  /// Follows what an app shows, and what the others are.
  private func follow(_ place: Int, _ state: Watch.Slot<TraceDatum>) {
    let (watch, (peer, shown, flag)) = (context.watch, lists[place])
    let lookAtAll: (TraceRecord) -> Void = { [unowned self] record in
      let users = (wrongSince[place] ?? [:]).keys.sorted() + shownUsers(at: place)
      for user in users { look(at: user, in: place, record.time) }
    }
    watch.listen(state, lookAtAll)
    watch.listen(watch.slot(peer, PeerEvents.value(shown, String.self)), lookAtAll)
    for other in context.scenario.peers where other.name != peer {
      guard let machine = context.mainMachine(of: other.name) else { continue }
      let lookAtOne: (TraceRecord) -> Void = { [unowned self] in look(at: other.name, in: place, $0.time) }
      watch.listen(watch.slot(other.name, machine.name), lookAtOne)
      watch.listen(watch.slot(other.name, PeerEvents.value(flag, Bool.self)), lookAtOne)
    }
  }

  private func look(at user: String, in place: Int, _ time: Instant) {
    guard isWrong(user, in: place) else {
      wrongSince[place]?[user] = nil
      return
    }
    guard wrongSince[place]?[user] == nil else { return }
    wrongSince[place, default: [:]][user] = time
    context.alarms.schedule(at: time + Self.graceOfOthers) { [weak self] in
      guard let self, wrongSince[place]?[user] == time else { return }
      tell(user, in: place, at: time + Self.graceOfOthers)
    }
  }

  private func shownUsers(at place: Int) -> [String] {
    let list = context.watch.value(
      context.watch.slot(lists[place].peer, PeerEvents.value(lists[place].shown, String.self)))
    return (list ?? "").split(separator: " ").map(String.init)
  }

  /// Whether an app shows a user as on whose own flag is off, both being connected.
  private func isWrong(_ user: String, in place: Int) -> Bool {
    let (peer, _, flag) = lists[place]
    let (watch, scenario) = (context.watch, context.scenario)
    // A user who has left, or has gone to another room, may have had no way to say so: the server tells the others after its
    // timeout.
    guard case .connected? = CallStage(of: peer, context), case .connected? = CallStage(of: user, context),
      let other = scenario.peer(user), other.profile?.value == scenario.peer(peer)?.profile?.value,
      watch.value(watch.slot(user, PeerEvents.value(flag, Bool.self))) == false, lastRoom[peer] == lastRoom[user]
    else { return false }
    return !isBorrowed(user) && shownUsers(at: place).contains(user)
  }

  private func tell(_ user: String, in place: Int, at time: Instant) {
    let (peer, shown, flag) = lists[place]
    let actual = "\(peer)'s app shows \(user) in \(shown) at \(Wording.time(time)), and \(user)'s \(flag) is false"
    report(Violation(.shownTracks, at: time, actual: actual))
  }

  /// Judges what apps show of others, when the network has been well for a while.
  func check(at time: Instant) {
    for place in lists.indices {
      for user in shownUsers(at: place) where isWrong(user, in: place) { tell(user, in: place, at: time) }
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
