public import CallCore
internal import DTLS
public import PeerSession
public import SimNet
public import Statistics
public import Vocabulary

/// One peer of a world: an app on a device on a host of the simulated network.
public final class VirtualPeer {
  /// The scenario's configuration of a peer, apart from its network.
  public struct Configuration {
    /// The peer's name.
    public var name: String
    /// The user ids of the world's peers, including this one's. A peer without an entry has its name as user id.
    public var userIDs: [String: String] = [:]
    /// The peer's wall clock.
    public var wallClock = WallClock()
    /// The settings of the peer's device.
    public var device = Device.Settings()
    /// The configuration of the peer's call sessions.
    public var session: SessionConfiguration
    /// Settings the profile's vocabulary declares.
    public var settings = NamedValues([])
    /// The servers of the peer's profile, by the names that its vocabulary declares.
    public var servers: [String: Server]
    /// The data channels that the peer's app opens.
    public var dataChannels: [DeclaredDataChannel] = []
    /// The labels of the world's data channels, which others may announce.
    public var dataChannelLabels: [String] = []
    /// The account of what is sent on them, shared by all peers of the world.
    package var dataChannelLedger = DataChannelLedger()
    /// The scenario's names for the peer's interfaces, which are unique, with the names of their links.
    public var interfaceNames: [(link: String, name: String)] = []

    /// A server of the peer's profile.
    public struct Server: Hashable, Sendable {
      /// The name of its host.
      public var name: String
      /// The address at which it listens.
      public var endpoint: Endpoint

      /// The name that its certificate must have; nil for a server that is reached without TLS.
      public var secureName: String?

      /// Creates a server.
      public init(name: String, endpoint: Endpoint) {
        self.name = name
        self.endpoint = endpoint
      }
    }

    /// Creates a configuration with default values for the rest.
    public init(name: String, session: SessionConfiguration, servers: [String: Server]) {
      self.name = name
      self.session = session
      self.servers = servers
    }
  }

  /// The peer's name.
  public let name: String
  /// The host that the peer runs on.
  public let host: HostID
  /// The peer's device.
  public let device: Device
  package let runtime: HostRuntime
  /// Whether the device neither plays nor records now: the app is suspended, or its audio unit stopped.
  package var isAudioStandingStill: Bool { runtime.isSuspended || !device.isAudioRunning }
  /// The states of the app, as its system sees it.
  package private(set) var lifecycle: AppLifecycle!
  private let callKit: CallKit
  private let pushKit: PushKit
  /// The user's id at the servers.
  let userID: String
  /// The running app; nil while there is no process.
  private var app: (any CallApp)?
  private var makeApp: ((PeerTasks) -> any CallApp)!
  private var launchCount = 0
  package let connections: PeerConnectionFactory
  private var tasks: PeerTasks
  private let trace: Trace
  private let subject: TraceSubject
  private let peerTrace: PeerTrace
  private let interfaceNames: [(link: String, name: String)]
  private let userIDs: [String: String]
  private let vocabulary: ProfileVocabulary
  private var preferredNetwork: String?
  private var actionCount = 0
  /// Who is told when an action is refused that the app has begun, by the action's number.
  private var lateRefusals: [Int: (ActionError) -> Void] = [:]
  /// The record of the microphone and the speaker, sample by sample.
  package let audioRecord: AudioRecord
  /// The capture times of the camera's pictures, and what the screen shows.
  package let videoRecord: VideoRecord
  /// The data channels of the scenario; nil without any.
  package let dataChannels: DataChannels?
  private var isShutDown = false

  /// Puts an app of the given type on `host`. Nothing happens before ``start()``.
  ///
  /// - Parameters:
  ///   - keyLog: Receives the DTLS secrets, line by line.
  ///   - heard: Receives every sample that the speaker plays.
  ///   - recorded: Receives every file that the app records.
  public convenience init(
    _ configuration: Configuration, app type: any CallApp.Type, on host: HostID, of simulator: Simulator,
    keyLog: ((String) -> Void)? = nil, heard: ((Span<Int16>) -> Void)? = nil,
    recorded: ((_ name: String, _ bytes: [UInt8]) -> Void)? = nil
  ) {
    self.init(
      configuration, app: type, stack: SessionStack(), on: host, of: simulator, keyLog: keyLog, heard: heard,
      recorded: recorded)
  }

  /// Puts an app on `host` with another media stack below it.
  package init(
    _ configuration: Configuration, app type: any CallApp.Type, stack: any MediaStack, on host: HostID,
    of simulator: Simulator, keyLog: ((String) -> Void)? = nil, heard: ((Span<Int16>) -> Void)? = nil,
    recorded: ((_ name: String, _ bytes: [UInt8]) -> Void)? = nil
  ) {
    name = configuration.name
    interfaceNames = configuration.interfaceNames
    userIDs = configuration.userIDs
    vocabulary = type.vocabulary
    self.host = host
    trace = simulator.trace
    subject = trace.subject(name)
    // A condition must have a value before the first change.
    trace.write(PeerEvents.accepted, subject, false)
    runtime = HostRuntime(simulator: simulator, host: host, wallClock: configuration.wallClock)
    device = Device(settings: configuration.device, trace: trace, peer: name)
    let random = simulator.random.scoped("peer").scoped(name)
    let connectionEnvironment = ConnectionEnvironment(
      clock: runtime.clock, network: runtime.network, device: device, random: random,
      media: configuration.session.media, trace: trace, keyLog: keyLog, heard: heard)
    connectionEnvironment.recordingFiles = RecordingFiles(of: name, recorded)
    audioRecord = connectionEnvironment.audioRecord
    videoRecord = connectionEnvironment.videoRecord
    dataChannels =
      configuration.dataChannelLabels.isEmpty
      ? nil
      : DataChannels(
        of: name, declared: configuration.dataChannels, labels: configuration.dataChannelLabels,
        ledger: configuration.dataChannelLedger, clock: runtime.clock, trace: trace)
    connectionEnvironment.dataChannels = dataChannels
    let peers = PeerNames(configuration.userIDs, servers: configuration.servers.mapValues(\.name))
    connections = PeerConnectionFactory(
      configuration: configuration.session, environment: connectionEnvironment, owner: name,
      names: vocabulary.connections, remotes: peers, stack: stack)
    tasks = PeerTasks(clock: runtime.clock)
    callKit = CallKit(device: device, clock: runtime.system, trace: trace, subject: subject)
    pushKit = PushKit(
      callKit: callKit, mayReceive: configuration.device.hasBackgroundVoIP, clock: runtime.system, trace: trace,
      subject: subject)
    userID = configuration.userIDs[name] ?? name
    peerTrace = PeerTrace(trace: trace, peer: name, vocabulary: type.vocabulary, peers: peers)
    makeApp = { [unowned self] tasks in
      launchCount += 1
      return type.init(
        environment: PeerEnvironment(
          name: name, userID: userID, launchCount: launchCount, clock: runtime.clock, tasks: tasks,
          random: random.scoped(launchCount == 1 ? "app" : "app/\(launchCount)"), network: runtime.network,
          device: device, callKit: callKit, pushKit: pushKit, connections: connections, trace: peerTrace,
          settings: configuration.settings, servers: configuration.servers.mapValues(\.endpoint),
          onRefusal: { [unowned self] in refused($0, $1) }))
    }
    app = makeApp(tasks)
    lifecycle = AppLifecycle(
      runtime: runtime, device: device, callKit: callKit, trace: trace, subject: subject,
      process: .init(
        tell: { [unowned self] in app?.deviceChanged($0) }, launch: { [unowned self] in launch() },
        end: { [unowned self] in endProcess() }))
    callKit.perform = { [unowned self] action in
      lifecycle.wake()
      return app?.perform(action) ?? false
    }
    callKit.tell = { [unowned self] change in
      lifecycle.wake()
      app?.callKitChanged(change)
    }
    pushKit.deliver = { [unowned self] push in
      lifecycle.wake()
      app?.received(push)
    }
    pushKit.terminate = { [unowned self] in lifecycle.terminate() }
    runtime.onInterfacesChanged = { [unowned self] in interfacesChanged() }
    secureServers(configuration, random: random, keyLog: keyLog)
  }

  /// The number of TLS connections to servers of the app.
  private var securedCount = 0

  /// Lets the app reach by TLS the servers that are configured so.
  private func secureServers(_ configuration: Configuration, random: RandomSource, keyLog: ((String) -> Void)?) {
    let secured = configuration.servers.values.filter { $0.secureName != nil }
    guard !secured.isEmpty else { return }
    let context = TLSContext(client: configuration.session.tls)
    for server in secured {
      runtime.network.secure(server.endpoint) { [unowned self, clock = runtime.clock, trace, name] in
        securedCount += 1
        let connection = TLSConnection(
          client: context, serverName: server.secureName ?? "",
          entropy: Entropy(random, stream: "signalling-tls/\(securedCount)"), wallClock: clock.wallClock, at: clock.now)
        return StreamTLS(
          connection, with: server.endpoint, clock: clock, trace: TLSTrace(trace, subject: name), keyLog: keyLog)
      }
    }
  }

  /// Launches the app.
  public func start() {
    traceNetwork()
    app?.start()
  }

  // MARK: The app's process

  private func launch() {
    tasks = PeerTasks(clock: runtime.clock)
    let app = makeApp(tasks)
    self.app = app
    app.start()
  }

  /// Ends the app's process without a word to the app: its kernel closes what it had open.
  private func endProcess() {
    tasks.abandon()
    runtime.endProcess { connections.processEnded() }
    pushKit.processEnded()
    callKit.processEnded()
    device.processEnded()
    app = nil
    peerTrace.processEnded()
  }

  /// Takes a VoIP push from the push service, which reaches the device after its delay.
  func push(_ payload: [String: String]) {
    guard pushKit.isRegistered, !isShutDown else { return }
    runtime.system.schedule(after: device.settings.pushDelay) { [unowned self] in
      guard !isShutDown else { return }
      let isOnline = !runtime.network.activeInterfaces.isEmpty
      if !isOnline { runtime.network.noteUnreachable() }
      pushKit.receive(payload, isOnline: isOnline)
    }
  }

  // MARK: Actions

  /// Performs a user action. If the app refuses, the reason is written into the trace.
  ///
  /// - Parameter refusedLater: Called once if a server refuses what the app has begun.
  /// - Returns: The reason for which the app refused, or nil.
  @discardableResult
  public func perform(_ action: UserAction, refusedLater: ((ActionError) -> Void)? = nil) -> ActionError? {
    actionCount += 1
    var action = action
    action.number = actionCount
    lateRefusals[action.number] = refusedLater
    let declaration = CommonVocabulary.actions.first { $0.name == action.name } ?? vocabulary.action(action.name)
    let object = declaration?.object.map { action.values.texts($0).joined(separator: ", ") } ?? ""
    trace.write(PeerEvents.action, subject, action.name, object)
    do throws(ActionError) {
      if action.name == CommonVocabulary.switchNetwork.name {
        try switchNetwork(to: action.values.text("to") ?? "")
      } else if DataChannelVocabulary.actions.contains(where: { $0.name == action.name }) {
        guard let dataChannels else { throw ActionError("there are no data channels") }
        try dataChannels.perform(action, on: connections.openSubjects)
      } else if callKit.shows(declaration?.role, isSeen: isSeen) {
        guard action.values.all.isEmpty else {
          throw ActionError("the system's call UI takes no '\(action.values.all[0].name)'")
        }
        callKit.touch(declaration?.role, isSeen: isSeen)
      } else if runtime.isSuspended {
        throw ActionError("the app is suspended")
      } else if let app {
        try app.perform(withUserIDs(action))
      } else {
        throw ActionError("the app is not running")
      }
      return nil
    } catch {
      lateRefusals[action.number] = nil
      trace.write(PeerEvents.actionRefused, subject, action.name, error.reason)
      return error
    }
  }

  private func refused(_ action: UserAction, _ error: ActionError) {
    trace.write(PeerEvents.actionRefused, subject, action.name, error.reason)
    lateRefusals.removeValue(forKey: action.number)?(error)
  }

  /// Whether the app is before the user.
  private var isSeen: Bool { lifecycle.state == .active }

  /// Replaces peer names by user ids: scenarios name peers, apps know users.
  private func withUserIDs(_ action: UserAction) -> UserAction {
    guard !userIDs.isEmpty, let declaration = vocabulary.actions.first(where: { $0.name == action.name }) else {
      return action
    }
    let peers = declaration.parameters.filter { [.peer, .peers].contains($0.type) }.map(\.name)
    let values = action.values.all.map { entry in
      (entry.name, peers.contains(entry.name) ? withUserIDs(entry.value) : entry.value)
    }
    var renamed = UserAction(action.name, NamedValues(values))
    renamed.number = action.number
    return renamed
  }

  private func withUserIDs(_ value: ArgumentValue) -> ArgumentValue {
    switch value {
    case .text(let peer): .text(userIDs[peer] ?? peer)
    case .list(let peers): .list(peers.map(withUserIDs))
    default: value
    }
  }

  private func switchNetwork(to name: String) throws(ActionError) {
    guard runtime.network.activeInterfaces.first?.name != link(named: name) else {
      throw ActionError("'\(name)' is in use already")
    }
    guard runtime.network.prefer(link(named: name)) else { throw ActionError("there is no interface '\(name)'") }
    interfacesChanged()
  }

  private func link(named name: String) -> String { interfaceNames.first { $0.name == name }?.link ?? name }

  private func interfacesChanged() {
    traceNetwork()
    guard !isShutDown else { return }
    connections.interfacesChanged()
    app?.networkChanged()
  }

  /// Writes the interface that the device prefers now.
  private func traceNetwork() {
    let link = runtime.network.activeInterfaces.first?.name ?? CommonVocabulary.noNetwork
    let name = interfaceNames.first { $0.link == link }?.name ?? link
    guard name != preferredNetwork else { return }
    preferredNetwork = name
    trace.write(PeerEvents.network, subject, name)
  }

  /// Ends the app and releases everything it holds.
  public func shutDown() {
    isShutDown = true
    device.isShutDown = true
    lifecycle.shutDown()
    callKit.shutDown()
    dataChannels?.shutDown()
    app?.shutDown()
    tasks.shutDown()
    for connection in connections.openConnections { connection.close() }
  }

  /// Makes DTLS of every open connection fail. Returns the number of those that had not ended.
  package func failDTLS() -> Int {
    connections.openConnections.count { ($0 as? SessionConnection)?.failDTLS() ?? false }
  }

  /// Makes the data channels that the peer has opened fail. Returns their number.
  package func failDataChannels() -> Int {
    connections.openConnections.reduce(0) { $0 + (($1 as? SessionConnection)?.failDataChannels() ?? 0) }
  }

  /// Steps the peer's wall clock. It applies to TLS connections made from now on; RTCP reports and statistics keep the
  /// date with which their peer connection began.
  package func jumpClock(by interval: Interval) {
    runtime.clock.jump(by: interval)
    connections.setWallClock(runtime.clock.wallClock)
  }

  /// Returns the statistics of the newest open connection, or nil if there is none.
  public func statistics() -> StatsReport? { connections.openConnections.last?.statistics() }

  /// Called with the trace subject of a connection before something that may end streams of it, or all when it is closed.
  package var streamsMayEnd: ((_ subject: String, _ isClosing: Bool) -> Void)? {
    get { connections.streamsMayEnd }
    set { connections.streamsMayEnd = newValue }
  }

  /// Returns the statistics of open connections, by trace subject: the peer's own if the profile has a single
  /// connection.
  package func reports(where isWanted: (String) -> Bool) -> [(subject: String, report: StatsReport)] {
    connections.reports(where: isWanted)
  }

  /// Returns the statistics of the open connection with a trace subject.
  package func statistics(of subject: String) -> StatsReport? {
    connections.reports { $0 == subject }.first?.report
  }

  /// The number of timers not yet fired or cancelled: zero after ``shutDown()``.
  public var pendingTimerCount: Int { runtime.clock.pendingCount }

  /// Descriptions of the resources that the app still holds: empty after ``shutDown()`` once streams had time to end.
  package var leftovers: [String] {
    let counts = [
      (pendingTimerCount, "timer"), (tasks.openCount, "task"), (openConnectionCount, "peer connection"),
      (runtime.network.simulator.openSocketCount(of: host), "socket"), (runtime.network.openStreamCount, "stream"),
    ]
    var phrases = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s") left" }
    if device.isAudioRunning { phrases.append("its microphone and speaker are still open") }
    if device.audioSession.isActive { phrases.append("its audio session is still active") }
    return phrases
  }

  /// The number of connections made so far that depend on the clock: peer connections, whose sender reports have the date, and
  /// TLS connections to TURN servers and to those of the app.
  package var madeConnectionCount: Int { connections.madeCount + securedCount }
  /// How often the app has asked for its date.
  package var dateReadCount: Int { runtime.clock.readCount }

  /// The number of peer connections that are open.
  public var openConnectionCount: Int { connections.openConnections.count }
}
