internal import CallCore
public import VirtualPeer
internal import Vocabulary

/// The Vonage Video app: the user's actions, the app's own policy, and one session at a time.
public final class VonageApp: CallApp {
  private let environment: PeerEnvironment
  private let sdk: VonageSDK
  private var settings: VonageSettings { sdk.settings }
  private var session: VonageSession? { sdk.session }
  private var account: VonageAccount?
  /// The app's use of CallKit; nil without.
  private var calls: VonageCalls?

  /// Creates the app; it does nothing before ``start()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    sdk = VonageSDK(environment: environment)
    if settings.usesCallKit { calls = VonageCalls(self, environment) }
  }

  public func start() {
    sdk.start()
    if calls != nil { environment.pushKit.register() }
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    let values = action.values
    switch action.name {
    case "connect": try connect(to: values.text("session") ?? "")
    case "disconnect":
      guard let session, session.isLive else {
        environment.trace.raise("1010")
        throw ActionError("in no session")
      }
      if calls?.requests(.end, of: session.id) != true { session.disconnect() }
    case "publish", "unpublish", "subscribe", "unsubscribe": try performMedia(action)
    case "mute": try mute(true)
    case "unmute": try mute(false)
    case "accept", "decline": throw ActionError("nothing rings in the system's call UI")
    case "camera-off", "camera-on":
      guard try media().hasPictures else { throw ActionError("this device sends no video") }
      try media().setPublishes(video: action.name == "camera-on")
    case "subscribe-to-audio": try media().setReceives(audio: values.flag("wanted") ?? true)
    case "subscribe-to-video":
      guard environment.device.settings.hasVideo else { throw ActionError("the calls of this device have no video") }
      try media().setReceives(video: values.flag("wanted") ?? true)
    case "signal": try signal(values)
    case "force-disconnect": try live("1010").moderate("disconnect", values.text("user") ?? "")
    case "force-mute": try live("1010").moderate("mute", values.text("user") ?? "")
    default:
      let account = account ?? VonageAccount(environment)
      self.account = account
      try account.perform(action)
    }
  }

  private func performMedia(_ action: UserAction) throws(ActionError) {
    let name = action.values.text("name") ?? "main"
    let user = action.values.text("user") ?? ""
    switch action.name {
    case "publish": try live("publisher.1010").media.publish(name)
    case "unpublish": try live("1113").media.unpublish(name)
    case "unsubscribe": try live("1112").media.unsubscribe(from: user)
    default:
      let session = try live("subscriber.1010")
      let isOwn = user == environment.userID
      if isOwn, session.isRelayed {
        environment.trace.raise("subscriber.1600")
        throw ActionError("a relayed session brings nobody their own stream")
      }
      let streams =
        isOwn
        ? session.media.publishers.filter(\.isAnnounced).compactMap(\.stream)
        : session.streams.filter { $0.connection.user == user }.map(\.id)
      let new = streams.filter { stream in !session.media.subscribers.contains { $0.stream == stream } }
      guard !new.isEmpty else { throw ActionError("there is no stream to subscribe to") }
      for stream in new { try session.media.subscribe(to: stream) }
    }
  }

  /// The session, if there is one.
  private func live(_ code: String) throws(ActionError) -> VonageSession {
    guard let session, session.isLive else {
      environment.trace.raise(code)
      throw ActionError("in no session")
    }
    return session
  }

  private func media() throws(ActionError) -> VonageMedia {
    guard let session, session.isLive else { throw ActionError("in no session") }
    return session.media
  }

  private func mute(_ isMuted: Bool) throws(ActionError) {
    let media = try media()
    if calls?.requests(.setMuted(isMuted), of: media.session.id) != true { media.setPublishes(audio: !isMuted) }
  }

  private func connect(to name: String) throws(ActionError) {
    let session = try sdk.makeSession(name, delegate: self)
    if let calls { calls.start(name) } else { begin(session) }
  }

  private func begin(_ session: VonageSession) {
    session.onConnected = { [weak self] in self?.calls?.connected($0) }
    session.onEnd = { [weak self] in self?.calls?.ended($0, byUser: $1) }
    session.connect()
  }

  private func signal(_ values: NamedValues) throws(ActionError) {
    let session = try live("1010")
    var to: String?
    if let user = values.text("to") {
      let everybody = [session.own].compactMap(\.self) + session.connections
      guard let connection = everybody.last(where: { $0.user == user }) else {
        throw ActionError("not in the session")
      }
      to = connection.id
    }
    guard values.text("data") == nil || values.count("size") == nil else {
      throw ActionError("a signal has data of its own, or made up of a size")
    }
    let size = Int(min(values.count("size") ?? 0, 100_000))
    try session.signal(
      VonageSignal(
        type: values.text("type") ?? "", data: values.text("data") ?? String(repeating: "x", count: size),
        retriesAfterReconnect: values.flag("retry-after-reconnect") ?? true, to: to))
  }

  // MARK: CallKit

  public func perform(_ action: CallKitAction) -> Bool { calls?.perform(action) ?? false }

  public func callKitChanged(_ change: CallKitChange) { calls?.changed(change) }

  public func received(_ push: VoIPPush) { calls?.received(push) }

  var isInSession: Bool { session?.isLive ?? false }

  /// Connects to a session for CallKit.
  ///
  /// - Returns: false if that cannot be.
  func begin(_ id: String) -> Bool {
    do throws(ActionError) {
      begin(try sdk.makeSession(id, delegate: self))
      return true
    } catch {
      return false
    }
  }

  /// Leaves a session for CallKit.
  func end(_ id: String) { if let session, session.isLive, session.id == id { session.disconnect() } }

  func setMuted(_ isMuted: Bool) -> Bool {
    guard let session, session.isLive else { return false }
    session.media.setPublishes(audio: !isMuted)
    return true
  }

  public func networkChanged() { sdk.networkChanged() }

  public func deviceChanged(_ change: DeviceChange) { sdk.deviceChanged(change) }

  public func shutDown() {
    sdk.shutDown()
    calls?.shutDown()
    account?.shutDown()
  }
}

/// The app publishes when it is connected and subscribes to what others publish, if the settings say so.
extension VonageApp: VonageSessionDelegate {
  public func sessionDidConnect(_ session: VonageSession) {
    guard session.state == .connected, settings.publishes, session.role != .subscriber else { return }
    try? session.publish()
  }

  public func session(_ session: VonageSession, streamCreated stream: VonageStream) {
    if settings.subscribes, session.state == .connected { session.media.subscribeIfNew(to: stream.id) }
  }
}

/// The settings of the scenario.
struct VonageSettings {
  /// Who makes the pictures.
  enum Capturer: String, CaseIterable {
    /// The device's camera.
    case camera
    /// The app.
    case custom
  }

  let token: VonageToken.Kind
  let role: VonageRole
  /// Whether the app publishes when it is connected, and subscribes to each stream.
  let publishes: Bool
  let subscribes: Bool
  let capturer: Capturer
  /// Whether the router may take the video of a publisher from a subscriber with a bad network.
  let fallsBack: Bool
  /// Whether the app makes views in the background, where the system draws none.
  let makesViewsInBackground: Bool
  let usesCallKit: Bool

  static let callKit = "callkit"

  init(_ environment: PeerEnvironment) {
    let values = environment.settings
    token = values.text("token").flatMap(VonageToken.Kind.init) ?? .valid
    role = values.text("role").flatMap(VonageRole.init) ?? .publisher
    publishes = values.flag("publishes") ?? true
    subscribes = values.flag("subscribes") ?? true
    capturer = values.text("capturer").flatMap(Capturer.init) ?? .camera
    fallsBack = values.flag("audio-fallback") ?? true
    makesViewsInBackground = values.flag("views-in-background") ?? false
    usesCallKit = values.flag(Self.callKit) ?? false
  }
}

/// What an operator does by the REST API and in the account.
struct VonageAccount {
  private let requests: OperatorRequests

  init(_ environment: PeerEnvironment) {
    requests = OperatorRequests(environment, to: "session", text: VonageWire.text, message: VonageWire.message)
  }

  func perform(_ action: UserAction) throws(ActionError) {
    let values = action.values
    switch action.name {
    case "create-session":
      requests.send(
        action,
        [("session", values.text("session").map(JSON.string)), ("mode", values.text("mode").map(JSON.string))])
    case "set-limit":
      requests.send(
        action,
        [("what", values.text("what").map(JSON.string)), ("count", values.count("count").map(JSON.integer))])
    case "set-refusal": requests.send(action, [("code", values.text("code").map(JSON.string))])
    case "invite":
      requests.send(
        action,
        [("session", values.text("session").map(JSON.string)), ("user", values.text("user").map(JSON.string))])
    default: throw ActionError("unknown action '\(action.name)'")
    }
  }

  func shutDown() { requests.shutDown() }
}
