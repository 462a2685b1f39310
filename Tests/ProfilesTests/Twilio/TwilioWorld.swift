import CallCore
import DTLS
import PeerSession
import SimNet
import VirtualPeer
import Vocabulary

@testable import Profiles

/// Twilio users on one network with the room server, in virtual time.
final class TwilioWorld {
  let simulator: Simulator
  let server: CallServerHost
  private(set) var peers: [VirtualPeer] = []
  private let endpoint: Endpoint
  /// A host for clients that are no app of ours.
  private let strangers: HostRuntime
  private let log = Log()

  private final class Log: TraceObserver {
    var entries: [(time: Instant, subject: String, kind: String, fields: [String])] = []

    func observe(_ record: TraceRecord, in trace: Trace) {
      let kind = trace.name(of: record.kind)
      guard !kind.hasPrefix("packet."), !kind.hasPrefix("media.") else { return }
      let fields = trace.fields(of: record).map(\.value.description)
      entries.append((record.time, trace.name(of: record.subject), kind, fields))
    }
  }

  init(_ users: [String] = ["alice", "bob"], seed: UInt64 = 1, settings: [String: NamedValues] = [:]) throws {
    let trace = Trace()
    trace.add(log)
    let simulator = Simulator(trace: trace, random: RandomSource(seed: seed))
    self.simulator = simulator
    let network = try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/24")!])
    let link = LinkSettings(delay: .milliseconds(20))
    func addHost(_ name: String) throws -> HostID {
      let host = try simulator.addHost(name)
      try simulator.attach(host, to: network, link: name, type: .wifi, tx: link, rx: link)
      return host
    }
    func session(_ name: String) -> SessionConfiguration {
      let certificate = Certificate.generate(
        name: name, entropy: .stream(simulator.random.stream("certificate/\(name)")), wallClock: WallClock())
      var session = SessionConfiguration(certificate: certificate, cname: name)
      session.media = .synthetic
      return session
    }
    let host = try addHost("room")
    var media = CallServerHost.Media(session: session("room"), userIDs: [:])
    media.forwarded.video = VideoSettings()
    server = CallServerHost(
      server: TwilioRoomServer.self, messages: TwilioApp.vocabulary.messages,
      runtime: HostRuntime(simulator: simulator, host: host, wallClock: WallClock()), media: media,
      random: simulator.random.scoped("server"), trace: trace, name: "room")
    endpoint = Endpoint(simulator.interfaces(of: host)[0].addresses[0], port: CallServerHost.port)
    strangers = HostRuntime(simulator: simulator, host: try addHost("strangers"), wallClock: WallClock())
    server.start()
    for user in users {
      var own = session(user)
      own.video = VideoSettings()
      var configuration = VirtualPeer.Configuration(
        name: user, session: own, servers: ["room": .init(name: "room", endpoint: endpoint)])
      configuration.settings = settings[user] ?? NamedValues([])
      configuration.device.hasVideo = true
      configuration.device.camera = .movingBars
      let peer = VirtualPeer(configuration, app: TwilioApp.self, on: try addHost(user), of: simulator)
      peers.append(peer)
      peer.start()
    }
    run(for: .seconds(1))
  }

  func run(for interval: Interval) { simulator.run(until: simulator.now + interval) }

  /// Performs an action, and returns the reason of a refusal.
  @discardableResult
  func perform(_ user: String, _ action: String, _ values: [(String, ArgumentValue)] = []) -> ActionError? {
    peers.first { $0.name == user }?.perform(UserAction(action, NamedValues(values)))
  }

  func connect(_ users: String..., to room: String = "daily") {
    for user in users { perform(user, "connect", [("room", .text(room))]) }
    run(for: .seconds(4))
  }

  /// The values that one kind took at a user, in order.
  func values(_ user: String, _ kind: String) -> [String] {
    log.entries.filter { $0.subject == user && $0.kind == kind }.map { $0.fields.first ?? "" }
  }

  func value(_ user: String, _ kind: String) -> String? { values(user, kind).last }

  /// The times of the events of one kind whose first field is a word.
  func times(_ user: String, _ kind: String, _ word: String) -> [Instant] {
    log.entries.filter { $0.subject == user && $0.kind == kind && $0.fields.first == word }.map(\.time)
  }

  func count(_ kind: String) -> Int { log.entries.count { $0.kind == kind } }

  /// A client that says what the test wants, on a WebSocket of its own.
  func stranger(_ path: String) -> WebSocketChannel {
    let channel = WebSocketChannel(
      stream: strangers.network.connect(to: endpoint),
      socket: WebSocket(.client, host: "server", path: path, random: RandomStream(seed: 1)))
    run(for: .milliseconds(500))
    return channel
  }
}
