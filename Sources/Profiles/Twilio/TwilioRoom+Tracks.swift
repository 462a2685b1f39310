internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// The local tracks of a room, and those of others that come in.
extension TwilioRoom {
  // MARK: Local tracks

  /// Adds a track to the connection, to be published.
  func add(_ track: TwilioLocalTrack) throws(SessionError) {
    guard let connection else { return }
    trackCount += 1
    var publication = TwilioPublication(
      track: track, id: "\(environment.userID)-\(track.kind.rawValue)-\(trackCount)")
    if track.kind == .video { publication.priority = settings.cameraPriority }
    publication.sender = try connection.addTransceiver(
      MediaStreamTrack(track.kind, id: publication.id), TransceiverInit(direction: .sendonly))
    if !track.isSending { connection.setTrackEnabled(false, of: publication.sender) }
    track.room = self
    tracks.append(publication)
  }

  func publish(_ track: TwilioLocalTrack) -> Bool {
    guard !isOver, track.room == nil else { return false }
    attempt("53400") { () throws(SessionError) in try add(track) }
    guard !isOver else { return false }
    offer()
    tracksChanged()
    return true
  }

  func unpublish(_ track: TwilioLocalTrack) -> Bool {
    guard !isOver, let index = tracks.firstIndex(where: { $0.track === track }) else { return false }
    giveUp(index)
    guard !isOver else { return true }
    offer()
    tracksChanged()
    return true
  }

  private func giveUp(_ index: Int) {
    let publication = tracks.remove(at: index)
    publication.track.room = nil
    attempt("53400") { () throws(SessionError) in
      guard let connection, let sender = publication.sender else { return }
      // Without a track there is still a section, for the tracks of others.
      let others = connection.transceivers.filter { $0.id != sender }
      if !others.contains(where: { $0.sender.track != nil || $0.direction.receives }) {
        try connection.addTransceiver(.audio, TransceiverInit(direction: .recvonly))
      }
      try connection.stop(sender)
    }
  }

  /// A track was enabled or disabled.
  func changed(_ track: TwilioLocalTrack) {
    guard !isOver, let publication = tracks.first(where: { $0.track === track }) else { return }
    if state != "connecting" || !Defect.muteCompletesLate.isPlanted { apply(publication) }
    tracksChanged()
  }

  private func apply(_ publication: TwilioPublication) {
    connection?.setTrackEnabled(publication.track.isSending, of: publication.sender)
  }

  /// What a planted defect does: it applies a mute in a completion handler, after media may leave.
  func completeMute() {
    environment.clock.schedule(after: .milliseconds(50)) { [weak self] in
      for publication in self?.tracks ?? [] { self?.apply(publication) }
    }
  }

  // MARK: The device

  /// Takes the audio again after an interruption.
  func resumeAudio() { if !isOver { environment.device.resumeAudioSession() } }

  /// Gives an attempt to connect up: iOS ends it when the app is left.
  func leftForeground() { if state == "connecting" { end("53000", on: "background") } }

  /// Takes the sids, or the failures, of publications.
  func take(published: JSON) {
    let count = tracks.count + dataTracks.count
    defer { if tracks.count + dataTracks.count < count, !isOver { tracksChanged() } }
    for entry in published["tracks"]?.array ?? [] {
      if take(publishedData: entry) { continue }
      guard let index = tracks.firstIndex(where: { $0.id == entry["id"]?.string }) else { continue }
      if let sid = entry["sid"]?.string, tracks[index].sid == nil {
        tracks[index].sid = sid
        let track = tracks[index].track
        callbacks.track("localParticipantDidPublish\(tracks[index].word)Track") { [participant] in
          participant.delegate?.localParticipantDidPublish(participant: participant, track: track)
        }
      } else if let code = entry["error"]?["code"]?.integer {
        failed(tracks[index], "\(code)")
        giveUp(index)
        offer()
      }
    }
    showTracks()
  }

  /// Raises a code of a track. That of a room which ends is its end already.
  func raise(_ code: String) {
    if !isOver, TwilioApp.vocabulary.errorCodes.contains(where: { $0.name == code }) { trace.raise(code) }
  }

  private func failed(_ publication: TwilioPublication, _ code: String) {
    raise(code)
    callbacks.track(
      "localParticipantDidFailToPublish\(publication.word)Track", error: TwilioCode.shown(code)
    ) { [participant] in
      participant.delegate?.localParticipantDidFailToPublish(
        participant: participant, track: publication.track, error: TwilioError(code: code))
    }
  }

  // MARK: The end

  /// Fails the publications that have no sid yet: the room ends with an error.
  func failPending(_ code: String) {
    for publication in tracks where publication.sid == nil { failed(publication, code) }
    failPendingData(code)
  }

  /// Gives all publications up after the callback of the end. What a further room publishes by then stays shown.
  func unpublishAll() {
    (tracks, dataTracks) = ([], [])
    if sdk?.room === self { showTracks() }
  }

  // MARK: What is shown

  func showTracks() {
    showDataTracks()
    for (name, kind) in [("mic", MediaKind.audio), ("camera", .video)] {
      let track = tracks.first { $0.kind == kind }
      trace.set("\(name).sent", tracks.contains { $0.kind == kind && $0.track.isSending })
      trace.set("\(name).published", track?.sid != nil)
      trace.set("\(name).sid", track?.sid ?? "none")
    }
  }

  // MARK: Tracks of others

  /// Reads which tracks come in: the server names each in the description by its sid.
  func showSubscriptions() {
    let incoming = (connection?.transceivers ?? []).filter { $0.currentDirection?.receives ?? false }
    let data = remoteDataTracks.sorted { $0.key < $1.key }.map(\.value)
    roster.subscribe(to: incoming.map(\.receiver.track.id).filter { !$0.isEmpty } + data)
  }
}
