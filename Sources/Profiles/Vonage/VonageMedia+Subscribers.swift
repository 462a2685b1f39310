internal import CallCore
internal import PeerSession
internal import SDP
internal import Statistics
internal import VirtualPeer
internal import Vocabulary

/// The subscribers of a session.
extension VonageMedia {
  /// Subscribes to a stream that the app has no subscriber for; what it is depends on whether it may make a view.
  func subscribeIfNew(to stream: String) {
    if !subscribers.contains(where: { $0.stream == stream }) { try? subscribe(to: stream) }
  }

  func subscribe(to stream: String) throws(ActionError) {
    guard session.state == .connected else {
      session.raise("subscriber.1010")
      throw ActionError("the session is not connected")
    }
    guard !subscribers.contains(where: { $0.stream == stream }) else { throw ActionError("subscribed already") }
    let known = session.streams.first { $0.id == stream }
    let subscriber = VonageSubscriber(stream: stream, user: known?.connection.user ?? environment.userID)
    subscriber.mayHaveView = mayMakeViews
    if known?.hasVideo == false { subscriber.withoutVideo.insert(.publisher) }
    if !receives.video { subscriber.withoutVideo.insert(.subscriber) }
    subscribers.append(subscriber)
    limit(subscriber)
    let isNew = receiveAudio(on: open())
    session.send("subscribe", subscription(subscriber))
    // The router answers an offer of the client, and then makes one with the tracks of others.
    if isNew, !session.isRelayed { offer() }
    watch()
    show()
  }

  /// Begins the time for a subscriber to be connected.
  func limit(_ subscriber: VonageSubscriber) {
    subscriber.timer = environment.clock.schedule(after: Self.subscribeTimeout) { [weak self, weak subscriber] in
      if let self, let subscriber, subscriber.state == .connecting {
        subscriberFailed(subscriber.stream, "subscriber.1542")
      }
    }
  }

  /// Lets a connection play what it receives, also where this client sends nothing.
  ///
  /// - Returns: whether that needed a section of its own.
  @discardableResult
  func receiveAudio(on negotiator: Negotiator) -> Bool {
    guard !negotiator.connection.transceivers.contains(where: { $0.kind == .audio }) else { return false }
    _ = try? negotiator.connection.addTransceiver(.audio, TransceiverInit(direction: .recvonly))
    return true
  }

  func subscription(_ subscriber: VonageSubscriber) -> [(String, JSON?)] {
    [
      ("stream", .string(subscriber.stream)), ("audio", .bool(receives.audio)),
      ("video", .bool(receives.video && subscriber.mayHaveView)), ("number", .integer(number)),
    ]
  }

  /// Sets the properties `subscribeToAudio` and `subscribeToVideo` of all subscribers.
  func setReceives(audio: Bool? = nil, video: Bool? = nil) {
    receives = (audio ?? receives.audio, video ?? receives.video)
    for subscriber in subscribers {
      if let video { set(.subscriber, isOff: !video, of: subscriber) }
      if session.isHeard { session.send("subscribe", subscription(subscriber)) }
    }
    show()
  }

  func unsubscribe(from user: String) throws(ActionError) {
    let gone = subscribers.filter { $0.user == user }
    guard !gone.isEmpty else {
      session.raise("1112")
      throw ActionError("there is no such subscriber")
    }
    for subscriber in gone {
      session.send("unsubscribe", [("stream", .string(subscriber.stream))])
      remove(subscriber)
    }
  }

  func remove(_ subscriber: VonageSubscriber) {
    subscriber.timer?.cancel()
    subscribers.removeAll { $0 === subscriber }
    closeIfIdle()
    show()
  }

  func isSubscribed(to stream: String) -> Bool { subscribers.contains { $0.stream == stream } }

  /// A stream is gone, and its subscriber with it.
  func streamGone(_ stream: String) {
    if let subscriber = subscribers.first(where: { $0.stream == stream }) { remove(subscriber) }
  }

  func subscriberFailed(_ stream: String, _ code: String) {
    guard let subscriber = subscribers.first(where: { $0.stream == stream }) else { return }
    session.send("unsubscribe", [("stream", .string(stream))])
    session.raise(code)
    callbacks.call("subscriberDidFailWithError", error: code, user: subscriber.user)
    remove(subscriber)
  }

  /// Notes that nothing comes in: the subscribers that were connected are not any more.
  func lose() {
    for subscriber in subscribers where subscriber.state == .connected {
      subscriber.state = .disconnected
      subscriber.baseline = packets(of: subscriber)
      callbacks.call("subscriberDidDisconnectFromStream", user: subscriber.user)
    }
    watch()
    show()
  }

  // MARK: Arrival

  /// Looks every now and then whether media of those arrive who are not connected.
  func watch() {
    poll?.cancel()
    guard !isOver, subscribers.contains(where: { $0.state != .connected }) else { return }
    poll = environment.clock.schedule(after: Self.pollTime) { [weak self] in
      self?.look()
      self?.watch()
    }
  }

  func look() {
    guard session.state == .connected, let connection, connection.connectionState == .connected else { return }
    for subscriber in subscribers where subscriber.state != .connected {
      let count = packets(of: subscriber)
      if isSilent(subscriber) ? isNegotiated(subscriber) : count > subscriber.baseline { connected(subscriber) }
    }
  }

  /// Whether nothing of a stream is to come, so that nothing can show that it is there.
  func isSilent(_ subscriber: VonageSubscriber) -> Bool {
    !receives.audio && (!subscriber.mayHaveView || !subscriber.withoutVideo.isEmpty)
  }

  func isNegotiated(_ subscriber: VonageSubscriber) -> Bool {
    connection?.transceivers.contains {
      $0.currentDirection?.receives == true && VonageStream.stream(ofTrack: $0.receiver.track.id) == subscriber.stream
    } ?? false
  }

  /// The packets that came of a stream on the present connection.
  func packets(of subscriber: VonageSubscriber) -> Int64 {
    var count: Int64 = 0
    for entry in connection?.statistics().entries ?? [] where entry.type == "inbound-rtp" {
      guard case .text(let track)? = entry["trackIdentifier"], VonageStream.stream(ofTrack: track) == subscriber.stream,
        case .integer(let packets)? = entry["packetsReceived"]
      else { continue }
      count += packets
    }
    return count
  }

  func connected(_ subscriber: VonageSubscriber) {
    let isFirst = subscriber.state == .connecting
    subscriber.state = .connected
    subscriber.timer?.cancel()
    makeView(of: subscriber)
    callbacks.call(
      isFirst ? "subscriberDidConnectToStream" : "subscriberDidReconnectToStream", user: subscriber.user)
    show()
  }

  // MARK: Views and video

  /// Makes the view of a subscriber, which the system permits in the foreground alone.
  func makeView(of subscriber: VonageSubscriber) {
    guard environment.device.settings.hasVideo, mayMakeViews, subscriber.mayHaveView, !subscriber.hasView else {
      return
    }
    subscriber.hasView = true
    environment.device.madeView(for: subscriber.user)
  }

  private var mayMakeViews: Bool { isInForeground || settings.makesViewsInBackground }

  /// The app came to the foreground, or left it.
  func setForeground(_ isInForeground: Bool) {
    self.isInForeground = isInForeground
    guard isInForeground else { return }
    for subscriber in subscribers {
      if !subscriber.mayHaveView {
        subscriber.mayHaveView = true
        if session.isHeard { session.send("subscribe", subscription(subscriber)) }
      }
      if subscriber.state != .connecting { makeView(of: subscriber) }
    }
    show()
  }

  /// A publisher has begun or ceased to send video.
  func videoChanged(of stream: VonageStream) {
    guard let subscriber = subscribers.first(where: { $0.stream == stream.id }) else { return }
    set(.publisher, isOff: !stream.hasVideo, of: subscriber)
  }

  /// The router measures what a stream suffers on its way to this client.
  func qualityChanged(_ message: MessageContent) {
    guard let subscriber = subscribers.first(where: { $0.stream == message["stream"]?.string }) else { return }
    switch message["event"]?.string {
    case "disabled":
      subscriber.isWarned = false
      set(.quality, isOff: true, of: subscriber)
    case "enabled", "lifted":
      warn(subscriber, false)
      set(.quality, isOff: false, of: subscriber)
    case "warning":
      set(.quality, isOff: false, of: subscriber)
      warn(subscriber, true)
    default: break
    }
  }

  private func warn(_ subscriber: VonageSubscriber, _ isWarned: Bool) {
    guard subscriber.isWarned != isWarned else { return }
    subscriber.isWarned = isWarned
    let name = isWarned ? "subscriberVideoDisableWarning" : "subscriberVideoDisableWarningLifted"
    callbacks.call(name, user: subscriber.user)
  }

  func set(_ reason: VideoReason, isOff: Bool, of subscriber: VonageSubscriber) {
    guard environment.device.settings.hasVideo, isOff != subscriber.withoutVideo.contains(reason) else { return }
    let wasOff = !subscriber.withoutVideo.isEmpty
    if isOff { subscriber.withoutVideo.insert(reason) } else { subscriber.withoutVideo.remove(reason) }
    // Video that is off already, or stays off for another reason, is no news.
    if wasOff == subscriber.withoutVideo.isEmpty {
      callbacks.call(
        isOff ? "subscriberVideoDisabled" : "subscriberVideoEnabled", user: subscriber.user, reason: reason)
    }
    show()
  }
}
