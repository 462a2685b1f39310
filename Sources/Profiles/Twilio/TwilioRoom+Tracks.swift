internal import PeerSession
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// The local tracks of a room, and those of others that come in.
extension TwilioRoom {
  // MARK: Local tracks

  /// Adds a track to the connection, to be published.
  func add(_ kind: MediaKind, _ name: String) throws(SessionError) {
    guard let connection else { return }
    trackCount += 1
    var track = TwilioLocalTrack(kind: kind, id: "\(environment.userID)-\(kind.rawValue)-\(trackCount)", name: name)
    track.isInterrupted = kind == .video && isCameraInterrupted
    if kind == .video { track.priority = settings.cameraPriority }
    track.sender = try connection.addTransceiver(
      MediaStreamTrack(kind, id: track.id), TransceiverInit(direction: .sendonly))
    if track.isInterrupted { connection.setTrackEnabled(false, of: track.sender) }
    tracks.append(track)
  }

  func setMicrophone(_ isOn: Bool) throws(ActionError) { try set(.audio, isOn, name: settings.microphoneName) }

  func setCamera(_ isOn: Bool) throws(ActionError) { try set(.video, isOn, name: "camera") }

  /// Publishes one more track of the microphone.
  func publish(_ name: String) throws(ActionError) {
    guard environment.device.settings.mayRecord else { throw ActionError("the user does not permit recording") }
    attempt("53400") { () throws(SessionError) in try add(.audio, name) }
    guard !isOver else { return }
    offer()
    tracksChanged()
  }

  private func set(_ kind: MediaKind, _ isOn: Bool, name: String) throws(ActionError) {
    guard !isOver else { return }
    let index = tracks.firstIndex { $0.kind == kind }
    // What is on already is not published twice.
    guard isOn != (index.map { tracks[$0].isWanted } ?? false) else { return }
    if let index, isOn || settings.off == .disable {
      tracks[index].isWanted = isOn
      connection?.setTrackEnabled(tracks[index].isEnabled, of: tracks[index].sender)
      return tracksChanged()
    }
    if let index {
      let track = tracks.remove(at: index)
      attempt("53400") { () throws(SessionError) in if let sender = track.sender { try connection?.stop(sender) } }
    } else {
      attempt("53400") { () throws(SessionError) in try add(kind, name) }
    }
    guard !isOver else { return }
    offer()
    tracksChanged()
  }

  // MARK: The device

  /// Disables the camera's track while the device gives no pictures; what the user wants stands beside that.
  func setCameraInterrupted(_ isInterrupted: Bool) {
    isCameraInterrupted = isInterrupted
    guard !isOver, let index = tracks.firstIndex(where: { $0.kind == .video }) else { return }
    let wasEnabled = tracks[index].isEnabled
    tracks[index].isInterrupted = isInterrupted
    // The sample turns the camera on after an interruption, also one that the user had turned off.
    if settings.isSampleCode, !isInterrupted { tracks[index].isWanted = true }
    guard tracks[index].isEnabled != wasEnabled else { return }
    connection?.setTrackEnabled(!wasEnabled, of: tracks[index].sender)
    tracksChanged()
  }

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
        callbacks.track("localParticipantDidPublish\(tracks[index].word)Track")
      } else if let code = entry["error"]?["code"]?.integer {
        if TwilioApp.vocabulary.errorCodes.contains(where: { $0.name == "\(code)" }) { trace.raise("\(code)") }
        callbacks.track("localParticipantDidFailToPublish\(tracks[index].word)Track")
        let track = tracks.remove(at: index)
        attempt("53400") { () throws(SessionError) in if let sender = track.sender { try connection?.stop(sender) } }
        offer()
      }
    }
    showTracks()
  }

  func showTracks() {
    showDataTracks()
    for (name, kind) in [("mic", MediaKind.audio), ("camera", .video)] {
      let track = tracks.first { $0.kind == kind }
      if !settings.isSampleCode { trace.set("\(name).on", track?.isEnabled ?? false) }
      trace.set("\(name).sent", track?.isEnabled ?? false)
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
