internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// The publishers of a session.
extension VonageMedia {
  /// Whether there are pictures to send: of the camera, or of the app's own capturer.
  var hasPictures: Bool {
    environment.device.settings.hasVideo
      && (environment.device.settings.camera != nil || settings.capturer == .custom)
  }

  func hasVideo(_ publisher: VonagePublisher) -> Bool { hasPictures && publishes.video }

  func publish(_ name: String) throws(ActionError) {
    guard session.state == .connected else {
      session.raise("publisher.1010")
      throw ActionError("the session is not connected")
    }
    guard session.role != .subscriber else { throw ActionError("the token does not permit to publish") }
    guard !publishers.contains(where: { $0.name == name }) else { throw ActionError("published already") }
    publisherCount += 1
    let publisher = VonagePublisher(id: "\(publisherCount)", name: name)
    publishers.append(publisher)
    _ = open()
    request(publisher)
    show()
  }

  /// Asks the server for a stream, and begins the time for the publisher to be connected.
  func request(_ publisher: VonagePublisher) {
    limit(publisher)
    publisher.told = (publishes.audio, hasVideo(publisher))
    session.send(
      "publish",
      [
        ("publisher", .string(publisher.id)), ("name", .string(publisher.name)), ("hasAudio", .bool(publishes.audio)),
        ("hasVideo", .bool(hasVideo(publisher))), ("fallback", .bool(settings.fallsBack)),
      ])
  }

  func limit(_ publisher: VonagePublisher) {
    publisher.timer = environment.clock.schedule(after: Self.publishTimeout) { [weak self, weak publisher] in
      guard let self, let publisher, !publisher.isAnnounced else { return }
      publisherFailed(publisher.stream ?? "", "publisher.1610", local: publisher.id)
    }
  }

  /// The server has given a publisher its stream.
  func published(_ message: MessageContent) {
    guard let stream = message["stream"]?.string else { return }
    guard let publisher = publishers.first(where: { $0.id == message["publisher"]?.string }) else {
      // It was given up before the server had an id for its stream.
      return session.send("unpublish", [("stream", .string(stream))])
    }
    guard publisher.stream == nil else { return }
    publisher.stream = stream
    // It may have been muted since it was requested.
    if publisher.told != (publishes.audio, hasVideo(publisher)) { update(publisher) }
    if !session.isRelayed { send(publisher) }
  }

  /// Adds the tracks of a publisher to the connection.
  func send(_ publisher: VonagePublisher) {
    guard let stream = publisher.stream, publisher.senders.isEmpty else { return }
    let connection = open().connection
    do throws(SessionError) {
      for kind in hasPictures ? [MediaKind.audio, .video] : [.audio] {
        let track = MediaStreamTrack(kind, id: VonageStream.track(kind, of: stream))
        // Between two clients nobody chooses among several encodings.
        let encodings = session.isRelayed ? [EncodingParameters()] : []
        publisher.senders[kind] = try connection.addTransceiver(
          track, TransceiverInit(direction: .sendonly, sendEncodings: encodings, streamIDs: [stream]))
      }
    } catch {
      return broken(error)
    }
    apply(to: publisher)
    offer()
  }

  /// Lets a publisher send what the app and the other client want of it: silence in place of sound that is off, nothing
  /// in place of pictures.
  func apply(to publisher: VonagePublisher) {
    guard let connection, let stream = publisher.stream else { return }
    for (kind, isOn) in [
      (MediaKind.audio, publisher.isWanted.audio), (.video, publisher.isWanted.video && publishes.video),
    ] {
      guard let sender = publisher.senders[kind],
        let sent = connection.transceivers.first(where: { $0.id == sender }), (sent.sender.track != nil) != isOn
      else { continue }
      let track = MediaStreamTrack(kind, id: VonageStream.track(kind, of: stream))
      try? connection.replaceTrack(isOn ? track : nil, of: sender)
    }
    guard wasConnected || !Defect.muteCompletesLate.isPlanted else { return }
    if let sender = publisher.senders[.audio] { connection.setTrackEnabled(publishes.audio, of: sender) }
  }

  /// What a planted defect does: it applies a mute in a completion handler, after media may leave.
  func completeMute() {
    environment.clock.schedule(after: .milliseconds(50)) { [weak self] in
      for publisher in self?.publishers ?? [] { self?.apply(to: publisher) }
    }
  }

  /// Sets the properties `publishAudio` and `publishVideo` of all publishers.
  func setPublishes(audio: Bool? = nil, video: Bool? = nil) {
    publishes = (audio ?? publishes.audio, video ?? publishes.video)
    for publisher in publishers {
      apply(to: publisher)
      update(publisher)
    }
    show()
  }

  /// Tells the server what a publisher sends. A stream that it has given no id yet is told of once it has one.
  private func update(_ publisher: VonagePublisher) {
    guard let stream = publisher.stream, session.isHeard else { return }
    publisher.told = (publishes.audio, hasVideo(publisher))
    session.send(
      "update",
      [
        ("stream", .string(stream)), ("hasAudio", .bool(publisher.told.audio)),
        ("hasVideo", .bool(publisher.told.video)),
      ])
  }

  func unpublish(_ name: String) throws(ActionError) {
    guard let publisher = publishers.first(where: { $0.name == name }) else {
      session.raise("1113")
      throw ActionError("there is no such publisher")
    }
    remove(publisher)
    if let stream = publisher.stream { session.send("unpublish", [("stream", .string(stream))]) }
  }

  /// Detaches a publisher.
  func remove(_ publisher: VonagePublisher) {
    publisher.timer?.cancel()
    publishers.removeAll { $0 === publisher }
    stopSending(publisher)
    if publisher.isAnnounced { callbacks.call("publisherStreamDestroyed", user: environment.userID) }
    closeIfIdle()
    show()
  }

  func stopSending(_ publisher: VonagePublisher) {
    guard let connection, !publisher.senders.isEmpty else { return }
    for kind in MediaKind.allCases { if let sender = publisher.senders[kind] { try? connection.stop(sender) } }
    publisher.senders = [:]
    if !(publishers.isEmpty && subscribers.isEmpty) { offer() }
  }

  /// A publisher fails, and is detached.
  func publisherFailed(_ stream: String, _ code: String, local id: String? = nil) {
    guard let publisher = publishers.first(where: { $0.stream == stream || $0.id == id }) else { return }
    if let stream = publisher.stream { session.send("unpublish", [("stream", .string(stream))]) }
    session.raise(code)
    callbacks.call("publisherDidFailWithError", error: code, user: environment.userID)
    remove(publisher)
  }

  /// The server tells of a stream of this client.
  func ownStream(_ stream: VonageStream, _ event: String) {
    guard let publisher = publishers.first(where: { $0.stream == stream.id }) else { return }
    switch event {
    case "created" where !publisher.isAnnounced:
      publisher.isAnnounced = true
      callbacks.call("publisherStreamCreated", user: environment.userID)
    case "destroyed": remove(publisher)
    default: break
    }
    show()
  }

  /// A moderator mutes this client.
  func forceMuted(_ message: MessageContent) {
    callbacks.call("sessionMuteForced", user: message["by"]?.string)
    setPublishes(audio: false)
  }

  // MARK: What a relayed session's other client wants

  func wanted(_ message: MessageContent) {
    guard session.isRelayed, let publisher = publishers.first(where: { $0.stream == message["stream"]?.string }) else {
      return
    }
    begin(message["number"]?.integer.flatMap { (0...Self.numberLimit).contains($0) ? $0 : nil } ?? 0)
    publisher.isWanted = (message["audio"]?.flag ?? true, message["video"]?.flag ?? true)
    send(publisher)
    apply(to: publisher)
  }

  func unwanted(_ message: MessageContent) {
    guard session.isRelayed, let publisher = publishers.first(where: { $0.stream == message["stream"]?.string }) else {
      return
    }
    stopSending(publisher)
  }
}
