internal import CallCore
internal import PeerSession
internal import SCTP
internal import SDP
internal import Statistics
internal import VirtualPeer
internal import Vocabulary

/// One room from connect to its end: the session on the signalling link, the connection to the media server, and the
/// tracks of both sides.
public final class TwilioRoom {
  let environment: PeerEnvironment
  let callbacks: TwilioCallbacks
  /// The name by which the participant has asked for it.
  public let name: String
  let settings: TwilioSettings
  weak var delegate: (any TwilioRoomDelegate)?
  private(set) weak var sdk: TwilioVideoSDK?
  private(set) lazy var participant = TwilioLocalParticipant(self)
  /// The participant on this device; nil before the room is connected.
  public var localParticipant: TwilioLocalParticipant? { wasConnected ? participant : nil }
  /// The other participants.
  public var remoteParticipants: [TwilioRemoteParticipant] { roster.remotes }
  let roster: TwilioRoster
  private let quality: TwilioQualityLevels
  /// The number among the rooms of the app.
  private let number: Int
  private var link: TwilioLink?
  private var linkCount = 0
  /// The failed attempts since the last link that opened.
  private var attempts = 0
  /// The token of the connect, which is good for a resumption too as long as it is valid.
  private let token: String
  private var session: String?
  private var sessionTimeout = TwilioRoom.usualSessionTimeout
  /// Whether the server knows this participant on the present link, so that updates may be sent.
  private var isSynced = false
  /// Updates that came before `connected` or `synced`.
  private var early = EarlyMessages()
  private var negotiator: Negotiator?
  var connection: (any PeerConnection)? { negotiator?.connection }
  var tracks: [TwilioPublication] = []
  var dataTracks: [TwilioLocalDataTrack] = []
  /// The sids of the data tracks of others, by the channels on which they come in.
  var remoteDataTracks: [DataChannelID: String] = [:]
  /// Whether the descriptions have a section for data channels, or will.
  var hasDataSection = false
  /// The messages that were sent and received on data tracks.
  var dataMessages = (sent: 0, received: 0)
  var trackCount = 0
  /// The revision of this participant's tracks.
  private var revision: Int64 = 0
  /// What waits for the next update.
  private var pending: (tracks: Bool, description: Bool, ice: Bool) = (false, false, false)
  /// The code of the plane that was lost first, while reconnecting.
  private var cause: String?
  private var isMediaLost = false
  /// Whether media were connected once: only then is the room connected.
  private var hadMedia = false
  private var watch: TwilioMediaWatch?
  /// The participants as the server told of them after an outage, until the room is connected again.
  private var listAfterOutage: [TwilioRemoteParticipant]?
  private var connectTimer: PeerTimer?
  private var sessionTimer: PeerTimer?
  private var retryTimer: PeerTimer?
  private var restartTimer: PeerTimer?
  private var restarts = 0
  private var random: RandomStream

  var trace: PeerTrace { environment.trace }
  var state: String { trace.state(of: "room.state") ?? "none" }
  private(set) var isOver = false
  private var wasConnected = false

  /// The session timeout without one of the server.
  private static let usualSessionTimeout = Interval.seconds(30)
  /// The time in which the server has to answer a request to be let in, and then media to connect: the model's own, as
  /// long as a link may take to open.
  private static let connectTimeout = Interval.seconds(15)

  init(
    _ options: TwilioConnectOptions, _ sdk: TwilioVideoSDK, _ delegate: (any TwilioRoomDelegate)?, number: Int
  ) {
    name = options.roomName
    token = options.token
    environment = sdk.environment
    settings = sdk.settings
    callbacks = sdk.callbacks.ofRoom()
    self.delegate = delegate
    self.sdk = sdk
    self.number = number
    roster = TwilioRoster(environment.trace, callbacks)
    quality = TwilioQualityLevels(environment.trace, callbacks)
    random = environment.random.stream("room/\(number)")
    roster.room = self
    roster.onLeave = { [quality] in quality.leave($0) }
  }

  // MARK: Connect

  func connect(_ options: TwilioConnectOptions) {
    trace.set(PeerEvents.accepted.name, true)
    trace.enter("room.state", "connecting", on: "connect")
    environment.device.configureAudioSession(category: .playAndRecord, mode: .videoChat, options: [])
    environment.device.setAudioSessionActive(true)
    let negotiator = Negotiator(environment.connections.make(), yields: true)
    self.negotiator = negotiator
    negotiator.changed = { [weak self] in self?.changed($0) }
    negotiator.happened = { [weak self] in self?.happened($0) }
    attempt("53400") { () throws(SessionError) in
      for track in options.audioTracks { try add(track) }
      for track in options.videoTracks { try add(track) }
      // Without a track there is still a section, for the tracks of others.
      if tracks.isEmpty { try negotiator.connection.addTransceiver(.audio, TransceiverInit(direction: .recvonly)) }
      try negotiator.offer()
    }
    showTracks()
    for name in ["sent", "received"] { trace.set("data-track.\(name)", 0) }
    // What came in the room before is not of this one.
    if number > 1 {
      trace.set("data-track.text", "none")
      trace.set("data-track.bytes", 0)
      trace.set("data-track.sender", users: [])
    }
    if !isOver { openLink() }
  }

  /// Runs a step of negotiation; a failure ends the room with a code.
  func attempt(_ code: String, _ step: () throws(SessionError) -> Void) {
    do throws(SessionError) {
      try step()
    } catch {
      trace.event("sdp-rejected", "reason", "\(error)")
      end(code, on: "failure")
    }
  }

  // MARK: The link

  private func openLink() {
    retryTimer?.cancel()
    linkCount += 1
    let link = TwilioLink(environment, number: number * 1_000 + linkCount)
    self.link = link
    early = EarlyMessages()
    link.onOpen = { [weak self] in self?.linkOpened() }
    link.onBody = { [weak self] in self?.received($0) }
    link.onUnreadable = { [weak self] in self?.unreadable() }
    link.onEnd = { [weak self] in self?.linkEnded($0, retryAfter: $1) }
  }

  private func linkOpened() {
    let participant = participantJSON
    pending = (false, false, false)
    guard let session else {
      startConnectTimer(endingWith: "53000")
      return send(
        "connect",
        [
          ("name", .string(name)), ("token", .string(token)), ("participant", participant),
          ("description", negotiator?.description), ("ice", negotiator?.ice),
          ("bandwidth_profile", settings.bandwidthProfile?.json),
          ("dominant_speaker", settings.wantsDominantSpeaker ? true : nil),
          ("network_quality", settings.networkQuality == .none ? nil : .string(settings.networkQuality.rawValue)),
        ])
    }
    send(
      "sync",
      [
        ("session", .string(session)), ("token", .string(token)), ("participant", participant),
        ("description", negotiator?.description), ("ice", negotiator?.ice),
      ])
  }

  private func startConnectTimer(endingWith code: String) {
    connectTimer?.cancel()
    guard !Defect.entryTimerForgotten.isPlanted else { return }
    connectTimer = environment.clock.schedule(after: Self.connectTimeout) { [weak self] in
      self?.end(code, on: "failure")
    }
  }

  private func linkEnded(_ reason: TwilioLink.End, retryAfter: Interval?) {
    link = nil
    isSynced = false
    connectTimer?.cancel()
    if let retryAfter {
      retryTimer = environment.clock.schedule(after: retryAfter) { [weak self] in self?.openLink() }
      return
    }
    guard session != nil, state != "connecting" else {
      return end(reason == .serverBusy ? "53006" : "53000", on: "failure")
    }
    lose("53001")
    // The wait before an attempt: 80 ms, half as much again each time, at most 10 s, and anything up to that.
    let limit = min(80 * Self.power(1.5, attempts), 10_000)
    attempts += 1
    let wait = Interval.milliseconds(Int64(random.uniform(below: UInt64(limit) + 1)))
    retryTimer = environment.clock.schedule(after: wait) { [weak self] in self?.openLink() }
  }

  private static func power(_ base: Double, _ exponent: Int) -> Double {
    (0..<min(exponent, 200)).reduce(1) { value, _ in value * base }
  }

  func networkChanged() {
    guard !isOver else { return }
    if let link, !link.isLocalAddressAlive {
      link.networkChanged()
    } else if link == nil, session != nil {
      attempts = 0
      openLink()
    }
    if hadMedia, connection?.connectionState != .connected { isMediaLost = true }
  }

  // MARK: Sending

  private var participantJSON: JSON {
    ["revision": .integer(revision), "tracks": .array(tracks.map(\.json) + dataTracks.map(\.json))]
  }

  private func send(_ type: String, _ fields: [(String, JSON?)]) {
    link?.send(MessageContent(type, JSON.members(fields)))
  }

  private func changed(_ part: Negotiator.Part) {
    switch part {
    case .description: pending.description = true
    case .answer:
      // One that was lost: there may be an offer of this side since.
      guard isSynced, let session else { return }
      return send("update", [("session", .string(session))] + (negotiator?.fields(of: part) ?? []))
    case .ice: pending.ice = true
    }
    flush()
  }

  func tracksChanged() {
    revision += 1
    pending.tracks = true
    flush()
    showTracks()
  }

  /// Sends what changed since the last update; while the server does not know this participant, changes wait.
  private func flush() {
    guard isSynced, let session, pending.tracks || pending.description || pending.ice else { return }
    let parts = pending
    pending = (false, false, false)
    send(
      "update",
      [
        ("session", .string(session)), ("participant", parts.tracks ? participantJSON : nil),
        ("description", parts.description ? negotiator?.description : nil), ("ice", parts.ice ? negotiator?.ice : nil),
      ])
  }

  /// Offers, if the room is not over.
  func offer() {
    attempt("53400") { () throws(SessionError) in try negotiator?.offer() }
  }

  // MARK: Receiving

  private func received(_ message: MessageContent) {
    switch message.type {
    case "connected" where session == nil: connected(message)
    case "synced" where session != nil && !isSynced: synced(message)
    case "update" where isSynced: updated(message)
    case "update" where early.keep(message): trace.backlog("messages", early.count)
    // The server has ended the session: there is nothing to disconnect.
    case "disconnected":
      isSynced = false
      end(message["status"]?.string == "completed" ? "53118" : "other", on: "disconnect, or the server")
    case "error":
      isSynced = false
      let code = message["code"]?.integer.map { "\($0)" } ?? "other"
      end(TwilioCode.end(code), on: "refusal")
    default: trace.event(PeerEvents.messageRejected.name, "reason", "unexpected \(message.type)")
    }
  }

  /// A message of the server cannot be read: what it said of the room is missing here.
  private func unreadable() {
    let event =
      switch state {
      case "connecting": "failure"
      case "connected": "disconnect, or the server"
      default: "timeout, refusal or disconnect"
      }
    end("53003", on: event)
  }

  private func connected(_ message: MessageContent) {
    guard let session = message["session"]?.string, let sid = message["sid"]?.string,
      message["participant"]?["sid"]?.string != nil, message["description"] != nil,
      let participants = TwilioRemoteParticipant.list(message["participants"]), message["published"] != nil,
      message["options"] != nil
    else { return end("53003", on: "failure") }
    self.session = session
    // Candidates that never come fail no check of ICE.
    startConnectTimer(endingWith: "53405")
    isSynced = true
    attempts = 0
    if let timeout = message["options"]?["session_timeout"]?.integer, (1...3_600).contains(timeout) {
      sessionTimeout = .seconds(timeout)
    }
    trace.set("room.sid", sid)
    roster.begin(participants)
    applyCommon(message)
    takeEarly()
    flush()
    settle()
  }

  private func takeEarly() {
    for message in early.take() where isSynced { updated(message) }
  }

  private func synced(_ message: MessageContent) {
    guard let participants = TwilioRemoteParticipant.list(message["participants"]), message["published"] != nil else {
      return end("53003", on: "timeout, refusal or disconnect")
    }
    isSynced = true
    attempts = 0
    applyCommon(message)
    guard !isOver else { return }
    if isMediaLost { restartICE() }
    listAfterOutage = participants
    takeEarly()
    flush()
    settle()
  }

  private func updated(_ message: MessageContent) {
    if let participants = message["participants"] {
      guard let list = TwilioRemoteParticipant.list(participants) else {
        return end("53003", on: "disconnect, or the server")
      }
      if let waiting = listAfterOutage {
        let news = list.filter { remote in
          roster.isNews(remote) && !waiting.contains { $0.sid == remote.sid && $0.revision >= remote.revision }
        }
        listAfterOutage = waiting.filter { old in !news.contains { $0.sid == old.sid } } + news
      } else {
        roster.update(list)
      }
    }
    applyCommon(message)
  }

  /// Takes what several messages have: publications, a description, candidates.
  private func applyCommon(_ message: MessageContent) {
    if let published = message["published"] { take(published: published) }
    if let speaker = message["dominant_speaker"] { roster.setDominantSpeaker(speaker["participant"]?.string) }
    if let levels = message["network_quality"] { quality.take(levels, of: roster.remotes) }
    if let list = message["switched_off"]?.array { roster.setSwitchedOff(list.compactMap(\.string)) }
    if let ice = message["ice"] { negotiator?.receive(ice: ice) }
    guard let description = message["description"] else { return }
    attempt("53402") { () throws(SessionError) in try negotiator?.receive(description) }
  }

  // MARK: Both planes

  private func happened(_ event: SessionEvent) {
    guard !isOver else { return }
    switch event {
    case .dtlsFailed: end("53407", on: "failure")
    case .connectionStateChange(.connected):
      hadMedia = true
      isMediaLost = false
      restarts = 0
      restartTimer?.cancel()
      if watch == nil, let connection {
        watch = TwilioMediaWatch(environment.clock, connection) { [weak self] in self?.mediaLost() }
      }
      settle()
    case .connectionStateChange(.failed): if hadMedia { mediaLost() } else { end("53405", on: "failure") }
    case .track, .removeTrack, .ended, .signalingStateChange(.stable): showSubscriptions()
    case .dataChannel, .dataChannelStateChange, .dataChannelMessage, .dataChannelError: dataHappened(event)
    default: break
    }
  }

  private func mediaLost() {
    guard !isOver else { return }
    isMediaLost = true
    lose("53405")
    // The first restart is at once, a further one after a short wait that grows.
    let wait = Interval.milliseconds(Int64(min(Self.power(1.1, restarts), 30_000)))
    restarts += 1
    restartTimer?.cancel()
    restartTimer = environment.clock.schedule(after: wait) { [weak self] in
      if let self, isMediaLost, isSynced { restartICE() }
    }
  }

  private func restartICE() {
    attempt("53400") { () throws(SessionError) in try negotiator?.restartICE() }
  }

  /// Notes that signalling or media is lost: the first of them is the cause, and begins the session's timer.
  private func lose(_ code: String) {
    guard state == "connected" else { return }
    cause = code
    trace.raise(code)
    trace.enter("room.state", "reconnecting", on: "signalling or media lost")
    tell("roomIsReconnecting", error: code) { $0.roomIsReconnecting(room: $1, error: TwilioError(code: code)) }
    quality.lose()
    sessionTimer = environment.clock.schedule(after: sessionTimeout) { [weak self] in
      if let self { end(cause ?? "53001", on: "timeout, refusal or disconnect") }
    }
  }

  /// Enters the room, for the first time or again, when both planes are there.
  private func settle() {
    guard !isOver, isSynced, hadMedia, !isMediaLost else { return }
    switch state {
    case "connecting":
      connectTimer?.cancel()
      trace.enter("room.state", "connected", on: "connected, and media")
      wasConnected = true
      tell("roomDidConnect") { $0.roomDidConnect(room: $1) }
      callbacks.open()
      roster.enter()
      quality.enter(roster.remotes)
      if Defect.muteCompletesLate.isPlanted { completeMute() }
    case "reconnecting":
      sessionTimer?.cancel()
      cause = nil
      trace.enter("room.state", "connected", on: "signalling and media back")
      tell("roomDidReconnect") { $0.roomDidReconnect(room: $1) }
      quality.enter(roster.remotes)
    default: break
    }
    if let list = listAfterOutage {
      listAfterOutage = nil
      roster.replace(by: list)
    }
  }

  private func tell(
    _ name: String, error: String? = nil, _ call: @escaping (any TwilioRoomDelegate, TwilioRoom) -> Void
  ) {
    callbacks.room(name, error: error) { if let delegate = self.delegate { call(delegate, self) } }
  }

  // MARK: The end

  /// What a planted defect does: it closes the connection, and with it the microphone, a second after the room.
  private func closeLate() {
    environment.clock.schedule(after: .seconds(1)) { [connection] in connection?.close() }
  }

  /// Leaves the room.
  public func disconnect() { end("disconnected", on: "disconnect, or the server") }

  func end(_ code: String, on event: String) {
    guard !isOver else { return }
    let wasConnecting = state == "connecting"
    isOver = true
    watch?.stop()
    for timer in [connectTimer, retryTimer, restartTimer] { timer?.cancel() }
    if !Defect.lossTimerLeaks.isPlanted { sessionTimer?.cancel() }
    if let session, isSynced { send("disconnect", [("session", .string(session))]) }
    link?.close()
    link = nil
    if wasConnecting, Defect.captureOutlivesSetup.isPlanted { closeLate() } else { connection?.close() }
    roster.end()
    quality.end()
    for publication in tracks { publication.track.room = nil }
    remoteDataTracks = [:]
    for name in ["mic", "camera"] { trace.set("\(name).sent", false) }
    trace.set("room.sid", "none")
    environment.device.setAudioSessionActive(false)
    trace.set(PeerEvents.accepted.name, false)
    trace.enter("room.state", "disconnected", on: event)
    trace.end(code)
    let error = code == "disconnected" ? nil : code
    if wasConnecting, let error {
      tell("roomDidFailToConnect", error: error) {
        $0.roomDidFailToConnect(room: $1, error: TwilioError(code: error))
      }
    } else {
      tell("roomDidDisconnect", error: error) {
        $0.roomDidDisconnect(room: $1, error: error.map(TwilioError.init))
      }
    }
    if let error { failPending(error) }
    callbacks.completion { [weak self] in self?.unpublishAll() }
  }
}
