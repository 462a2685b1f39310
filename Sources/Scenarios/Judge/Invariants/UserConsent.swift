internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The consent of one peer's user: the call that the user placed or accepted, until it ends.
///
/// The harness knows the user's actions and their times. The app only supplies the identity of its call (`call.id`,
/// `call.peer`): an accept applies to the call that the app was showing then, a placed call to the called user. For an
/// app that does not report its call, the order of events decides: an accept or call since the last end. An app that
/// has several calls says which go on beside the one that it shows (`call.beside`): the consent to those is kept.
final class UserConsent {
  private let vocabulary: ProfileVocabulary?
  private let watch: Watch
  private let scenario: Scenario
  private let callID: Watch.Slot<String>
  private let callPeer: Watch.Slot<String>
  private let callsBeside: Watch.Slot<String>
  private var accepted: [String] = []
  /// The calls with consent: the one that is shown, and those beside it.
  private var kept: Set<String> = []
  /// The ids of the called users.
  private var placed: [String] = []
  /// Whether there was an accept or call for an unknown call.
  private var isUnspecific = false
  /// Whether consent is given, until something changes that it depends on: media ask for it with every packet.
  private var known: Bool?
  /// Reverts the last action of each name, in case the app refuses it, which it may do later than it does others.
  private var undo: [String: () -> Void] = [:]
  private(set) var endedAt: Instant?
  /// Called when the app claims a consent that its user did not give.
  var onForged: ((Instant) -> Void)?
  var onEnd: ((Instant) -> Void)?

  init(_ peer: String, _ context: MonitorContext) {
    watch = context.watch
    scenario = context.scenario
    vocabulary = context.vocabulary(of: peer)
    callID = watch.slot(peer, PeerEvents.callID)
    callPeer = watch.slot(peer, PeerEvents.callPeer)
    callsBeside = watch.slot(peer, PeerEvents.callsBeside)
    watch.listen(callID) { [unowned self] _ in known = nil }
    // The app reports the partner of a call after its id.
    watch.listen(to: PeerEvents.callPeer, of: peer) { [unowned self] _, _ in keep() }
    watch.listen(to: PeerEvents.action, of: peer) { [unowned self] _, action, callee in acted(action, to: callee) }
    watch.listen(to: PeerEvents.actionRefused, of: peer) { [unowned self] _, action, _ in
      undo.removeValue(forKey: action)?()
      known = nil
    }
    watch.listen(to: PeerEvents.accepted, of: peer) { [unowned self] record, isAccepted in
      if isAccepted, !isGiven { onForged?(record.time) }
    }
    watch.listen(to: PeerEvents.callEnded, of: peer) { [unowned self] record, _ in end(record.time) }
    watch.listen(to: PeerEvents.appState, of: peer) { [unowned self] record, state in
      guard state == AppState.terminated.rawValue else { return }
      kept = []
      end(record.time)
    }
  }

  /// Keeps the consent to what is shown while it is, and to what goes on beside it.
  private func keep() {
    known = nil
    guard let id = watch.value(callID) else { return }
    let others = watch.value(callsBeside)?.split(separator: " ").map(String.init) ?? []
    kept = kept.filter { $0 == id || others.contains($0) }
    if isConsented(id) { kept.insert(id) }
  }

  private func end(_ time: Instant) {
    if let id = watch.value(callID) { kept.remove(id) }
    (accepted, placed, isUnspecific, undo) = ([], [], false, [:])
    known = nil
    endedAt = time
    onEnd?(time)
  }

  /// Whether media may leave the device now.
  var isGiven: Bool {
    if let known { return known }
    let isGiven = judge()
    known = isGiven
    return isGiven
  }

  private func judge() -> Bool {
    guard let id = watch.value(callID) else { return isUnspecific || !placed.isEmpty }
    return !kept.isEmpty || isConsented(id)
  }

  private func isConsented(_ id: String) -> Bool {
    accepted.contains(id) || kept.contains(id) || isUnspecific
      || watch.value(callPeer).map { placed.contains(scenario.userID(of: $0)) } ?? false
  }

  private func acted(_ action: String, to callee: String) {
    known = nil
    undo[action] = consent(to: action, callee)
  }

  /// Takes the consent that an action gives, and returns what reverts it.
  private func consent(to action: String, _ callee: String) -> (() -> Void)? {
    let before = kept
    switch vocabulary?.action(action)?.role {
    case .begin where !callee.isEmpty:
      let user = scenario.userID(of: callee)
      placed.append(user)
      return { [unowned self] in
        if let last = placed.lastIndex(of: user) { placed.remove(at: last) }
        kept.formIntersection(before)
      }
    case .accept:
      guard let id = watch.value(callID) else { return beUnspecific() }
      accepted.append(id)
      kept.insert(id)
      return { [unowned self] in
        if let last = accepted.lastIndex(of: id) { accepted.remove(at: last) }
        kept.formIntersection(before)
      }
    case .begin, .join: return beUnspecific()
    case .refuse, .end, .leave, .mute, .unmute, .restartICE, .switchCamera, .shareScreen, nil: return nil
    }
  }

  private func beUnspecific() -> (() -> Void)? {
    guard !isUnspecific else { return nil }
    isUnspecific = true
    return { [unowned self] in isUnspecific = false }
  }
}
