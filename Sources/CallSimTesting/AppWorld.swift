public import CallSim

/// Devices with one profile's app and its servers on one network, in virtual time: a fixture for tests of an app.
///
/// ```swift
/// let world = try AppWorld(Profile(app: WalkieApp.self, server: WalkieServer.self))
/// try world.perform("alice", "push", ["to": .text("bob")])
/// world.run(for: .seconds(2))
/// #expect(world.value("call.state", of: "bob") == "talking")
/// #expect(world.shutDown() == [])
/// ```
///
/// Virtual time passes only while a `run` method is called. To test NATs, losses, faults and relays, use scenarios.
public final class AppWorld {
  /// The test's own clock: virtual time, and timers.
  public var clock: PeerClock { runtime.clock }
  /// Runs async code of the test in virtual time.
  public let tasks: PeerTasks
  private let simulator: Simulator
  private let runtime: HostRuntime
  private var servers: [CallServerHost] = []
  private var endpoints: [String: VirtualPeer.Configuration.Server] = [:]
  private var peers: [VirtualPeer] = []
  private let pushes = PushService()
  private let log = ValueLog()

  /// Starts the servers and the apps, and runs for a second of virtual time.
  ///
  /// - Parameters:
  ///   - peers: The names of the devices and of their users.
  ///   - delay: The delay of a packet between a device or a server and the network, in each direction.
  ///   - settings: The settings that the profile's vocabulary declares, by device.
  /// - Throws: ``UnfitProfile``, or an error of the network, such as two devices with one name.
  public init(
    _ profile: Profile, peers names: [String] = ["alice", "bob"], seed: UInt64 = 1,
    delay: Interval = .milliseconds(20), settings: [String: NamedValues] = [:]
  ) throws {
    _ = try ProfileCatalogue([profile])
    let trace = Trace()
    trace.add(log)
    let simulator = Simulator(trace: trace, random: RandomSource(seed: seed))
    self.simulator = simulator
    let network = try simulator.addNetwork("network", prefixes: [Self.prefix])
    func addHost(_ name: String) throws -> HostID {
      let host = try simulator.addHost(name)
      let link = LinkSettings(delay: delay)
      try simulator.attach(host, to: network, link: name, type: .wifi, tx: link, rx: link)
      return host
    }
    let userIDs = Dictionary(names.map { ($0, $0) }) { first, _ in first }
    func session(of name: String) -> SessionConfiguration {
      let certificate = Certificate.generate(
        name: name, entropy: .stream(simulator.random.stream("certificate/\(name)")), wallClock: WallClock())
      var session = SessionConfiguration(certificate: certificate, cname: name)
      session.media = .synthetic
      return session
    }
    for declared in profile.vocabulary.servers {
      guard let type = profile.servers[declared.name] else { continue }
      let host = try addHost(declared.name)
      let address = simulator.interfaces(of: host)[0].addresses[0]
      endpoints[declared.name] = .init(
        name: declared.name, endpoint: Endpoint(address, port: CallServerHost.port))
      servers.append(
        CallServerHost(
          server: type, messages: profile.vocabulary.messages,
          runtime: HostRuntime(simulator: simulator, host: host, wallClock: WallClock()),
          media: declared.opensConnections
            ? .init(session: session(of: declared.name), userIDs: userIDs) : nil,
          pushes: pushes, random: simulator.random.scoped("server").scoped(declared.name), trace: trace,
          name: declared.name))
    }
    runtime = HostRuntime(simulator: simulator, host: try addHost("test"), wallClock: WallClock())
    tasks = PeerTasks(clock: runtime.clock)
    for server in servers { server.start() }
    for name in names {
      var configuration = VirtualPeer.Configuration(name: name, session: session(of: name), servers: endpoints)
      configuration.userIDs = userIDs
      configuration.settings = settings[name] ?? NamedValues([])
      peers.append(VirtualPeer(configuration, app: profile.app, on: try addHost(name), of: simulator))
    }
    for peer in peers {
      pushes.add(peer)
      peer.start()
    }
    run(for: .seconds(1))
  }

  private static let prefix = IPPrefix("203.0.113.0/24")!

  // MARK: Time

  /// Runs for an interval of virtual time.
  public func run(for interval: Interval) { simulator.run(until: simulator.now + interval) }

  /// Runs async code of the test until it ends. It can await ``clock`` to wait in virtual time.
  ///
  /// - Returns: Whether it ended within the limit; otherwise it is cancelled.
  @discardableResult
  public func run(within limit: Interval = .seconds(600), _ body: @escaping () async -> Void) -> Bool {
    let end = simulator.now + limit
    var isDone = false
    let task = tasks.start {
      await body()
      isDone = true
    }
    while !isDone, let next = simulator.nextEventTime, next <= end { simulator.step() }
    defer {
      task.cancel()
      run(for: .zero)
    }
    return isDone
  }

  // MARK: Users

  /// Performs a user action.
  ///
  /// - Throws: The reason for which the app refuses.
  public func perform(
    _ peer: String, _ action: String, _ values: KeyValuePairs<String, ArgumentValue> = [:]
  ) throws(ActionError) {
    let action = UserAction(action, NamedValues(values.map { ($0.key, $0.value) }))
    if let refusal = device(peer).perform(action) { throw refusal }
  }

  /// Opens a WebSocket to a server; only the test sends on it.
  ///
  /// - Parameters:
  ///   - name: The server's name in the vocabulary; nil for the first one declared.
  ///   - subprotocol: The protocol that the server speaks (RFC 6455 section 1.9); nil for none.
  public func connectToServer(
    _ name: String? = nil, path: String = "/", subprotocol: String? = nil
  ) -> WebSocketChannel {
    guard let server = (name ?? servers.first?.name).flatMap({ endpoints[$0] }) else {
      preconditionFailure("the profile has no server '\(name ?? "")'")
    }
    return WebSocketChannel(
      stream: runtime.network.connect(to: server.endpoint),
      socket: WebSocket(
        .client, host: server.name, path: path, subprotocol: subprotocol,
        random: simulator.random.stream("test/socket")))
  }

  // MARK: Results

  /// Returns all values of a device or of one of its connections from the beginning, in order: states of machines
  /// (`call.state`), values that its app sets, and those of every device (`ice.state`).
  ///
  /// - Parameter peer: A device, or a connection by the name that scenarios give it, such as `alice.to.bob`.
  public func values(_ name: String, of peer: String) -> [String] {
    let parts = peer.split(separator: ".")
    if let owner = parts.first, !endpoints.keys.contains(String(owner)) { _ = device(String(owner)) }
    let subject = parts.joined(separator: "/")
    return log.entries.filter { $0.peer == subject && $0.name == name }.map(\.value)
  }

  /// Returns the current value of a device or connection; nil if it was never set.
  public func value(_ name: String, of peer: String) -> String? { values(name, of: peer).last }

  /// The hash of the run: the same code gives the same hash.
  public var traceHash: UInt64 { simulator.trace.hash }

  /// Ends the apps, then the servers, and waits for packets and timers.
  ///
  /// - Returns: Descriptions of resources that were not released; empty if all were.
  public func shutDown() -> [String] {
    for peer in peers { peer.shutDown() }
    run(for: .seconds(10))
    for server in servers { server.shutDown() }
    tasks.shutDown()
    let lines = peers.flatMap { peer in peer.leftovers.map { "\(peer.name): \($0)" } }
    return lines
      + servers.filter { $0.openTaskCount > 0 }.map { "\($0.name): \($0.openTaskCount) tasks left" }
  }

  private func device(_ name: String) -> VirtualPeer {
    guard let peer = peers.first(where: { $0.name == name }) else {
      preconditionFailure(
        "there is no '\(name)' in this world; there are: \(peers.map(\.name).joined(separator: ", "))")
    }
    return peer
  }
}

/// Stores the values of every device.
private final class ValueLog: TraceObserver {
  private(set) var entries: [(peer: String, name: String, value: String)] = []

  func observe(_ record: TraceRecord, in trace: Trace) {
    guard let value = trace.value(of: record) else { return }
    entries.append((trace.name(of: record.subject), trace.name(of: record.kind), "\(value)"))
  }
}
