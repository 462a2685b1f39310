internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Both sides of a call end with matching views: both connected, or both ended by codes that agree.
///
/// It follows the call that each app reports (`call.id`, `call.peer`), however that call began; for apps that do not
/// report it, the calls that their users place.
final class Agreement {
  /// The last call of one side.
  private struct View {
    let id: String
    let peer: String
    let began: Instant
    var ending: Ending?
  }

  private struct Ending {
    var code: String
    var time: Instant
  }

  private let context: MonitorContext
  private let report: (Violation) -> Void
  private let names: [String]
  /// The pairs whose views are not compared: a modified client tells one side what the other does not know of.
  private let lied: [(liar: String, other: String)]
  private var views: [String: View] = [:]
  /// All calls of each side.
  private var history: [String: Set<String>] = [:]

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.context = context
    self.report = report
    names = context.scenario.peers.map(\.name)
    let scenario = context.scenario
    lied = scenario.timeline.flatMap { entry -> [(liar: String, other: String)] in
      guard case .send(let message) = entry.effect else { return [] }
      // A field may name another sender.
      let named = message.fields.entries.compactMap { field in
        scenario.peers.first { field.value.value == .text(scenario.userID(of: $0.name)) }?.name
      }
      return (named + [message.from]).filter { scenario.peer($0)?.stack != .puppet }.map { ($0, message.to) }
    }
    let watch = context.watch
    for peer in names {
      let id = watch.slot(peer, PeerEvents.callID)
      _ = watch.slot(peer, PeerEvents.callsBeside)
      for subject in scenario.peer(peer)?.connectionSubjects ?? [] {
        _ = watch.slot(subject, PeerConnectionEvents.connectionState)
      }
      // The app reports the partner of a call after its id.
      watch.listen(to: PeerEvents.callPeer, of: peer) { [unowned self, unowned watch] record, other in
        if let id = watch.value(id) { begin(peer, id, with: other, at: record.time) }
      }
      watch.listen(to: PeerEvents.action, of: peer) { [unowned self, unowned watch] record, action, callee in
        guard watch.value(id) == nil, let other = called(action, callee, by: peer) else { return }
        // Until both have reported an id of their own, the two are in the call that one of them placed.
        let call = "\(peer) > \(other) \(record.number.rawValue)"
        begin(peer, call, with: other, at: record.time)
        if watch.value(watch.slot(other, PeerEvents.callID)) == nil { begin(other, call, with: peer, at: record.time) }
      }
      watch.listen(to: PeerEvents.callEnded, of: peer) { [unowned self] record, code in
        views[peer]?.ending = Ending(code: code, time: record.time)
      }
    }
  }

  /// Whether a peer has a call beside the one that it shows: nothing is known of its stage.
  private func has(_ peer: String, beside id: String) -> Bool {
    let watch = context.watch
    return watch.value(watch.slot(peer, PeerEvents.callsBeside))?.split(separator: " ").contains(Substring(id)) ?? false
  }

  private func begin(_ peer: String, _ id: String, with other: String, at time: Instant) {
    views[peer] = View(id: id, peer: other, began: time)
    history[peer, default: []].insert(id)
  }

  /// Returns the called user; nil if the action is not a call.
  private func called(_ action: String, _ callee: String, by peer: String) -> String? {
    guard case .begin? = context.vocabulary(of: peer)?.action(action)?.role, names.contains(callee) else { return nil }
    return callee
  }

  // MARK: Judging

  /// Judges the last call of each peer.
  func check(at time: Instant) {
    for peer in names {
      guard let view = views[peer], names.contains(view.peer) else { continue }
      let partner = view.peer
      if lied.contains(where: { $0 == (peer, partner) || $0 == (partner, peer) }) { continue }
      guard let other = views[partner], other.id == view.id, other.peer == peer else {
        if !has(partner, beside: view.id) { checkAlone(peer, view, with: partner, at: time) }
        continue
      }
      // Each pair is judged once, beginning with the side that was in the call first.
      let isFirst = view.began < other.began || (view.began == other.began && isBefore(peer, partner))
      if isFirst { check(peer, view, partner, other, at: time) }
    }
  }

  private func isBefore(_ a: String, _ b: String) -> Bool {
    (names.firstIndex(of: a) ?? 0) < (names.firstIndex(of: b) ?? 0)
  }

  /// Whether a peer is connected to one whose call is over: it may not have noticed yet.
  var isOneSided: Bool {
    names.contains { peer in
      guard let view = views[peer], names.contains(view.peer), case .connected? = CallStage(of: peer, context) else {
        return false
      }
      return isOver(view, for: view.peer)
    }
  }

  /// Returns whether the other side is not, or no longer, in that call.
  private func isOver(_ view: View, for other: String) -> Bool {
    guard let stage = CallStage(of: other, context) else { return false }
    guard views[other]?.id == view.id else { return !has(other, beside: view.id) }
    if case .none = stage { return true }
    return false
  }

  /// Judges a call whose other side is in another call, or never heard of this one.
  private func checkAlone(_ peer: String, _ view: View, with other: String, at time: Instant) {
    guard case .connected? = CallStage(of: peer, context), CallStage(of: other, context) != nil else { return }
    let known = history[other]?.contains(view.id) == true
    let state = known ? "\(other) has been in another call since" : "\(other) was never in that call"
    report(Violation(.agreement, at: time, actual: "\(peer) is connected to \(other), but \(state)"))
  }

  private func check(_ a: String, _ one: View, _ b: String, _ other: View, at time: Instant) {
    guard let first = CallStage(of: a, context), let second = CallStage(of: b, context) else { return }
    switch (first, second) {
    case (.connected, .connected), (.underway, _), (_, .underway): break
    case (.connected, .none): disagree(a, b, other.ending, at: time)
    case (.none, .connected): disagree(b, a, one.ending, at: time)
    case (.none, .none):
      guard let mine = one.ending, let yours = other.ending,
        contradict(caller: endCode(mine.code, of: a), callee: endCode(yours.code, of: b))
      else { return }
      report(
        Violation(
          .agreement, at: time,
          actual: "\(a) ended with \(mine.code) at \(Wording.time(mine.time)), and \(b) with \(yours.code) "
            + "at \(Wording.time(yours.time)): each says that the other ended it"))
    }
  }

  private func disagree(_ connected: String, _ other: String, _ ending: Ending?, at time: Instant) {
    guard hasTransport(connected, to: other) else { return }
    let end =
      ending.map { "\(other)'s call ended with \($0.code) at \(Wording.time($0.time))" } ?? "\(other) is in no call"
    report(Violation(.agreement, at: time, actual: "\(connected) is connected, but \(end)"))
  }

  /// Whether a peer's connection has a transport. Without one, because every section was rejected, nothing tells its app that
  /// the other side has gone (RFC 3264 section 6).
  private func hasTransport(_ peer: String, to other: String) -> Bool {
    let subjects = context.scenario.peer(peer)?.connectionSubjects ?? [peer]
    let own = subjects.first { ConnectionSubject($0)?.name == other } ?? peer
    return context.watch.value(context.watch.slot(own, PeerConnectionEvents.connectionState)) != "new"
  }

  private func endCode(_ code: String, of peer: String) -> CodeDeclaration? {
    context.vocabulary(of: peer)?.endCode(code)
  }

  /// Returns whether two end codes contradict each other: each says that the other side ended the call. A callee that
  /// refused ended it itself. Every other pair is consistent, or two sides gave up separately because they could not
  /// reach each other.
  private func contradict(caller: CodeDeclaration?, callee: CodeDeclaration?) -> Bool {
    guard let caller, let callee, caller.blame == .other, callee.blame == .other else { return false }
    return !callee.isRefusal
  }
}
