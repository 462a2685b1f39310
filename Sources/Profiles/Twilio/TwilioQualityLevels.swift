internal import VirtualPeer

/// The network quality levels that the app shows: that of its own participant, and those of the others.
final class TwilioQualityLevels {
  private let trace: PeerTrace
  private let callbacks: TwilioCallbacks
  /// What the server told last: the own level, and those of others by their sids.
  private var told: (local: Int?, remotes: [String: Int]) = (nil, [:])
  private var shown: (local: Int?, remotes: [String: Int]) = (nil, [:])
  /// The identities of those whose level is shown, by their sids.
  private var names: [String: String] = [:]
  private var isIn = false
  private var isReconnecting = false

  init(_ trace: PeerTrace, _ callbacks: TwilioCallbacks) {
    self.trace = trace
    self.callbacks = callbacks
  }

  /// Takes the levels that the server tells.
  func take(_ levels: JSON, of remotes: [TwilioRemoteParticipant]) {
    let local = levels["local"]?.integer.flatMap(Self.level)
    var others: [String: Int] = [:]
    for entry in levels["remotes"]?.array ?? [] {
      guard let sid = entry["sid"]?.string, let level = entry["level"]?.integer.flatMap(Self.level) else { continue }
      others[sid] = level
    }
    told = (local, others)
    show(remotes)
  }

  private func show(_ remotes: [TwilioRemoteParticipant]) {
    guard isIn else { return }
    showLocal()
    for remote in remotes {
      guard let level = told.remotes[remote.sid], shown.remotes[remote.sid] != level else { continue }
      shown.remotes[remote.sid] = level
      names[remote.sid] = remote.identity
      trace.to(remote.identity).set("participant.network-quality", level)
      callbacks.room("remoteParticipantNetworkQualityLevelDidChange", participant: remote.identity)
    }
  }

  private static func level(_ number: Int64) -> Int? { (0...5).contains(number) ? Int(number) : nil }

  /// Notes that this participant is in the room.
  func enter(_ remotes: [TwilioRemoteParticipant]) {
    (isIn, isReconnecting) = (true, false)
    show(remotes)
  }

  /// Notes that signalling or media is lost: the level is 0 until both are back.
  func lose() {
    isReconnecting = true
    showLocal()
  }

  /// Forgets the level of a participant who has left, without a callback.
  func leave(_ remote: TwilioRemoteParticipant) {
    (told.remotes[remote.sid], shown.remotes[remote.sid]) = (nil, nil)
    guard let identity = names.removeValue(forKey: remote.sid) else { return }
    trace.to(identity).set("participant.network-quality", 0)
  }

  /// Forgets all levels, without callbacks: the room is over.
  func end() {
    for identity in names.values.sorted() { trace.to(identity).set("participant.network-quality", 0) }
    names = [:]
    guard shown.local != nil else { return }
    trace.set("network-quality", 0)
    (told, shown, isIn) = ((nil, [:]), (nil, [:]), false)
  }

  private func showLocal() {
    guard isIn, let local = told.local else { return }
    let level = isReconnecting ? 0 : local
    guard level != shown.local else { return }
    shown.local = level
    trace.set("network-quality", level)
    callbacks.room("localParticipantNetworkQualityLevelDidChange")
  }
}
