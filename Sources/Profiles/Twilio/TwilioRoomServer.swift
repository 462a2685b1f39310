internal import CallCore
internal import Digests
internal import PeerSession
internal import SDP
public import VirtualPeer
public import Vocabulary

/// The Twilio room server: links, sessions, rooms, and the media that it forwards.
public final class TwilioRoomServer: CallServer {
  private let environment: ServerEnvironment
  private let connections: PeerConnectionFactory
  private var links: [TwilioServerLink] = []
  private var rooms: [TwilioServerRoom] = []
  private var policy = TwilioServerPolicy()
  /// The number of sids and sessions so far.
  private var count = 0
  private var sessions: RandomStream
  /// The sessions that the server has ended, with the code that tells why.
  private var ended: [String: String] = [:]
  private var isOver = false

  /// The time for which a session outlives its link.
  static let sessionTimeout = Interval.seconds(30)

  /// Creates the server; it does nothing before ``start()``.
  public init(environment: ServerEnvironment) {
    self.environment = environment
    connections = environment.makeConnections(sending: .receivedTracks)
    sessions = environment.random.stream("sessions")
  }

  public static func frame(of text: String) -> SignallingFrame {
    TwilioWire.message(text).map { .message($0) } ?? .transport("malformed")
  }

  public static func text(of message: MessageContent, in frame: String?) -> String { TwilioWire.text(message) }

  public func start() {
    environment.listen { [weak self] socket in
      socket.onOpen = { [weak self, weak socket] path in
        if let socket { self?.opened(socket, path: path) }
      }
    }
  }

  public func inject(_ message: MessageContent, from: String, to: String) {
    let text = TwilioWire.text(message)
    guard let link = links.last(where: { $0.socket.user == to }) else {
      return environment.undeliverable(SignallingMessage(type: message.type, from: from, to: to, text: text))
    }
    link.send(message)
  }

  public func shutDown() {
    isOver = true
    for room in rooms { room.close() }
    for link in links { link.drop() }
    (rooms, links) = ([], [])
  }

  private func next(_ prefix: String) -> String {
    count = Defect.callIDsOfProcess.isPlanted ? CallsOfProcess.next() : count + 1
    let digits = String(count, radix: 16)
    return prefix + String(repeating: "0", count: max(0, 32 - digits.count)) + digits
  }

  /// A session's id is its credential: nobody may guess it.
  private func nextSession() -> String { "S" + Hexadecimal.encode(sessions.bytes(16)) }

  private var seconds: Int64 { environment.clock.wallClock.unixSeconds(at: environment.clock.now) }

  // MARK: Links

  private func opened(_ socket: SignallingSocket, path: String) {
    let parts = path.split(separator: "/")
    guard parts.count == 2, let user = PathSegment.decode(parts[1]) else { return environment.malformed("path") }
    socket.user = user
    guard parts[0] == "signaling" else {
      socket.onText = { [weak self, weak socket] text in if let socket { self?.requested(text, on: socket) } }
      return
    }
    let link = TwilioServerLink(socket, environment)
    links.append(link)
    socket.onText = { [weak self, weak link] text in if let link { self?.received(text, on: link) } }
    socket.onClose = { [weak self, weak link] in
      link?.ended()
      self?.links.removeAll { $0 === link }
    }
    link.onEnd = { [weak self, weak link] in if let link { self?.linkEnded(link) } }
  }

  private func received(_ text: String, on link: TwilioServerLink) {
    guard let message = TwilioWire.message(text) else {
      environment.malformed("frame")
      return link.isWelcomed ? refuse("53004", link) : ()
    }
    if message.type == "hello", !link.isWelcomed {
      guard let busy = policy.busy else { return link.welcome(message) }
      return link.send(
        MessageContent(
          "busy",
          [
            JSON.Member("retryAfter", .integer(busy.retryAfter)), JSON.Member("keepAlive", .bool(busy.keepsAlive)),
          ]))
    }
    guard link.isWelcomed else { return environment.malformed("\(message.type) before hello") }
    link.watch()
    switch message.type {
    // A repeated hello has overtaken its answer.
    case "hello", "heartbeat": break
    case "bye":
      // Who takes leave without a `disconnect` did not know yet that the session began.
      if let participant = link.participant, let room = room(of: participant) { drop(participant, room) }
      link.close()
    case "connect": connect(message, on: link)
    case "sync": synchronise(message, on: link)
    case "update", "disconnect":
      guard let participant = link.participant, let room = room(of: participant) else {
        return environment.malformed("\(message.type) of no session")
      }
      guard let session = message["session"]?.string, TwilioParticipant.canRead(message["participant"]) else {
        return refuse("53004", link)
      }
      guard session == participant.session else { return environment.malformed("\(message.type) of no session") }
      if message.type == "disconnect" { drop(participant, room) } else { update(participant, message, room) }
    default: refuse("53004", link)
    }
  }

  private func room(of participant: TwilioParticipant) -> TwilioServerRoom? {
    rooms.first { $0.participants.contains { $0 === participant } }
  }

  private func refuse(_ code: String, _ link: TwilioServerLink) {
    link.send(
      MessageContent(
        "error", [JSON.Member("code", .integer(Int64(code) ?? 0)), JSON.Member("message", .string("error \(code)"))]))
  }

  /// A session outlives its link for a while.
  private func linkEnded(_ link: TwilioServerLink) {
    links.removeAll { $0 === link }
    guard !isOver, let participant = link.participant, participant.link === link, let room = room(of: participant)
    else { return }
    participant.link = nil
    participant.changed(state: "reconnecting")
    room.tell(of: participant)
    participant.sessionTimer = environment.clock.schedule(after: Self.sessionTimeout) { [weak self] in
      self?.drop(participant, room)
    }
  }

  private func drop(_ participant: TwilioParticipant, _ room: TwilioServerRoom) {
    participant.link?.participant = nil
    participant.link = nil
    room.remove(participant)
    if room.participants.isEmpty { emptied(room) }
  }

  // MARK: Connect

  private func connect(_ message: MessageContent, on link: TwilioServerLink) {
    // It was repeated on its way.
    guard link.participant == nil else { return environment.malformed("a second connect") }
    guard let name = message["name"]?.string, let token = message["token"]?.string,
      let tracks = message["participant"], let description = message["description"]
    else { return refuse("53004", link) }
    let (identity, code) = TwilioToken.check(token, room: name, at: seconds)
    guard let identity else { return refuse(code ?? "20101", link) }
    if let code = Self.problem(room: name, identity: identity) { return refuse(code, link) }
    let existing = rooms.first { $0.name == name }
    let old = existing?.participants.first { $0.identity == identity }
    // Who comes again takes the own place.
    let others = old == nil ? rooms : []
    if let code = policy.problem(creating: existing == nil, beside: others) { return refuse(code, link) }
    guard existing?.isFull != true || old != nil else { return refuse("53105", link) }
    let room = existing ?? makeRoom(named: name)
    let user = link.socket.user ?? identity
    // The device's own session of before ends first; that of another device only when the new one comes in.
    if let old, old.user == user { evict(old, from: room) }
    guard let participant = participant(user, identity: identity, message, description) else {
      return refuse("53403", link)
    }
    guard !room.lacksCodecs(for: tracks, of: participant) else {
      participant.close()
      return refuse("53404", link)
    }
    if let old, old.user != user { evict(old, from: room) }
    if !rooms.contains(where: { $0 === room }) { rooms.append(room) }
    admit(participant, on: link, to: room, message, tracks: tracks)
  }

  private func evict(_ participant: TwilioParticipant, from room: TwilioServerRoom) {
    if let link = participant.link { refuse("53205", link) }
    ended[participant.session] = "53205"
    drop(participant, room)
  }

  /// Ends the session of a participant that has stayed as long as it may.
  private func expire(_ participant: TwilioParticipant, _ room: TwilioServerRoom) {
    if let link = participant.link { refuse("53216", link) }
    ended[participant.session] = "53216"
    drop(participant, room)
  }

  private static func problem(room name: String, identity: String) -> String? {
    if name.isEmpty { return "53100" }
    if name.count > TwilioRoomRules.longestName { return "53101" }
    if TwilioRoomRules.hasInvalidCharacter(name) { return "53102" }
    if identity.isEmpty { return "53200" }
    if identity.count > TwilioRoomRules.longestName { return "53201" }
    return TwilioRoomRules.hasInvalidCharacter(identity) ? "53202" : nil
  }

  private func makeRoom(named name: String, rules: TwilioRoomRules? = nil) -> TwilioServerRoom {
    TwilioServerRoom(name, sid: next("RM"), rules: rules ?? TwilioRoomRules(), isAdHoc: rules == nil, environment)
  }

  /// An ad-hoc room ends with its last participant, and one of the REST API some time later.
  private func emptied(_ room: TwilioServerRoom) {
    if room.isAdHoc { return rooms.removeAll { $0 === room } }
    end(room, after: room.rules.emptyTimeout)
  }

  private func end(_ room: TwilioServerRoom, after timeout: Interval) {
    room.endTimer = environment.clock.schedule(after: timeout) { [weak self, weak room] in
      guard let self, let room, room.participants.isEmpty else { return }
      rooms.removeAll { $0 === room }
    }
  }

  /// Returns a participant with the answer to a description; nil if the description cannot be answered.
  private func participant(
    _ user: String, identity: String, _ message: MessageContent, _ description: JSON
  ) -> TwilioParticipant? {
    let participant = TwilioParticipant(
      user: user, identity: identity, sid: next("PA"), session: nextSession(), connections.make(to: user))
    participant.bandwidthProfile = message["bandwidth_profile"].flatMap(TwilioBandwidthProfile.init)
    participant.qualityScope = message["network_quality"]?.string.flatMap(TwilioQualityScope.init) ?? .none
    participant.wantsDominantSpeaker = message["dominant_speaker"]?.flag ?? false
    do throws(SessionError) { try participant.take(description) } catch {
      environment.malformed("connect: \(error)")
      participant.close()
      return nil
    }
    return participant
  }

  private func admit(
    _ participant: TwilioParticipant, on link: TwilioServerLink, to room: TwilioServerRoom, _ message: MessageContent,
    tracks: JSON
  ) {
    let negotiator = participant.negotiator
    link.participant = participant
    participant.link = link
    _ = room.publish(tracks, of: participant, refusing: policy.refusal)
    if let ice = message["ice"] { negotiator.receive(ice: ice) }
    negotiator.happened = { [weak participant, weak room] event in
      guard let participant else { return }
      if case .forwardingChange(let isPaused, let sender) = event { participant.setSwitchedOff(isPaused, of: sender) }
      room?.dataHappened(event, at: participant)
    }
    room.add(participant)
    participant.durationTimer = environment.clock.schedule(after: room.rules.duration) {
      [weak self, weak participant, weak room] in
      if let self, let participant, let room { expire(participant, room) }
    }
    participant.send(
      "connected",
      [
        ("session", .string(participant.session)), ("sid", .string(room.sid)),
        ("participant", ["sid": .string(participant.sid), "identity": .string(participant.identity)]),
        ("participants", room.others(than: participant)), ("published", participant.published),
        ("description", negotiator.description), ("ice", negotiator.ice),
        ("dominant_speaker", room.dominantSpeaker(for: participant)),
        ("options", ["session_timeout": .integer(Int64(Self.sessionTimeout.seconds))]),
      ])
    negotiator.changed = { [weak participant] part in
      if let participant { participant.send("update", participant.negotiator.fields(of: part)) }
    }
    _ = room.readTracks(of: participant)
    room.tracksChanged()
  }

  // MARK: Sessions

  private func synchronise(_ message: MessageContent, on link: TwilioServerLink) {
    guard let session = message["session"]?.string, let token = message["token"]?.string else {
      return refuse("53004", link)
    }
    let (identity, code) = TwilioToken.check(token, room: nil, at: seconds)
    if let code { return refuse(code, link) }
    for room in rooms {
      guard let participant = room.participants.first(where: { $0.session == session }) else { continue }
      if policy.refusal == .participantForgotten {
        refuse("53204", link)
        return drop(participant, room)
      }
      // A session is good for the participant and the room that its token names.
      guard participant.identity == identity, TwilioToken.check(token, room: room.name, at: seconds).code == nil else {
        return refuse("20106", link)
      }
      return resume(participant, room, message, on: link)
    }
    refuse(ended[session] ?? "53002", link)
  }

  private func resume(
    _ participant: TwilioParticipant, _ room: TwilioServerRoom, _ message: MessageContent, on link: TwilioServerLink
  ) {
    participant.sessionTimer?.cancel()
    if let old = participant.link, old !== link {
      old.participant = nil
      links.removeAll { $0 === old }
      old.drop()
    }
    participant.link = link
    link.participant = participant
    participant.changed(state: "connected")
    if let tracks = message["participant"] {
      _ = room.publish(tracks, of: participant, refusing: policy.refusal)
    }
    participant.send(
      "synced",
      [
        ("participants", room.others(than: participant)), ("published", participant.published),
        ("description", participant.negotiator.isOffering ? participant.negotiator.description : nil),
        ("ice", participant.negotiator.ice), ("switched_off", participant.switchedOffTracks),
        ("dominant_speaker", room.dominantSpeaker(for: participant)),
        ("network_quality", room.networkQuality(for: participant)),
      ])
    apply(message, of: participant)
    if room.refuseOtherCodecs(of: participant) { tellTracks(of: participant, room) } else { room.tell(of: participant) }
    _ = room.readTracks(of: participant)
    room.tracksChanged()
  }

  private func update(_ participant: TwilioParticipant, _ message: MessageContent, _ room: TwilioServerRoom) {
    let tracks = message["participant"]
    let isPublished = tracks.map { room.publish($0, of: participant, refusing: policy.refusal) } ?? false
    if isPublished { tellTracks(of: participant, room) }
    apply(message, of: participant)
    // Of a track whose description comes later, the codec is known only now.
    let isRefused = room.refuseOtherCodecs(of: participant)
    if isRefused { tellTracks(of: participant, room) }
    if room.readTracks(of: participant) || isPublished || isRefused { room.tracksChanged() }
  }

  private func tellTracks(of participant: TwilioParticipant, _ room: TwilioServerRoom) {
    participant.send("update", [("published", participant.published)])
    room.tell(of: participant)
  }

  private func apply(_ message: MessageContent, of participant: TwilioParticipant) {
    if let ice = message["ice"] { participant.negotiator.receive(ice: ice) }
    guard let description = message["description"] else { return }
    if let refusal = policy.refusal, let link = participant.link {
      let isRestart = participant.isRestart(description)
      if refusal == .descriptionFails || (refusal == .restartNotAllowed && isRestart) {
        return refuse(refusal.rawValue, link)
      }
    }
    do throws(SessionError) { try participant.take(description) } catch {
      environment.malformed("description of \(participant.identity): \(error)")
      if let link = participant.link { refuse("53403", link) }
    }
  }

  // MARK: The REST API and the account

  private func requested(_ text: String, on socket: SignallingSocket) {
    OperatorRequests.answer(
      TwilioWire.message(text), on: socket, environment, text: TwilioWire.text, carryOut: problem(of:))
  }

  /// Carries a request out, or returns why not.
  private func problem(of request: MessageContent) -> String? {
    if policy.take(request) { return nil }
    let name = request["room"]?.string ?? ""
    let existing = rooms.first { $0.name == name }
    switch request["request"]?.string {
    case "create-room":
      guard existing == nil else { return "there is a room '\(name)' already" }
      guard Self.problem(room: name, identity: "-") == nil else {
        return "a room's name has 1 to \(TwilioRoomRules.longestName) letters, and no control characters"
      }
      guard policy.mayCreate(beside: rooms) else { return "53119: the account has as many rooms as it may have" }
      let (rules, problem) = TwilioRoomRules.read(request)
      if let problem { return problem }
      let room = makeRoom(named: name, rules: rules)
      rooms.append(room)
      end(room, after: rules.unusedTimeout)
    case "complete-room":
      guard let existing else { return "there is no room '\(name)'" }
      complete(existing)
    default: return "there is no such request"
    }
    return nil
  }

  private func complete(_ room: TwilioServerRoom) {
    rooms.removeAll { $0 === room }
    for participant in room.participants {
      participant.send("disconnected", [("status", "completed")])
      ended[participant.session] = "53106"
      participant.link?.participant = nil
    }
    room.close()
  }
}
