internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// A client at the server: its place in the session, its streams and subscriptions, and the router's connection to it.
final class VonageClient {
  /// A stream of the client.
  struct Published {
    /// The client's own number of the publisher.
    let publisher: String
    var stream: VonageStream
    /// Whether its video may be taken from subscribers with a bad network.
    let fallsBack: Bool
    /// Whether the others know it: a routed one is known once its media can come.
    var isAnnounced: Bool
  }

  /// A stream that the client wants.
  struct Subscription {
    let stream: String
    var audio: Bool
    var video: Bool
    /// The number of the peer connection on which the client wants it.
    var number: Int64
    /// The senders on the router's connection, by kind.
    var senders: [MediaKind: Transceiver.ID] = [:]
    var quality = VideoQuality()
  }

  let connection: VonageConnection
  let secret: String
  let role: VonageRole
  private let environment: ServerEnvironment
  var socket: SignallingSocket?
  var published: [Published] = []
  var subscriptions: [Subscription] = []
  private(set) var negotiator: Negotiator?
  private(set) var number: Int64 = 0
  /// The numbers of the signals that the client sent, above those that are too old to be repeated.
  private var taken: Set<Int64> = []
  private var oldestTaken: Int64 = 0
  /// The signals that the client has not confirmed, by their numbers.
  private var signals: [(number: Int64, fields: [(String, JSON?)])] = []
  private var signalCount: Int64 = 0
  /// The oldest signal without a confirmation, at the last keepalive.
  private var overdueSignal: Int64?
  /// How often a moderator has muted the client, and who did so last.
  private var mute: (number: Int64, by: String)?
  var presence: PeerTimer? { didSet { oldValue?.cancel() } }
  var idle: PeerTimer? { didSet { oldValue?.cancel() } }
  var measuring: PeerTimer? { didSet { oldValue?.cancel() } }

  /// The number of signals that are kept for a client: a harness default.
  static let signalLimit = 1_000

  init(_ connection: VonageConnection, secret: String, role: VonageRole, _ environment: ServerEnvironment) {
    (self.connection, self.secret, self.role) = (connection, secret, role)
    self.environment = environment
  }

  /// Whether it neither publishes nor subscribes.
  var isIdle: Bool { published.isEmpty && subscriptions.isEmpty }

  func send(_ type: String, _ fields: [(String, JSON?)] = []) {
    socket?.send(VonageWire.text(MessageContent(type, JSON.members(fields))))
  }

  // MARK: Signals

  /// Sends a signal, and keeps it until the client confirms it.
  ///
  /// - Returns: false for one too many, which is lost.
  func signal(_ fields: [(String, JSON?)]) -> Bool {
    guard signals.count < Self.signalLimit else { return false }
    signalCount += 1
    let numbered = [("number", JSON.integer(signalCount))] + fields
    signals.append((signalCount, numbered))
    send("signal", numbered)
    return true
  }

  /// The client has the signals up to a number.
  func confirmed(_ number: Int64) { signals.removeAll { $0.number <= number } }

  /// Sends the oldest signal again that the client has not confirmed from one keepalive to the next.
  func repeatSignal() {
    if let oldest = signals.first, oldest.number == overdueSignal { send("signal", oldest.fields) }
    overdueSignal = signals.first?.number
  }

  /// Returns whether a signal of the client is new, and not a repeated one.
  func takes(signal number: Int64) -> Bool {
    guard number > oldestTaken, taken.insert(number).inserted else { return false }
    if taken.count > Self.signalLimit, let oldest = taken.min() {
      taken.remove(oldest)
      oldestTaken = oldest
    }
    return true
  }

  // MARK: What a client must hear, and may have missed

  func mute(by user: String) {
    mute = ((mute?.number ?? 0) + 1, user)
    repeatMute(after: 0)
  }

  private func repeatMute(after number: Int64) {
    guard let mute, mute.number > number else { return }
    send("muted", [("by", .string(mute.by)), ("number", .integer(mute.number))])
  }

  /// Says again what the client may have missed while it had no WebSocket.
  ///
  /// - Parameter resumption: the client's message, with what it has.
  func repeatMissed(_ resumption: MessageContent) {
    confirmed(resumption["received"]?.integer ?? 0)
    for signal in signals { send("signal", signal.fields) }
    repeatMute(after: resumption["muted"]?.integer ?? 0)
    guard let negotiator else { return }
    for subscription in subscriptions {
      send(
        "videoQuality",
        [("event", .string(subscription.quality.state.rawValue)), ("stream", .string(subscription.stream))])
    }
    for fields in negotiator.missed { say(fields) }
  }

  // MARK: The router's connection

  /// Returns the connection of a number; nil for one that is over.
  func seat(_ number: Int64, _ connections: PeerConnectionFactory) -> Negotiator? {
    if number > self.number {
      closeSeat()
      self.number = number
      let negotiator = Negotiator(connections.make(to: connection.user), yields: false)
      self.negotiator = negotiator
      negotiator.changed = { [weak self] part in
        if let self, let negotiator = self.negotiator { say(negotiator.fields(of: part)) }
      }
    }
    return number == self.number ? negotiator : nil
  }

  private func say(_ fields: [(String, JSON?)]) { send("media", [("number", .integer(number))] + fields) }

  /// Says an offer again that was not answered from one keepalive to the next.
  func repeatOffer() {
    guard let negotiator, let offer = negotiator.overdueOffer() else { return }
    say([("description", offer), ("ice", negotiator.ice)])
  }

  /// Returns what the router receives of a track.
  func receivedTrack(_ kind: MediaKind, of stream: String) -> MediaStreamTrack? {
    negotiator?.connection.transceivers.first {
      $0.receiver.track.id == VonageStream.track(kind, of: stream) && $0.currentDirection?.receives == true
    }?.receiver.track
  }

  func closeSeat() {
    negotiator?.connection.close()
    negotiator = nil
    measuring = nil
    for index in subscriptions.indices { subscriptions[index].senders = [:] }
  }

  /// Ends everything of the client.
  func close() {
    (presence, idle) = (nil, nil)
    closeSeat()
    socket = nil
  }
}
