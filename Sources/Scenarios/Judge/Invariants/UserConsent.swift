internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The consent of one peer's user: the call that the user placed or accepted, until it ends.
///
/// The harness knows the user's actions and their times. The app only supplies the identity of its call (`call.id`,
/// `call.peer`): an accept applies to the call that the app was showing then, a placed call to the called user. For an
/// app that does not report its call, the order of events decides: an accept or call since the last end.
final class UserConsent {
  private let vocabulary: ProfileVocabulary?
  private let watch: Watch
  private let scenario: Scenario
  private let callID: Watch.Slot<String>
  private let callPeer: Watch.Slot<String>
  private var accepted: [String] = []
  /// The ids of the called users.
  private var placed: [String] = []
  /// Whether there was an accept or call for an unknown call.
  private var isUnspecific = false
  /// Whether consent is given, until something changes that it depends on: media ask for it with every packet.
  private var known: Bool?
  /// Reverts the last action, in case the app refuses it.
  private var undo: (() -> Void)?
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
    watch.listen(callID) { [unowned self] _ in known = nil }
    watch.listen(callPeer) { [unowned self] _ in known = nil }
    watch.listen(to: PeerEvents.action, of: peer) { [unowned self] _, action, callee in acted(action, to: callee) }
    watch.listen(to: PeerEvents.actionRefused, of: peer) { [unowned self] _, _, _ in
      undo?()
      (undo, known) = (nil, nil)
    }
    watch.listen(to: PeerEvents.accepted, of: peer) { [unowned self] record, isAccepted in
      if isAccepted, !isGiven { onForged?(record.time) }
    }
    watch.listen(to: PeerEvents.callEnded, of: peer) { [unowned self] record, _ in end(record.time) }
    watch.listen(to: PeerEvents.appState, of: peer) { [unowned self] record, state in
      if state == AppState.terminated.rawValue { end(record.time) }
    }
  }

  private func end(_ time: Instant) {
    (accepted, placed, isUnspecific, undo) = ([], [], false, nil)
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
    return accepted.contains(id) || isUnspecific
      || watch.value(callPeer).map { placed.contains(scenario.userID(of: $0)) } ?? false
  }

  private func acted(_ action: String, to callee: String) {
    (undo, known) = (nil, nil)
    switch vocabulary?.action(action)?.role {
    case .begin where !callee.isEmpty:
      placed.append(scenario.userID(of: callee))
      undo = { [unowned self] in placed.removeLast() }
    case .accept:
      if let id = watch.value(callID) {
        accepted.append(id)
        undo = { [unowned self] in accepted.removeLast() }
      } else {
        beUnspecific()
      }
    case .begin, .join: beUnspecific()
    case .refuse, .end, .leave, .mute, .unmute, .restartICE, nil: break
    }
  }

  private func beUnspecific() {
    guard !isUnspecific else { return }
    isUnspecific = true
    undo = { [unowned self] in isUnspecific = false }
  }
}
