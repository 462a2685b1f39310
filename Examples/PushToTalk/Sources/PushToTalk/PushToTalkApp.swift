import CallSim

/// The walkie-talkie app. Its call logic is async code on the virtual clock: one task for the time in a channel, one for
/// each request for the floor.
public final class PushToTalkApp: CallApp {
  private let environment: PeerEnvironment
  private var link: Link?
  private var linkCount = 0
  private var members: [Member] = []
  private var test: EchoTest?
  /// Resumed when the floor is granted or refused.
  private var decision: AsyncStream<Bool>.Continuation?

  private var trace: PeerTrace { environment.trace }
  private var channelState: String { trace.state(of: "channel.state") ?? "off" }
  private var floorState: String { trace.state(of: "floor.state") ?? "silent" }

  public init(environment: PeerEnvironment) { self.environment = environment }

  public func start() {
    trace.set("floor.holder", "nobody")
    trace.set("members.count", 0)
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    switch action.name {
    case "join":
      guard channelState == "off" else { throw ActionError("already in a channel") }
      guard test == nil else { throw ActionError("end the test first") }
      trace.enter("channel.state", "joining", on: "join")
      trace.set("user.accepted", true)
      join(action.values.text("channel") ?? "")
    case "leave":
      guard channelState != "off" else { throw ActionError("in no channel") }
      link?.send("leave")
      leave("left", on: "leave")
    case "push":
      guard channelState == "joined", floorState == "silent" else { throw ActionError("cannot talk now") }
      trace.enter("floor.state", "asking", on: "push")
      askForFloor()
    case "release":
      guard floorState != "silent" else { throw ActionError("the button is up") }
      link?.send("release")
      silence(on: "release")
    case "test":
      guard channelState == "off", test == nil else { throw ActionError("not now") }
      trace.set("user.accepted", true)
      test = EchoTest(environment)
    case "end-test":
      guard test != nil else { throw ActionError("there is no test") }
      endTest()
    default: throw ActionError("unknown action '\(action.name)'")
    }
  }

  public func networkChanged() {}

  public func shutDown() {
    if test != nil { endTest() }
    if channelState != "off" { leave("left", on: "leave") }
  }

  private func endTest() {
    test?.end()
    test = nil
    trace.set("user.accepted", false)
    trace.end("tested")
  }

  // MARK: The channel

  private static let joinTimeout = Interval.seconds(10)

  /// Asks to be let in. A task begins later than the action that starts it, which another may follow at once: what the
  /// user did is sent at once, and the task waits for what comes of it.
  private func join(_ channel: String) {
    linkCount += 1
    let link = Link(to: "dispatch", environment, number: linkCount)
    self.link = link
    link.send("join", [JSON.Member("channel", .string(channel))])
    environment.tasks.start { await self.stay(on: link) }
  }

  /// Lasts to the end of the link.
  private func stay(on link: Link) async {
    let timeout = environment.clock.schedule(after: Self.joinTimeout) { [weak self, weak link] in
      guard let self, let link, self.link === link else { return }
      leave("no-answer", on: "leave or failure")
    }
    defer { timeout.cancel() }
    for await message in link.messages {
      if message.type == "members" { timeout.cancel() }
      received(message, link)
    }
    if self.link === link { leave("server-lost", on: "leave or failure") }
  }

  private func received(_ message: MessageContent, _ link: Link) {
    switch message.type {
    case "members" where channelState == "joining":
      configureAudio()
      trace.enter("channel.state", "joined", on: "members")
      for user in message["users"]?.array?.compactMap(\.string) ?? [] { add(user, link).offer() }
    case "offer":
      guard let user = message["from"]?.string, channelState == "joined" else { return }
      add(user, link).received(message)
    case "answer", "candidate": members.first { $0.user == message["from"]?.string }?.received(message)
    case "left": remove(message["from"]?.string)
    case "floor": floorChanged(to: message["holder"]?.string)
    default: trace.event("message.rejected", "reason", "unexpected \(message.type)")
    }
  }

  private func configureAudio() {
    environment.device.configureAudioSession(category: .playAndRecord, mode: .voiceChat, options: [])
    environment.device.setAudioSessionActive(true)
  }

  private func add(_ user: String, _ link: Link) -> Member {
    remove(user)
    let member = Member(user, environment, link)
    members.append(member)
    trace.set("members.count", members.count)
    return member
  }

  private func remove(_ user: String?) {
    for member in members where member.user == user { member.connection.close() }
    members.removeAll { $0.user == user }
    trace.set("members.count", members.count)
  }

  private func leave(_ code: String, on event: String) {
    silence(on: "release or leave")
    for member in members { member.connection.close() }
    members = []
    trace.set("members.count", 0)
    trace.set("floor.holder", "nobody")
    let link = link
    self.link = nil
    link?.close()
    environment.device.setAudioSessionActive(false)
    trace.set("user.accepted", false)
    trace.enter("channel.state", "off", on: event)
    trace.end(code)
  }

  // MARK: The floor

  private func askForFloor() {
    let (answers, decision) = AsyncStream.makeStream(of: Bool.self)
    self.decision = decision
    link?.send("push")
    environment.tasks.start { await self.talk(after: answers, decision) }
  }

  /// Talks once the floor is granted.
  private func talk(after answers: AsyncStream<Bool>, _ decision: AsyncStream<Bool>.Continuation) async {
    let timeout = environment.clock.schedule(after: environment.settings.duration("floor-timeout") ?? .seconds(2)) {
      [weak self] in
      // The grant may be under way.
      self?.link?.send("release")
      decision.yield(false)
    }
    defer { timeout.cancel() }
    for await isGranted in answers {
      guard floorState == "asking" else { return }
      guard isGranted else { return silence(on: "refusal, release or timeout") }
      trace.enter("floor.state", "talking", on: "floor granted")
      for member in members { member.connection.setTrackEnabled(true) }
      return
    }
  }

  private func floorChanged(to holder: String?) {
    trace.set("floor.holder", holder ?? "nobody")
    guard let holder else { return }
    decision?.yield(holder == environment.userID)
  }

  private func silence(on event: String) {
    decision?.finish()
    decision = nil
    guard floorState != "silent" else { return }
    for member in members { member.connection.setTrackEnabled(false) }
    trace.enter("floor.state", "silent", on: event)
  }
}
