internal import CallCore
public import VirtualPeer
internal import Vocabulary

/// One session of the app, from connect to its end: the messaging connection, who is there, and signals.
public final class VonageSession {
  enum State: String { case notConnected, connecting, connected, reconnecting, disconnecting, failed }

  let environment: PeerEnvironment
  let callbacks: VonageCallbacks
  let settings: VonageSettings
  private weak var sdk: VonageSDK?
  /// Who is told what happens.
  public weak var delegate: (any VonageSessionDelegate)?
  /// The id of the session at the server.
  public let id: String
  /// The number among the sessions of the app.
  private let number: Int
  private let token: String
  private var link: VonageLink?
  private var linkCount = 0
  /// What identifies this client to the server when it comes back.
  private var secret: String?
  private(set) var own: VonageConnection?
  private(set) var role = VonageRole.subscriber
  private(set) var isRelayed = false
  private(set) var connections: [VonageConnection] = []
  /// The streams of other clients.
  public private(set) var streams: [VonageStream] = []
  private(set) var media: VonageMedia!
  private var stateTimer: PeerTimer?
  private var retryTimer: PeerTimer?
  private var isOver = false
  /// Called with the session's id when it is connected.
  var onConnected: ((String) -> Void)?
  /// Called with the session's id when it is over, and whether a moderator or its idleness has ended it.
  var onEnd: ((String, Bool) -> Void)?
  /// What came before `connected` or `resumed`.
  private var earlyMessages = EarlyMessages()
  /// The signals that the server has not confirmed, by their numbers.
  private var unconfirmed: [(number: Int64, signal: VonageSignal)] = []
  private var signalCount: Int64 = 0
  /// The number up to which all signals of others came, and the numbers of those that came after a gap.
  private var lastSignal: Int64 = 0
  private var early: Set<Int64> = []
  /// The number of the last time that a moderator muted this client.
  private var lastMute: Int64 = 0

  /// The time for the session's state once the socket is open, for a lost connection to come back, and between two
  /// attempts: harness defaults.
  private static let (stateTimeout, window, retry) = (Interval.seconds(10), Interval.seconds(60), Interval.seconds(1))

  var trace: PeerTrace { environment.trace }
  var state: State { trace.state(of: "session.state").flatMap(State.init) ?? .notConnected }
  /// Whether the server hears what is said now: in the session, or after the request to resume it.
  var isHeard: Bool { state == .connected || (state == .reconnecting && link?.isOpen == true) }
  /// Whether the session has a messaging connection, or hopes for it.
  var isLive: Bool { !isOver }

  init(_ id: String, _ sdk: VonageSDK, number: Int) {
    self.id = id
    self.sdk = sdk
    environment = sdk.environment
    settings = sdk.settings
    callbacks = sdk.callbacks
    self.number = number
    token = VonageToken.text(
      settings.token, user: environment.userID, session: id, role: settings.role,
      at: environment.clock.unixSeconds())
    media = VonageMedia(self)
  }

  /// Whether the session's id and the token are there at all.
  var hasParameters: Bool { !id.isEmpty && !token.isEmpty }

  // MARK: Connect

  /// Connects, once.
  public func connect() {
    guard linkCount == 0, !isOver else { return }
    sdk?.connects(self)
    trace.set(PeerEvents.accepted.name, true)
    trace.enter("session.state", State.connecting.rawValue, on: "connect")
    openLink()
  }

  private func openLink() {
    retryTimer?.cancel()
    linkCount += 1
    let link = VonageLink(environment, number: number * 1_000 + linkCount)
    self.link = link
    link.onOpen = { [weak self] in self?.linkOpened() }
    link.onMessage = { [weak self] in self?.received($0) }
    link.onEnd = { [weak self, weak link] in if let link { self?.linkEnded(link, $0) } }
    link.onKeepalive = { [weak self] in
      guard let self else { return }
      send("keepalive", [("received", .integer(lastSignal))])
      media.repeatOffer()
    }
  }

  private func linkOpened() {
    if let secret {
      send(
        "resume",
        [
          ("secret", .string(secret)), ("received", .integer(lastSignal)), ("muted", .integer(lastMute)),
          ("streams", media.publishedStreams), ("subscriptions", media.subscriptions),
        ])
    } else {
      send("connect", [("session", .string(id)), ("token", .string(token))])
    }
    if !Defect.entryTimerForgotten.isPlanted { startStateTimer() }
  }

  private func startStateTimer() {
    stateTimer = environment.clock.schedule(after: Self.stateTimeout) { [weak self] in
      guard let self else { return }
      if state == .connecting { fail("1020") } else if state == .reconnecting { link?.drop() }
    }
  }

  private func linkEnded(_ ended: VonageLink, _ progress: VonageLink.Progress) {
    guard ended === link else { return }
    link = nil
    earlyMessages = EarlyMessages()
    stateTimer?.cancel()
    if state == .connecting {
      return switch progress {
      case .noRoute: fail("1006")
      case .unopened: fail("1023")
      case .connected: fail("1021")
      case .open: fail("1006")
      }
    }
    if state == .connected { beginReconnecting(since: ended.lastReceived) }
    guard !isOver else { return }
    retryTimer = environment.clock.schedule(after: Self.retry) { [weak self] in self?.openLink() }
  }

  func networkChanged() {
    guard !isOver else { return }
    if let link, !link.isLocalAddressAlive {
      link.drop()
    } else if link == nil, state == .reconnecting {
      openLink()
    }
  }

  // MARK: Media

  /// Publishes the device's sound and pictures as one stream.
  ///
  /// - Throws: if the session is not connected, which raises `publisher.1010`, or it may not be.
  public func publish(_ name: String = "main") throws(ActionError) { try media.publish(name) }

  /// Gives a publisher up.
  ///
  /// - Throws: if there is none of that name, which raises 1113.
  public func unpublish(_ name: String = "main") throws(ActionError) { try media.unpublish(name) }

  /// Subscribes to a stream of another client.
  ///
  /// - Throws: if the session is not connected, which raises `subscriber.1010`, or it is subscribed to.
  public func subscribe(to stream: VonageStream) throws(ActionError) { try media.subscribe(to: stream.id) }

  func send(_ type: String, _ fields: [(String, JSON?)] = []) { link?.send(type, fields) }

  // MARK: Reconnecting

  private func beginReconnecting(since lastReceived: Instant) {
    // Signals that are not to be sent later end here.
    unconfirmed.removeAll { !$0.signal.retriesAfterReconnect }
    let left = Self.window - (environment.clock.now - lastReceived)
    // A suspension that was longer than the server's patience: nobody knows this client any more.
    guard left > .zero else { return lose() }
    trace.enter("session.state", State.reconnecting.rawValue, on: "connection lost")
    callbacks.call("sessionDidBeginReconnecting") { self.delegate?.sessionDidBeginReconnecting(self) }
    media.disconnected()
    windowTimer = environment.clock.schedule(after: Self.window) { [weak self] in self?.lose() }
  }

  private var windowTimer: PeerTimer? { didSet { oldValue?.cancel() } }

  private func resumed(_ message: MessageContent) {
    // Without the lists the app would hear others and show nobody.
    guard let others = Self.list(message["connections"], VonageConnection.init),
      let now = Self.list(message["streams"], VonageStream.init)
    else { return lose("2000", on: "a state that cannot be read") }
    stateTimer?.cancel()
    windowTimer = nil
    trace.enter("session.state", State.connected.rawValue, on: "connection back")
    callbacks.call("sessionDidReconnect") { self.delegate?.sessionDidReconnect(self) }
    let wereStreams = streams
    take(connections: others)
    take(streams: now, before: wereStreams)
    media.resumed()
    takeEarly()
    for (number, signal) in unconfirmed { send(signal, number) }
  }

  /// Reads a list; nil if anything of it cannot be read.
  private static func list<Element>(_ json: JSON?, _ read: (JSON) -> Element?) -> [Element]? {
    guard let items = json?.array else { return nil }
    let elements = items.compactMap(read)
    return elements.count == items.count ? elements : nil
  }

  private func take(connections now: [VonageConnection]) {
    for gone in connections where !now.contains(gone) { removed(gone) }
    for new in now where !connections.contains(new) { added(new) }
  }

  private func take(streams now: [VonageStream], before: [VonageStream]) {
    for gone in streams where !now.contains(where: { $0.id == gone.id }) { removed(gone) }
    for stream in now {
      guard stream.connection != own else {
        media.ownStream(stream, "created")
        continue
      }
      if before.contains(where: { $0.id == stream.id }) { changed(stream) } else { added(stream) }
    }
  }

  // MARK: Receiving

  private func takeEarly() {
    for message in earlyMessages.take() where state == .connected { received(message) }
  }

  private func received(_ message: MessageContent) {
    switch (message.type, state) {
    case ("connected", .connecting): connected(message)
    case ("resumed", .reconnecting): resumed(message)
    case ("error", _): failed(message)
    case ("disconnected", .connected), ("disconnected", .reconnecting):
      let reason = message["reason"]?.string ?? ""
      end(["forceDisconnected", "mediaIdle"].contains(reason) ? reason : "other")
    default: receivedInSession(message)
    }
  }

  /// Takes what the server says of a session that the client is in, and keeps it while the client is not in it yet.
  private func receivedInSession(_ message: MessageContent) {
    switch (action(on: message.type), state) {
    case (let act?, .connected): act(message)
    case (_?, .connecting) where earlyMessages.keep(message), (_?, .reconnecting) where earlyMessages.keep(message):
      trace.backlog("messages", earlyMessages.count)
    default: trace.event(PeerEvents.messageRejected.name, "reason", "unexpected \(message.type)")
    }
  }

  private func action(on type: String) -> ((MessageContent) -> Void)? {
    switch type {
    case "connection": presence
    case "stream": streamEvent
    case "signal": signalled
    case "signalConfirmed": confirmed
    case "muted": muted
    case "published": media.published
    case "subscribe": media.wanted
    case "unsubscribe": media.unwanted
    case "media": media.received
    case "videoQuality": media.qualityChanged
    default: nil
    }
  }

  private func connected(_ message: MessageContent) {
    guard let own = message["connection"].flatMap(VonageConnection.init), let secret = message["secret"]?.string,
      let role = message["role"]?.string.flatMap(VonageRole.init),
      let mode = message["mode"]?.string.flatMap(VonageMode.init),
      let others = Self.list(message["connections"], VonageConnection.init),
      let streams = Self.list(message["streams"], VonageStream.init)
    else { return fail("2000") }
    stateTimer?.cancel()
    (self.own, self.secret, self.role, isRelayed) = (own, secret, role, mode == .relayed)
    trace.enter("session.state", State.connected.rawValue, on: "accepted")
    trace.set("session.mode", mode.rawValue)
    onConnected?(id)
    callbacks.call("sessionDidConnect") { self.delegate?.sessionDidConnect(self) }
    take(connections: others)
    take(streams: streams, before: [])
    takeEarly()
  }

  /// An error ends a session, or it is about a publisher, a subscriber or a request.
  private func failed(_ message: MessageContent) {
    let code = message["code"]?.integer.map { "\($0)" } ?? "other"
    switch (message["domain"]?.string, state) {
    case ("publisher", .connected): media.publisherFailed(message["stream"]?.string ?? "", "publisher.\(code)")
    case ("subscriber", .connected): media.subscriberFailed(message["stream"]?.string ?? "", "subscriber.\(code)")
    case ("request", .connected): raise(code)
    // It is about what this client has asked for while it came back.
    case ("publisher", .reconnecting) where earlyMessages.keep(message),
      ("subscriber", .reconnecting) where earlyMessages.keep(message):
      trace.backlog("messages", earlyMessages.count)
    case (_, .connecting): fail(VonageCode.end(code))
    case ("session", .reconnecting): lose()
    default: trace.event(PeerEvents.messageRejected.name, "reason", "an error that nobody waits for")
    }
  }

  /// Raises a declared code; another one is not known.
  func raise(_ code: String) {
    if VonageCode.errorCodes.contains(where: { $0.name == code }) { trace.raise(code) }
  }

  // MARK: Presence

  private func presence(_ message: MessageContent) {
    guard let connection = message["connection"].flatMap(VonageConnection.init), connection != own else { return }
    let isKnown = connections.contains(connection)
    switch message["event"]?.string {
    case "created" where !isKnown: added(connection)
    case "destroyed" where isKnown: removed(connection)
    default: break
    }
  }

  private func added(_ connection: VonageConnection) {
    connections.append(connection)
    callbacks.call("sessionConnectionCreated", user: connection.user)
    showPresence()
  }

  private func removed(_ connection: VonageConnection) {
    for stream in streams where stream.connection == connection { removed(stream) }
    connections.removeAll { $0 == connection }
    media.otherGone()
    callbacks.call("sessionConnectionDestroyed", user: connection.user)
    showPresence()
  }

  private func streamEvent(_ message: MessageContent) {
    guard let stream = message["stream"].flatMap(VonageStream.init) else { return }
    guard stream.connection != own else { return media.ownStream(stream, message["event"]?.string ?? "") }
    let isKnown = streams.contains { $0.id == stream.id }
    switch message["event"]?.string {
    case "created" where !isKnown: added(stream)
    case "destroyed" where isKnown: removed(stream)
    case "changed" where isKnown: changed(stream)
    default: break
    }
  }

  private func added(_ stream: VonageStream) {
    streams.append(stream)
    callbacks.call("sessionStreamCreated", user: stream.user) {
      self.delegate?.session(self, streamCreated: stream)
    }
    showPresence()
  }

  private func removed(_ stream: VonageStream) {
    streams.removeAll { $0.id == stream.id }
    destroyed(stream)
    media.streamGone(stream.id)
    showPresence()
  }

  private func destroyed(_ stream: VonageStream) {
    callbacks.call("sessionStreamDestroyed", user: stream.user) {
      self.delegate?.session(self, streamDestroyed: stream)
    }
  }

  private func changed(_ stream: VonageStream) {
    guard let index = streams.firstIndex(where: { $0.id == stream.id }) else { return }
    let before = streams[index]
    streams[index] = stream
    if before.hasVideo != stream.hasVideo { media.videoChanged(of: stream) }
    showPresence()
  }

  private func showPresence() {
    trace.set("connections", users: connections.map(\.user))
    trace.set("streams", users: streams.map(\.connection.user))
    trace.set("streams.audio", users: streams.filter(\.hasAudio).map(\.connection.user))
    trace.set("streams.video", users: streams.filter(\.hasVideo).map(\.connection.user))
  }

  // MARK: Signals

  /// Sends a signal, or keeps it for after the reconnection.
  func signal(_ signal: VonageSignal) throws(ActionError) {
    guard [.connected, .reconnecting].contains(state) else {
      raise("1010")
      throw ActionError("the session is not connected")
    }
    if let code = signal.problem {
      raise(code)
      throw ActionError(code == "1413" ? "more than 8 KB of data" : "the type is invalid")
    }
    guard state == .connected || signal.retriesAfterReconnect else { return }
    signalCount += 1
    unconfirmed.append((signalCount, signal))
    if state == .connected { send(signal, signalCount) }
  }

  private func send(_ signal: VonageSignal, _ number: Int64) {
    send(
      "signal",
      [
        ("number", .integer(number)), ("name", .string(signal.type)), ("data", .string(signal.data)),
        ("to", signal.to.map(JSON.string)),
      ])
  }

  private func signalled(_ message: MessageContent) {
    guard let number = message["number"]?.integer, number > lastSignal,
      number - lastSignal <= Int64(VonageClient.signalLimit), let type = message["name"]?.string,
      let data = message["data"]?.string, early.insert(number).inserted
    else { return }
    while early.remove(lastSignal + 1) != nil { lastSignal += 1 }
    callbacks.call(
      "sessionReceivedSignal", user: message["from"]?.string, signal: VonageSignal(type: type, data: data))
  }

  private func confirmed(_ message: MessageContent) {
    unconfirmed.removeAll { $0.number == message["number"]?.integer }
    if let code = message["code"]?.integer { raise("\(code)") }
  }

  // MARK: Moderation

  private func muted(_ message: MessageContent) {
    if let number = message["number"]?.integer {
      // A repeated one was heard before.
      guard number > lastMute else { return }
      lastMute = number
    }
    media.forceMuted(message)
  }

  /// Asks the server to disconnect or to mute another user.
  func moderate(_ request: String, _ user: String) throws(ActionError) {
    guard state == .connected else {
      raise("1010")
      throw ActionError("the session is not connected")
    }
    guard role == .moderator else {
      raise(request == "disconnect" ? "1520" : "1540")
      throw ActionError("the token does not permit that")
    }
    // An app that has crashed and is back has a connection of its former process for a while.
    guard let target = connections.last(where: { $0.user == user }) else { throw ActionError("not in the session") }
    send("moderate", [("request", .string(request)), ("connection", .string(target.id))])
  }

  // MARK: The end

  /// Leaves the session.
  public func disconnect() { end("disconnected") }

  /// Ends a session that never was connected.
  private func fail(_ code: String) {
    finish(code) {
      trace.enter("session.state", State.failed.rawValue, on: "refusal or timeout")
      failed(with: code)
    }
  }

  /// Ends a session whose connection did not come back, or came back with nothing that can be read.
  private func lose(_ code: String = "1022", on reason: String = "connection lost for good") {
    finish(code) {
      trace.enter("session.state", State.notConnected.rawValue, on: reason)
      failed(with: code)
      disconnected()
    }
  }

  private func failed(with code: String) {
    callbacks.call("sessionDidFailWithError", error: code) {
      self.delegate?.session(self, didFailWithError: VonageError(code: code))
    }
  }

  private func disconnected() {
    callbacks.call("sessionDidDisconnect") { self.delegate?.sessionDidDisconnect(self) }
  }

  private func end(_ code: String) {
    let wasConnected = [.connected, .reconnecting].contains(state)
    finish(code) {
      if wasConnected {
        trace.enter("session.state", State.disconnecting.rawValue, on: "disconnect, or the server")
      }
      trace.enter("session.state", State.notConnected.rawValue, on: "disconnected")
      if wasConnected { disconnected() }
    }
  }

  private func finish(_ code: String, _ say: () -> Void) {
    guard !isOver else { return }
    isOver = true
    say()
    if !Defect.lossTimerLeaks.isPlanted { windowTimer = nil }
    for timer in [stateTimer, retryTimer] { timer?.cancel() }
    // A server that has not ended the session itself may have let this client in.
    if ["disconnected", "1020", "2000"].contains(code), link?.isOpen == true { send("disconnect") }
    link?.close()
    link = nil
    for stream in streams where media.isSubscribed(to: stream.id) {
      destroyed(stream)
    }
    (connections, streams, unconfirmed) = ([], [], [])
    media.end()
    showPresence()
    trace.set("session.mode", "none")
    trace.set(PeerEvents.accepted.name, false)
    trace.end(code)
    onEnd?(id, ["forceDisconnected", "mediaIdle"].contains(code))
  }
}
