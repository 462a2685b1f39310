internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// The server's end of a link: it welcomes, sends heartbeats, and misses those of the client.
final class TwilioServerLink {
  let socket: SignallingSocket
  /// The participant whose session is on this link.
  weak var participant: TwilioParticipant?
  /// Called for each body.
  var onBody: ((MessageContent) -> Void)?
  /// Called once, unless this end dropped it.
  var onEnd: (() -> Void)?
  private let environment: ServerEnvironment
  private(set) var isWelcomed = false
  private var isOver = false
  private var heartbeat = Interval.seconds(5)
  private var receiving: PeerTimer?
  private var sending: PeerTimer?

  private static let missedLimit: Int64 = 3

  init(_ socket: SignallingSocket, _ environment: ServerEnvironment) {
    self.socket = socket
    self.environment = environment
  }

  /// Answers a hello.
  func welcome(_ hello: MessageContent) {
    guard hello["version"]?.integer == 2 else {
      return send(MessageContent("bad", [JSON.Member("reason", "unknown version")]))
    }
    let wanted = hello["timeout"]?.integer ?? 0
    heartbeat = (1_000...60_000).contains(wanted) ? .milliseconds(wanted) : .seconds(5)
    isWelcomed = true
    watch()
    send(MessageContent("welcome", [JSON.Member("negotiatedTimeout", .integer(heartbeat.milliseconds))]))
  }

  /// Notes that the client is there.
  func watch() {
    receiving?.cancel()
    receiving = environment.clock.schedule(after: heartbeat * Self.missedLimit) { [weak self] in self?.lost() }
  }

  func send(_ message: MessageContent) {
    guard !isOver else { return }
    socket.send(TwilioWire.text(message))
    guard isWelcomed else { return }
    sending?.cancel()
    sending = environment.clock.schedule(after: heartbeat - .milliseconds(200)) { [weak self] in
      self?.send(MessageContent("heartbeat"))
    }
  }

  private func lost() {
    socket.drop()
    ended()
  }

  /// Ends the link after the client's bye.
  func close() {
    socket.onClose = nil
    socket.close()
    ended()
  }

  /// Ends the link without a word.
  func drop() {
    onEnd = nil
    socket.drop()
    ended()
  }

  /// Notes that the socket is closed.
  func ended() {
    guard !isOver else { return }
    isOver = true
    receiving?.cancel()
    sending?.cancel()
    let report = onEnd
    (onEnd, onBody) = (nil, nil)
    report?()
  }
}
