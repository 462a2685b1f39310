internal import CallCore
internal import PeerSession
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// A client at the server: its place in the session, its streams and subscriptions, and the router's connection to it.
final class VonageClient {
  /// A stream of the client.
  struct Published {
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
  /// The number of the last signal that the client sent.
  var lastSignal: Int64 = 0
  /// The last signals to the client, by their numbers, for a resumption.
  private var signals: [(number: Int64, fields: [(String, JSON?)])] = []
  private var signalCount: Int64 = 0
  var presence: PeerTimer? { didSet { oldValue?.cancel() } }
  var idle: PeerTimer? { didSet { oldValue?.cancel() } }
  var measuring: PeerTimer? { didSet { oldValue?.cancel() } }

  /// The number of signals that are kept for a client.
  private static let signalLimit = 100

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

  /// Sends a signal, and keeps it until it is old.
  func signal(_ fields: [(String, JSON?)]) {
    signalCount += 1
    let numbered = [("number", JSON.integer(signalCount))] + fields
    signals.append((signalCount, numbered))
    if signals.count > Self.signalLimit { signals.removeFirst() }
    send("signal", numbered)
  }

  /// Sends the signals again that the client has not got.
  func repeatSignals(after number: Int64) {
    for signal in signals where signal.number > number { send("signal", signal.fields) }
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

  /// Says again what the client may have missed while it had no WebSocket.
  func repeatSeat() {
    guard let negotiator else { return }
    say([("description", negotiator.isOffering ? negotiator.description : nil), ("ice", negotiator.ice)])
  }

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
