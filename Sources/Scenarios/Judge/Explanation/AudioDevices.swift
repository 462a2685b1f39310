internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Peers whose device neither records nor plays in a call, because of the app's use of its audio session.
///
/// The audio unit takes the session as it is when the peer connection is made, and only a running audio unit opens the
/// speaker.
final class AudioDevices {
  private struct Session {
    var isActive = false
    var category: AudioSession.Category?
    var time = Instant.zero
  }

  /// The connections of a peer, from the first that opens until the last has closed.
  private struct Call {
    /// The audio session: at first as it was before the call, then as the app changed it.
    var session: Session
    var isOpen = true
    var hasPlayed = false
    var wasActivatedLate = false
  }

  private var sessions: [String: Session] = [:]
  private var calls: [String: Call] = [:]

  init(_ context: MonitorContext) {
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      watch.listen(to: PeerEvents.audioSession, of: peer) { [unowned self] record, state, category, _ in
        note(Session(isActive: state == "active", category: .init(rawValue: category), time: record.time), of: peer)
      }
      watch.listen(to: PeerEvents.openConnections, of: peer) { [unowned self] _, number in
        count(isNone: number == 0, of: peer)
      }
      watch.listen(to: PeerEvents.speaker, of: peer) { [unowned self] _, isOpen in
        if isOpen { calls[peer]?.hasPlayed = true }
      }
    }
  }

  private func note(_ session: Session, of peer: String) {
    sessions[peer] = session
    // A session that ends after the call was active during the call.
    guard let call = calls[peer], call.isOpen, session.isActive, !call.session.isActive else { return }
    calls[peer]?.session = session
    calls[peer]?.wasActivatedLate = true
  }

  private func count(isNone: Bool, of peer: String) {
    if isNone {
      calls[peer]?.isOpen = false
    } else if calls[peer]?.isOpen != true {
      calls[peer] = Call(session: sessions[peer] ?? Session())
    }
  }

  /// Returns why the peer's device neither recorded nor played in its newest call, or nil if it did.
  ///
  /// `alice: the app activated the audio session at 3.07 s, only after it had made the peer connection: …`
  func lack(of peer: String) -> String? {
    guard let call = calls[peer], !call.hasPlayed else { return nil }
    let result = "the audio unit does not run, so that nothing is recorded, sent or played"
    if call.wasActivatedLate {
      let time = Wording.time(call.session.time)
      return "\(peer): the app activated the audio session at \(time), only after it had made the peer connection: "
        + result
    }
    guard call.session.isActive else {
      return "\(peer): the app did not activate the audio session for its call: \(result)"
    }
    guard let category = call.session.category, !(category.records && category.plays) else { return nil }
    return "\(peer): the category of the audio session is \(category.rawValue), which does not "
      + "\(category.records ? "play" : "record"): \(result)"
  }
}
