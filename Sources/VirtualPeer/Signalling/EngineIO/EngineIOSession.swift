internal import CallCore
internal import Formats

/// The server's end of one Engine.IO v4 session: packets wait for a poll of the client, or go over WebSocket at once.
final class EngineIOSession: SignallingChannel {
  var onOpen: ((_ path: String) -> Void)?
  var onText: ((String) -> Void)?
  var onClose: (() -> Void)?
  var onHiddenClosing: (() -> Void)?
  /// Sends a packet of the transport's own, which the faults of a scenario meet like any other.
  var onReply: ((String) -> Void)?
  /// Called when the session is over, also while a silence keeps it from the server.
  var onOver: (() -> Void)?

  /// The time for the whole upgrade, after which a client stays with polling. It is engine.io's `upgradeTimeout`.
  private static let upgradeTimeout = Interval.seconds(10)
  /// The time after which a poll that waits is answered, so that the client can go over. It is engine.io's.
  private static let pollRelease = Interval.milliseconds(100)

  let id: String
  private let clock: PeerClock
  /// The packets that wait for a poll.
  private var buffer: [String] = []
  private var poll: HTTPServerConnection?
  /// The WebSocket, once the session goes over one.
  private var webSocket: WebSocketChannel?
  /// Whether the session began with a WebSocket, whose frames both ends number.
  private var isDirect = false
  private var probe: WebSocketChannel?
  private var isProbeAnswered = false
  private var timers: [PeerTimer] = []
  private var sentCount = 0
  private var isOver = false
  private var isAbandoned = false
  private var isCutOff = false
  /// The responses that a silence keeps back.
  private var held: [() -> Void] = []

  init(id: String, clock: PeerClock) {
    self.id = id
    self.clock = clock
  }

  var isPolling: Bool { webSocket == nil }
  /// Whether a WebSocket is being tried.
  var isProbed: Bool { probe != nil }

  var isSilenced = false {
    didSet {
      webSocket?.isSilenced = isSilenced
      probe?.isSilenced = isSilenced
      if oldValue, !isSilenced { endSilence() }
    }
  }

  /// Begins with a WebSocket, without polling.
  func begin(with channel: WebSocketChannel) {
    (webSocket, isDirect) = (channel, true)
    channel.isSilenced = isSilenced
    channel.onOpen = { [unowned self] path in onOpen?(path) }
    take(channel)
  }

  private func take(_ channel: WebSocketChannel) {
    channel.onText = { [weak self] text in self?.onText?(text) }
    channel.onClose = { [weak self] in self?.finish() }
    channel.onHiddenClosing = { [weak self] in self?.onHiddenClosing?() }
  }

  // MARK: Polling

  /// Takes a poll. A second one at a time ends the session, as in engine.io.
  func polled(by connection: HTTPServerConnection) {
    if answerPoll(with: [EngineIOPacket(.close).text]) {
      respond { connection.respond(Self.badRequest) }
      return finish()
    }
    poll = connection
    connection.onEnd = { [weak self, weak connection] in
      if let self, let connection, poll === connection { pollEnded() }
    }
    flush()
  }

  private func pollEnded() {
    poll = nil
    if isSilenced {
      isCutOff = true
      onHiddenClosing?()
    } else {
      finish()
    }
  }

  /// Takes the packets of a request.
  ///
  /// - Returns: False if they are none, which ends the session.
  func posted(_ body: [UInt8], on connection: HTTPServerConnection) -> Bool {
    let texts = String(validating: body, as: UTF8.self).map { EngineIOPacket.texts(inBody: $0) } ?? []
    guard !texts.isEmpty, texts.allSatisfy({ EngineIOPacket(parsing: $0) != nil }) else {
      respond { connection.respond(Self.badRequest) }
      abort()
      return false
    }
    for text in texts where !isOver { onText?(text) }
    respond { connection.respond(HTTPMessage(status: 200, "OK", type: "text/html", body: Array("ok".utf8))) }
    return true
  }

  private static let badRequest = HTTPMessage(status: 400, "Bad Request", body: [])

  private func respond(_ response: @escaping () -> Void) {
    if isSilenced { held.append(response) } else { response() }
  }

  /// Answers the poll that waits, which may end its connection.
  ///
  /// - Returns: False if none waits.
  @discardableResult
  private func answerPoll(with texts: [String]) -> Bool {
    guard let poll else { return false }
    self.poll = nil
    let body = EngineIOPacket.body(of: texts)
    respond { poll.respond(HTTPMessage(status: 200, "OK", body: body)) }
    return true
  }

  private func flush() {
    guard !buffer.isEmpty else { return }
    if let webSocket {
      for text in buffer { webSocket.send(text) }
    } else if !answerPoll(with: buffer) {
      return
    }
    buffer = []
  }

  // MARK: The upgrade

  /// Takes a WebSocket that the client tries.
  func probed(by channel: WebSocketChannel) {
    probe = channel
    channel.isSilenced = isSilenced
    var isUpgraded = false
    channel.onText = { [weak self, unowned channel] text in
      isUpgraded = isUpgraded || text == Self.upgrade
      // What follows the upgrade packet may come here while a fault holds that packet.
      if isUpgraded || text == Self.probePing { self?.onText?(text) } else { channel.close() }
    }
    channel.onClose = { [weak self] in self?.endProbe() }
    channel.onHiddenClosing = { [weak self] in self?.onHiddenClosing?() }
    timers = [clock.schedule(after: Self.upgradeTimeout) { [weak channel] in channel?.close() }]
  }

  private func endProbe() {
    probe = nil
    isProbeAnswered = false
    for timer in timers { timer.cancel() }
    timers = []
  }

  private static let probePing = EngineIOPacket(.ping, "probe").text
  private static let probePong = EngineIOPacket(.pong, "probe").text
  private static let upgrade = EngineIOPacket(.upgrade).text
  private static let noop = EngineIOPacket(.noop).text

  func takes(_ text: String) -> Bool {
    if text == EngineIOPacket(.close).text, isPolling {
      answerPoll(with: [Self.noop])
      finish()
    } else if text == Self.probePing, probe != nil {
      onReply?(Self.probePong)
      releasePolls()
    } else if text == Self.upgrade, let channel = probe, isProbeAnswered {
      endProbe()
      webSocket = channel
      take(channel)
      answerPoll(with: [Self.noop])
      flush()
    } else {
      return false
    }
    return true
  }

  /// Ends each poll that waits during the upgrade: a client goes over once it has no request open.
  private func releasePolls() {
    timers.append(
      clock.schedule(after: Self.pollRelease) { [weak self] in
        guard let self, probe != nil else { return }
        if poll != nil { onReply?(Self.noop) }
        releasePolls()
      })
  }

  // MARK: Sending

  func sendFrame(_ text: String) -> UInt64? {
    guard !isSilenced, !isOver else { return nil }
    if text == Self.probePong, let probe {
      isProbeAnswered = true
      probe.send(text)
      return 0
    }
    guard text != Self.noop else {
      answerPoll(with: [text])
      return 0
    }
    if isDirect { return webSocket?.sendFrame(text) }
    buffer.append(text)
    sentCount += 1
    flush()
    return EngineIOChannel.identity(ofFrame: sentCount, in: id)
  }

  // MARK: The end

  func close() {
    if let webSocket { return webSocket.close() }
    buffer.append(EngineIOPacket(.close).text)
    if !isSilenced { flush() }
    abort()
  }

  func abort() {
    if isSilenced {
      isAbandoned = true
      onHiddenClosing?()
    } else {
      reset()
    }
    finish()
  }

  private func reset() {
    let (channels, request) = ([webSocket, probe], poll)
    (probe, poll) = (nil, nil)
    for channel in channels {
      channel?.onClose = nil
      channel?.abort()
    }
    request?.abort()
  }

  private func endSilence() {
    let responses = held
    held = []
    for response in responses { response() }
    if isAbandoned { reset() } else if isCutOff { finish() }
  }

  private func finish() {
    guard !isOver else { return }
    isOver = true
    let channel = probe
    endProbe()
    channel?.onClose = nil
    if !isSilenced { channel?.abort() }
    onOver?()
    onClose?()
  }
}
