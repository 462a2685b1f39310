internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// The media of a session: the publishers and subscribers of the app, and the peer connection that carries them.
///
/// The connection leads to the media router, or in a relayed session to the other client. It is made with the first
/// publisher or subscriber and closed with the last.
final class VonageMedia {
  unowned let session: VonageSession
  let environment: PeerEnvironment
  let callbacks: VonageCallbacks
  var negotiator: Negotiator?
  /// The number of the connection: both ends count them alike.
  var number: Int64 = 0
  var publishers: [VonagePublisher] = []
  var publisherCount = 0
  var subscribers: [VonageSubscriber] = []
  /// What the app's user wants of all publishers and of all subscribers.
  var publishes = (audio: true, video: true)
  var receives = (audio: true, video: true)
  /// Whether the app may make views.
  var isInForeground = true
  var wasConnected = false
  /// The end of the time for media that were lost to come back.
  var lossTimer: PeerTimer? { didSet { oldValue?.cancel() } }
  var poll: PeerTimer?
  var isOver = false

  /// The time for a publisher and for a subscriber to be connected, and for lost media to come back: harness defaults.
  static let (publishTimeout, subscribeTimeout, lossLimit) = (
    Interval.seconds(30), Interval.seconds(15), Interval.seconds(60)
  )
  static let numberLimit: Int64 = 1_000_000
  static let pollTime = Interval.milliseconds(100)

  var trace: PeerTrace { environment.trace }
  var connection: (any PeerConnection)? { negotiator?.connection }
  var settings: VonageSettings { session.settings }

  init(_ session: VonageSession) {
    self.session = session
    environment = session.environment
    callbacks = session.callbacks
    show()
  }

  // MARK: The connection

  /// Makes the connection, if there is none.
  func open() -> Negotiator {
    if let negotiator { return negotiator }
    number += 1
    // With CallKit the audio session is the system's.
    if !settings.usesCallKit {
      environment.device.configureAudioSession(category: .playAndRecord, mode: .videoChat, options: [])
      environment.device.setAudioSessionActive(true)
    }
    let negotiator = Negotiator(environment.connections.make(), yields: !session.isRelayed)
    self.negotiator = negotiator
    wasConnected = false
    negotiator.changed = { [weak self] in self?.changed($0) }
    negotiator.happened = { [weak self] in self?.happened($0) }
    negotiator.keeps = { [trace] in trace.backlog("candidates", $0) }
    return negotiator
  }

  /// Closes the connection when nothing is left to carry.
  func closeIfIdle() {
    guard publishers.isEmpty, subscribers.isEmpty else { return }
    if !wasConnected, Defect.captureOutlivesSetup.isPlanted { closeLate() } else { negotiator?.connection.close() }
    negotiator = nil
    lossTimer = nil
    poll?.cancel()
    if !settings.usesCallKit { environment.device.setAudioSessionActive(false) }
  }

  /// What a planted defect does: it closes a connection, and with it the microphone, a second late.
  private func closeLate() {
    environment.clock.schedule(after: .seconds(1)) { [connection] in connection?.close() }
  }

  /// Offers what is published and subscribed.
  func offer() {
    guard let negotiator else { return }
    do throws(SessionError) {
      try negotiator.offer()
    } catch {
      broken(error)
    }
  }

  /// A description of this side or of the other is unusable.
  func broken(_ error: SessionError) {
    trace.event("sdp-rejected", "reason", "\(error)")
    failAll()
  }

  func failAll() {
    failPublishers()
    for subscriber in subscribers { subscriberFailed(subscriber.stream, "subscriber.1600") }
  }

  func changed(_ part: Negotiator.Part) {
    if let negotiator { say(negotiator.fields(of: part)) }
  }

  private func say(_ fields: [(String, JSON?)]) {
    if session.state == .connected { session.send("media", [("number", .integer(number))] + fields) }
  }

  /// Says an offer again that was not answered from one keepalive to the next.
  func repeatOffer() {
    guard let negotiator else { return }
    guard session.state == .connected else { return negotiator.forgetLook() }
    if let offer = negotiator.overdueOffer() { say([("description", offer), ("ice", negotiator.ice)]) }
  }

  func received(_ message: MessageContent) {
    guard let number = message["number"]?.integer, number <= Self.numberLimit else { return }
    guard !(subscribers.isEmpty && publishers.isEmpty), session.isRelayed || number == self.number else { return }
    begin(number)
    // Another number is that of a connection which is over.
    guard let negotiator, number == self.number else { return }
    // Of two clients that offer to each other, the one whose connection has the greater id yields. To a router all do.
    if session.isRelayed, let other = message["from"]?.string { negotiator.yields = (session.own?.id ?? "") > other }
    if let ice = message["ice"] { negotiator.receive(ice: ice) }
    guard let description = message["description"] else { return }
    do throws(SessionError) {
      try negotiator.receive(description)
    } catch {
      broken(error)
    }
  }

  /// Begins anew where the other client of a relayed session has.
  func begin(_ number: Int64) {
    guard number > self.number else { return }
    negotiator?.connection.close()
    negotiator = nil
    self.number = number - 1
    _ = open()
    for publisher in publishers where !publisher.senders.isEmpty {
      publisher.senders = [:]
      send(publisher)
    }
    if !subscribers.isEmpty { receiveAudio(on: open()) }
  }

  /// The other client of a relayed session is gone, and the connection to it is of no use.
  func otherGone() {
    guard session.isRelayed else { return }
    negotiator?.connection.close()
    negotiator = nil
    lossTimer = nil
    for publisher in publishers { (publisher.senders, publisher.isWanted) = ([:], (audio: true, video: true)) }
    closeIfIdle()
  }

  func happened(_ event: SessionEvent) {
    guard !isOver else { return }
    switch event {
    case .dtlsFailed: failAll()
    case .connectionStateChange(.connected):
      wasConnected = true
      lossTimer = nil
      if Defect.muteCompletesLate.isPlanted { completeMute() }
    case .connectionStateChange(.disconnected): mediaLost()
    case .connectionStateChange(.failed):
      // The subscribers of a connection that never was there have a time of their own. Without the messaging connection
      // nothing could be done about it; once that is back, ICE is restarted.
      if wasConnected || session.state == .reconnecting { mediaLost() } else { failPublishers() }
      if negotiator != nil, wasConnected, session.state == .connected { restartICE() }
    default: break
    }
  }

  func failPublishers() {
    for publisher in publishers { publisherFailed(publisher.stream ?? "", "publisher.1610", local: publisher.id) }
  }

  func mediaLost() {
    lose()
    if lossTimer == nil {
      lossTimer = environment.clock.schedule(after: Self.lossLimit) { [weak self] in
        if let self, connection?.connectionState != .connected { failAll() }
      }
    }
  }

  func restartICE() {
    guard let negotiator else { return }
    do throws(SessionError) {
      try negotiator.restartICE()
    } catch {
      broken(error)
    }
  }

  // MARK: The session

  /// The messaging connection is lost. What waits for the server has time again once that is back.
  func disconnected() {
    for publisher in publishers where !publisher.isAnnounced { publisher.timer?.cancel() }
    for subscriber in subscribers where subscriber.state == .connecting { subscriber.timer?.cancel() }
    lose()
  }

  /// The messaging connection is back: both ends gather anew, for the network may be another one.
  func resumed() {
    for publisher in publishers where !publisher.isAnnounced {
      if publisher.stream == nil { request(publisher) } else { limit(publisher) }
    }
    for subscriber in subscribers where subscriber.state == .connecting { limit(subscriber) }
    guard let negotiator else { return }
    if let description = negotiator.description { say([("description", description), ("ice", negotiator.ice)]) }
    // Before anything is sent or received on it there is nothing to gather anew.
    if !negotiator.connection.transceivers.isEmpty { restartICE() }
    watch()
  }

  /// What this client publishes, for a server that may have missed a change.
  var publishedStreams: JSON {
    .array(
      publishers.map { publisher in
        .object(
          JSON.members([
            ("publisher", .string(publisher.id)), ("id", publisher.stream.map(JSON.string)),
            ("hasAudio", .bool(publishes.audio)), ("hasVideo", .bool(hasVideo(publisher))),
          ]))
      })
  }

  var subscriptions: JSON { .array(subscribers.map { .object(JSON.members(subscription($0))) }) }

  /// Ends everything, when the session is over.
  func end() {
    isOver = true
    for publisher in publishers {
      publisher.timer?.cancel()
      if publisher.isAnnounced { callbacks.call("publisherStreamDestroyed", user: environment.userID) }
    }
    for subscriber in subscribers { subscriber.timer?.cancel() }
    (publishers, subscribers) = ([], [])
    closeIfIdle()
    show()
  }

  /// Takes the audio again after an interruption.
  func resumeAudio() { if negotiator != nil { environment.device.resumeAudioSession() } }

  func show() {
    trace.set("publishers", publishers.count { $0.isAnnounced })
    trace.set("publish.audio", publishes.audio)
    trace.set("publish.video", publishes.video && hasPictures)
    trace.set("subscribed", users: subscribers.filter { $0.state == .connected }.map(\.user))
    trace.set("views", users: subscribers.filter(\.hasView).map(\.user))
    trace.set("video.disabled", users: subscribers.filter { !$0.withoutVideo.isEmpty }.map(\.user))
  }
}
