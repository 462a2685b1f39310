internal import CallCore
internal import VirtualPeer

/// The other participants of a room, and what the app shows of them.
final class TwilioRoster {
  private let trace: PeerTrace
  private let callbacks: TwilioCallbacks
  /// Whose delegate is told.
  weak var room: TwilioRoom?
  /// Called when a participant has left.
  var onLeave: ((TwilioRemoteParticipant) -> Void)?
  private(set) var remotes: [TwilioRemoteParticipant] = []
  /// The sids of the tracks that come in.
  private var subscribed: [String] = []
  /// The sids of the tracks of those who have left, which may still come in for a moment.
  private var departed: Set<String> = []
  /// The sids of those that the server has switched off.
  private var switchedOff: [String] = []
  /// The sid of the one who speaks, as the server says.
  private var dominantSpeaker: String?
  /// The identity that was shown last as the dominant speaker.
  private var shownSpeaker: String?
  /// Whether this participant is in the room.
  private var isIn = false
  /// The revisions with which participants have left; one may come back with a higher one.
  private var left: [String: Int64] = [:]
  /// The word for the kind of each track that was ever published.
  private var words: [String: String] = [:]

  init(_ trace: PeerTrace, _ callbacks: TwilioCallbacks) {
    self.trace = trace
    self.callbacks = callbacks
    show()
  }

  /// Takes those who are in the room when this participant connects: there are no callbacks for them.
  func begin(_ list: [TwilioRemoteParticipant]) {
    remotes = list.filter { $0.state != "disconnected" }
    show()
  }

  /// Takes the whole list after a reconnection: who left, then who is new.
  func replace(by now: [TwilioRemoteParticipant]) {
    for remote in remotes where !now.contains(where: { $0.sid == remote.sid && $0.state != "disconnected" }) {
      leave(remote)
    }
    for remote in now { update(remote) }
    show()
  }

  /// Takes changed participants.
  func update(_ list: [TwilioRemoteParticipant]) {
    for remote in list { update(remote) }
    show()
  }

  private func update(_ remote: TwilioRemoteParticipant) {
    // What is out of date changes nothing.
    guard isNews(remote) || Defect.olderRevisionObeyed.isPlanted else { return }
    // Who comes, changes or leaves before this participant is in the room is in the list, or not.
    guard isIn else {
      remotes.removeAll { $0.sid == remote.sid }
      if remote.state == "disconnected" { left[remote.sid] = remote.revision } else { remotes.append(remote) }
      return
    }
    guard let index = remotes.firstIndex(where: { $0.sid == remote.sid }) else {
      guard remote.state != "disconnected" else { return }
      remotes.append(remote)
      departed.subtract(remote.tracks.map(\.sid))
      // What is published by then is in the participant, and is not told by itself.
      return tell("participantDidConnect", remote) { $0.participantDidConnect(room: $1, participant: remote) }
    }
    let old = remotes[index]
    guard remote.state != "disconnected" else { return leave(remote) }
    remotes[index] = remote
    if remote.state != old.state {
      let name = remote.state == "connected" ? "participantDidReconnect" : "participantIsReconnecting"
      callbacks.room(name, participant: remote.identity)
    }
    for track in old.tracks where !remote.tracks.contains(where: { $0.sid == track.sid }) {
      callbacks.track("remoteParticipantDidUnpublish\(track.kind.word)Track")
    }
    for track in remote.tracks {
      guard let before = old.tracks.first(where: { $0.sid == track.sid }) else {
        callbacks.track("remoteParticipantDidPublish\(track.kind.word)Track")
        continue
      }
      guard before.isEnabled != track.isEnabled else { continue }
      callbacks.track("remoteParticipantDid\(track.isEnabled ? "Enable" : "Disable")\(track.kind.word)Track")
    }
  }

  private func leave(_ remote: TwilioRemoteParticipant) {
    left[remote.sid] = remote.revision
    remotes.removeAll { $0.sid == remote.sid }
    departed.formUnion(remote.tracks.map(\.sid))
    subscribe(to: subscribed)
    onLeave?(remote)
    tell("participantDidDisconnect", remote) { $0.participantDidDisconnect(room: $1, participant: remote) }
  }

  private func tell(
    _ name: String, _ remote: TwilioRemoteParticipant, _ call: @escaping (any TwilioRoomDelegate, TwilioRoom) -> Void
  ) {
    callbacks.room(name, participant: remote.identity) { [weak room] in
      if let room, let delegate = room.delegate { call(delegate, room) }
    }
  }

  /// Takes the sids of the tracks that come in now.
  func subscribe(to sids: [String]) {
    let sids = sids.filter { !departed.contains($0) }
    for sid in sids where !subscribed.contains(sid) {
      if let word = words[sid] { callbacks.track("didSubscribeTo\(word)Track") }
    }
    for sid in subscribed where !sids.contains(sid) {
      if let word = words[sid] { callbacks.track("didUnsubscribeFrom\(word)Track") }
    }
    subscribed = sids
    show()
  }

  /// Takes the sids of the tracks that the server does not send for lack of bandwidth.
  func setSwitchedOff(_ sids: [String]) {
    for sid in sids where !switchedOff.contains(sid) { callbacks.track("remoteParticipantSwitchedOffVideoTrack") }
    for sid in switchedOff where !sids.contains(sid) && subscribed.contains(sid) {
      callbacks.track("remoteParticipantSwitchedOnVideoTrack")
    }
    switchedOff = sids
    show()
  }

  /// Takes the sid of the participant who speaks; nil for nobody.
  func setDominantSpeaker(_ sid: String?) {
    dominantSpeaker = sid
    show()
  }

  /// Returns the identity of the participant who publishes a track.
  func identity(ofTrack sid: String) -> String? {
    remotes.first { $0.tracks.contains { $0.sid == sid } }?.identity
  }

  /// Whether what is told of a participant is newer than all that was.
  func isNews(_ remote: TwilioRemoteParticipant) -> Bool {
    let known = [left[remote.sid], remotes.first { $0.sid == remote.sid }?.revision].compactMap(\.self)
    return known.allSatisfy { $0 < remote.revision }
  }

  /// Notes that this participant is in the room.
  func enter() {
    isIn = true
    show()
  }

  /// Unsubscribes from all tracks, and forgets everybody without further callbacks: the room is over.
  func end() {
    switchedOff = []
    subscribe(to: [])
    remotes = []
    (dominantSpeaker, shownSpeaker, isIn) = (nil, nil, false)
    show()
  }

  private func show() {
    for track in remotes.flatMap(\.tracks) {
      // A track may come in before the message that tells of it: a data channel goes another way, and after an outage the
      // participants are told once media are back.
      if words[track.sid] == nil, subscribed.contains(track.sid) {
        callbacks.track("didSubscribeTo\(track.kind.word)Track")
      }
      words[track.sid] = track.kind.word
    }
    func names(_ isIn: (TwilioRemoteParticipant) -> Bool) -> [String] { remotes.filter(isIn).map(\.identity) }
    trace.set("roster.count", remotes.count)
    trace.set("roster", users: names { _ in true })
    trace.set("roster.reconnecting", users: names { $0.state == "reconnecting" })
    // What has another name than agreed is shown as off, although it comes in.
    for name in ["mic", "camera"] {
      trace.set("remote.\(name).published", users: names { $0.tracks.contains { $0.name == name } })
      trace.set(
        "remote.\(name)",
        users: names { $0.tracks.contains { $0.name == name && $0.isEnabled && subscribed.contains($0.sid) } })
    }
    trace.set("remote.data-track.published", users: names { $0.tracks.contains { $0.kind == .data } })
    trace.set(
      "remote.data-track", users: names { $0.tracks.contains { $0.kind == .data && subscribed.contains($0.sid) } })
    trace.set("remote.switched-off", users: names { $0.tracks.contains { switchedOff.contains($0.sid) } })
    showDominantSpeaker()
    let known = remotes.flatMap(\.tracks).map(\.sid)
    trace.set("remote.subscribed", subscribed.count { known.contains($0) })
  }

  /// The dominant speaker is another participant: while this one speaks, there is none.
  private func showDominantSpeaker() {
    let speaker = isIn ? remotes.first { $0.sid == dominantSpeaker }?.identity : nil
    trace.set("dominant-speaker", users: speaker.map { [$0] } ?? [])
    guard speaker != shownSpeaker else { return }
    shownSpeaker = speaker
    callbacks.room("dominantSpeakerDidChange", participant: speaker)
  }
}
