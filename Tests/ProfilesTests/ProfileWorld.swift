import CallCore
import DTLS
import PeerSession
import SimNet
import Testing
import VirtualPeer
import Vocabulary

@testable import Profiles

/// Users of a profile with one server, on one network in virtual time. Where the device has video, so have they and a
/// server that opens connections.
class ProfileWorld {
  let simulator: Simulator
  let server: CallServerHost
  private(set) var peers: [VirtualPeer] = []
  let serverEndpoint: Endpoint
  /// A host for clients that are no app of ours.
  let strangers: HostRuntime
  private let log = StateLog()

  private final class StateLog: TraceObserver {
    var entries: [(time: Instant, subject: String, kind: String, fields: [String])] = []

    func observe(_ record: TraceRecord, in trace: Trace) {
      let kind = trace.name(of: record.kind)
      guard !kind.hasPrefix("packet.") else { return }
      let fields = trace.fields(of: record).map(\.value.description)
      entries.append((record.time, trace.name(of: record.subject), kind, fields))
    }
  }

  init(
    app: any CallApp.Type, server type: any CallServer.Type, seed: UInt64 = 1, users: [String] = ["alice", "bob"],
    delay: Interval = .milliseconds(20),
    settings: [String: NamedValues] = [:], device: Device.Settings = Device.Settings()
  ) throws {
    let serverName = app.vocabulary.servers[0].name
    let trace = Trace()
    trace.add(log)
    let simulator = Simulator(trace: trace, random: RandomSource(seed: seed))
    self.simulator = simulator
    let network = try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/24")!])
    let link = LinkSettings(delay: delay)
    func addHost(_ name: String) throws -> HostID {
      let host = try simulator.addHost(name)
      try simulator.attach(host, to: network, link: name, type: .wifi, tx: link, rx: link)
      return host
    }
    let serverHost = try addHost(serverName)
    let runtime = HostRuntime(simulator: simulator, host: serverHost, wallClock: WallClock())
    func session(_ name: String) -> SessionConfiguration {
      let certificate = Certificate.generate(
        name: name, entropy: .stream(simulator.random.stream("certificate/\(name)")), wallClock: WallClock())
      var session = SessionConfiguration(certificate: certificate, cname: name)
      session.media = .synthetic
      return session
    }
    var media: CallServerHost.Media?
    if app.vocabulary.servers[0].opensConnections {
      media = CallServerHost.Media(session: session(serverName), userIDs: [:])
      if device.hasVideo { media?.forwarded.video = VideoSettings() }
    }
    let pushes = PushService()
    server = CallServerHost(
      server: type, messages: app.vocabulary.messages, runtime: runtime, media: media, pushes: pushes,
      random: simulator.random.scoped("server"), trace: trace, name: serverName)
    let address = simulator.interfaces(of: serverHost)[0].addresses[0]
    serverEndpoint = Endpoint(address, port: CallServerHost.port)
    strangers = HostRuntime(simulator: simulator, host: try addHost("strangers"), wallClock: WallClock())
    server.start()
    for user in users {
      var own = session(user)
      if device.hasVideo { own.video = VideoSettings() }
      var configuration = VirtualPeer.Configuration(
        name: user, session: own, servers: [serverName: .init(name: serverName, endpoint: serverEndpoint)])
      configuration.settings = settings[user] ?? NamedValues([])
      configuration.device = device
      let peer = VirtualPeer(configuration, app: app, on: try addHost(user), of: simulator)
      peers.append(peer)
      pushes.add(peer)
      peer.start()
    }
    run(for: .seconds(1))
  }

  /// Shuts everything down, and expects that nothing is left.
  func expectNothingIsLeftAfterShutdown() {
    for peer in peers { peer.shutDown() }
    run(for: .seconds(5))
    server.shutDown()
    run(for: .seconds(5))
    for peer in peers {
      #expect(peer.leftovers == [])
      #expect(simulator.openSocketCount(of: peer.host) == 0)
    }
    #expect(server.openConnectionCount == 0)
    #expect(count("signal.misfit") == 0)
  }

  func run(for interval: Interval) { simulator.run(until: simulator.now + interval) }

  /// Performs an action, and returns the reason of a refusal.
  @discardableResult
  func perform(_ user: String, _ action: String, _ values: [(String, ArgumentValue)] = []) -> ActionError? {
    peers.first { $0.name == user }?.perform(UserAction(action, NamedValues(values)))
  }

  @discardableResult
  func perform(_ user: String, _ action: String, to other: String) -> ActionError? {
    perform(user, action, [("to", .text(other))])
  }

  /// The values one kind took at a user, in order.
  func values(_ user: String, _ kind: String) -> [String] {
    log.entries.filter { $0.subject == user && $0.kind == kind }.map { $0.fields.first ?? "" }
  }

  /// The fields of one kind at a user, in order.
  func fields(_ user: String, _ kind: String) -> [[String]] {
    log.entries.filter { $0.subject == user && $0.kind == kind }.map(\.fields)
  }

  /// A client that is no app of ours, on a WebSocket of its own.
  func connectStranger(_ path: String = "/") -> WebSocketChannel {
    let channel = WebSocketChannel(
      stream: strangers.network.connect(to: serverEndpoint),
      socket: WebSocket(.client, host: "server", path: path, random: RandomStream(seed: 1)))
    run(for: .milliseconds(500))
    return channel
  }

  /// How often a kind happened to anybody.
  func count(_ kind: String) -> Int { log.entries.count { $0.kind == kind } }

  /// The times of the events of one kind at a user whose first field is a word.
  func times(_ user: String, _ kind: String, _ word: String) -> [Instant] {
    log.entries.filter { $0.subject == user && $0.kind == kind && $0.fields.first == word }.map(\.time)
  }

  func count(_ subject: String, _ kind: String) -> Int { values(subject, kind).count }

  /// When a kind last happened at a user.
  func time(_ user: String, _ kind: String) -> Instant? {
    log.entries.last { $0.subject == user && $0.kind == kind }?.time
  }

  /// The newest value of a kind at a user.
  func value(_ user: String, _ kind: String) -> String? { values(user, kind).last }
}
