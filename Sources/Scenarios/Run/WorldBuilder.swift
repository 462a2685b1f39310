internal import CallCore
internal import DTLS
internal import ICE
internal import PeerSession
internal import Profiles
internal import ScenarioFormat
internal import SimNet
internal import TURN
internal import VirtualPeer
internal import Vocabulary

/// Builds the world of one run: the cell's networks, links, servers and peers, at virtual time zero.
struct WorldBuilder {
  let scenario: Scenario
  let profiles: ProfileCatalogue
  let outputs: RunOutputs
  /// The store of secrets that decrypt connections to TURN servers.
  var secrets = TLSSecrets()
  let world: World

  private var simulator: Simulator { world.simulator }
  private var external: ExternalBuilder { ExternalBuilder(scenario: scenario, world: world) }

  func build() throws {
    try addNetworks()
    for server in scenario.topology.servers { try add(server) }
    for peer in scenario.peers where peer.stack != .puppet { try attach(peer) }
    for peer in scenario.peers where peer.stack != .puppet { try add(peer) }
    try startLinksDown()
    for (network, value) in scenario.watchedNATs { try simulator.watchNAT(value, of: network) }
    simulator.tap = outputs.tap
    outputs.worldBuilt?(simulator)
  }

  // MARK: Networks

  /// Adds parents before children, whatever the order of the file.
  private func addNetworks() throws {
    var waiting = scenario.topology.networks
    while !waiting.isEmpty {
      let ready = waiting.filter { network in !waiting.contains { $0.name == network.uplink?.value } }
      guard !ready.isEmpty else { throw HarnessError("networks lead to each other in a circle") }
      for network in ready { try add(network) }
      waiting.removeAll { network in ready.contains { $0.name == network.name } }
    }
  }

  private func add(_ network: Topology.Network) throws {
    try place(network)
    if network.isIsolated { try simulator.setIsolated(true, of: network.name) }
  }

  private func place(_ network: Topology.Network) throws {
    let prefixes = network.prefixes.map(\.value)
    guard let parent = network.uplink?.value else {
      try simulator.addNetwork(network.name, prefixes: prefixes)
      return
    }
    let link = scenario.topology.links.first { $0.from.value == network.name }
    try simulator.addNetwork(
      network.name, prefixes: prefixes, parent: parent, link: link?.name ?? "\(network.name)/uplink",
      tx: LinkSettings(link?.transmit, mtu: link?.mtu), rx: LinkSettings(link?.receive, mtu: link?.mtu),
      nat: network.nat.map { NATConfiguration($0) }, externalAddressCount: network.nat?.addresses ?? 1,
      firewall: FirewallRules(of: network))
  }

  private func startLinksDown() throws {
    for link in scenario.topology.links where !link.startsUp { try simulator.setLink(link.name, isUp: false) }
  }

  // MARK: Hosts

  private func attach(_ host: HostID, named name: String, to network: String, link wanted: String? = nil) throws {
    let link = scenario.topology.links.first { link in
      link.name == wanted || (wanted == nil && link.from.value == name && link.to.value == network)
    }
    let declared = scenario.topology.network(network)
    try simulator.attach(
      host, to: try simulator.network(network), link: link?.name ?? wanted ?? "\(name)/\(network)",
      type: NetworkType(rawValue: declared?.type.rawValue ?? "") ?? .unknown,
      tx: LinkSettings(link?.transmit, mtu: link?.mtu ?? declared?.mtu),
      rx: LinkSettings(link?.receive, mtu: link?.mtu ?? declared?.mtu))
  }

  private func add(_ server: Topology.Server) throws {
    // Without a peer of its profile, no app would use the server.
    if server.kind.isDeclared, server.profile == nil { return }
    let host = try simulator.addHost(server.name)
    try attach(host, named: server.name, to: server.network.value)
    let runtime = HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
    let random = simulator.random.scoped("server").scoped(server.name)
    switch server.kind {
    case .stun:
      world.add(
        STUNServerHost(runtime: runtime, listeners: server.listeners.map(ServerListener.init), delay: server.delay),
        named: server.name)
    case .turn:
      let addresses = simulator.interfaces(of: host).flatMap(\.addresses)
      world.add(
        TURNServerHost(
          configuration: turnConfiguration(server, addresses: addresses), runtime: runtime,
          listeners: server.listeners.map(ServerListener.init), tls: try tlsListener(of: server, random: random),
          delay: server.delay,
          random: random.stream("turn"), trace: simulator.trace, name: server.name, keyLog: learn),
        named: server.name)
    case .declared(let kind):
      guard let profile = server.profile.flatMap({ profiles[$0.value] }), let type = profile.servers[kind] else {
        throw HarnessError("there is no profile whose server '\(server.name)' is")
      }
      var media: CallServerHost.Media?
      if profile.vocabulary.server(kind)?.opensConnections == true {
        let session = sessionConfiguration(named: server.name)
        media = CallServerHost.Media(session: session, userIDs: scenario.userIDs, keyLog: learn)
        media?.forwarded = forwardedMedia(of: profile.name)
      }
      let host = CallServerHost(
        server: type, messages: profile.vocabulary.messages, runtime: runtime, port: server.signallingPort,
        delay: server.delay, media: media, tls: try tlsListener(of: server, random: random), keyLog: learn,
        pushes: world.pushes, random: random, trace: simulator.trace,
        name: server.name)
      if scenario.timeline.contains(where: \.effect.readsMessages) { host.faults.keepLog() }
      world.add(host)
    }
  }

  /// Stores the secrets of a connection; its two ends report the same.
  private var learn: (String) -> Void {
    { [secrets, outputs] line in if secrets.add(line) { outputs.keyLog?(line) } }
  }

  private func tlsListener(of server: Topology.Server, random: RandomSource) throws -> TLSListener? {
    guard server.transports.contains(.tls) else { return nil }
    let versions = server.tls.version.map { TLSVersion($0)...TLSVersion($0) } ?? .tls12 ... .tls13
    return try TLSListener(
      identity: try world.identity(server.tls.certificate, of: server.name), versions: versions, random: random)
  }

  private func turnConfiguration(_ server: Topology.Server, addresses: [IPAddress]) -> TURNServer.Configuration {
    var users: [TURNCredentials] = []
    if server.credentials != .rest { users = scenario.peers.map { Self.staticCredentials(of: $0.name) } }
    let store = TURNCredentialStore(
      users: users, sharedSecret: server.credentials == .rest ? Self.sharedSecret : nil, wallClock: WallClock())
    return TURNServer.Configuration(
      realm: "callsim", credentials: store, relays: addresses.map { TURNServer.Relay($0) },
      defaultLifetime: server.lifetime, maximumLifetime: max(server.lifetime, .seconds(3_600)),
      permissionLifetime: server.permissionLifetime, channelLifetime: server.channelLifetime,
      nonceLifetime: server.nonceLifetime, userQuota: server.allocationsPerUser, totalQuota: server.totalAllocations)
  }

  /// The secret for time-limited TURN credentials in every simulation.
  private static let sharedSecret = "callsim-secret"

  private static func staticCredentials(of peer: String) -> TURNCredentials {
    TURNCredentials(username: peer, password: "\(peer)-password")
  }

  // MARK: Peers

  /// Gives the peer a host. All peers have a host before programs get the addresses of all.
  private func attach(_ peer: Scenario.Peer) throws {
    let host = try simulator.addHost(peer.name)
    for interface in peer.interfaces {
      try attach(host, named: peer.name, to: interface.network, link: interface.link)
    }
  }

  private func add(_ peer: Scenario.Peer) throws {
    guard peer.hasCallStack else { return try external.add(peer) }
    guard let name = peer.profile?.value, let profile = profiles[name] else {
      throw HarnessError("peer '\(peer.name)' has no profile that can run")
    }
    let host = try simulator.host(peer.name)
    let wallClock = WallClock(skew: peer.clock.skew, driftPPM: peer.clock.drift * 1e6)
    var configuration = VirtualPeer.Configuration(
      name: peer.name, session: try sessionConfiguration(of: peer, wallClock: wallClock),
      servers: try callServers(of: peer))
    configuration.userIDs = scenario.userIDs
    configuration.wallClock = wallClock
    configuration.device = try Device.Settings(peer)
    configuration.settings = NamedValues(peer.settings)
    configuration.dataChannels = peer.dataChannels.map { DeclaredDataChannel($0) }
    configuration.dataChannelLabels = scenario.dataChannelLabels
    configuration.dataChannelLedger = world.dataChannelLedger
    configuration.interfaceNames = peer.interfaces.map { ($0.link, $0.name) }
    if peer.stack == .external { return try external.add(peer, configuration, app: profile.app, on: host) }
    let heard = outputs.heard.map { heard in { (samples: Span<Int16>) in heard(peer.name, samples) } }
    let made = VirtualPeer(
      configuration, app: profile.app, on: host, of: simulator, keyLog: learn, heard: heard, recorded: outputs.recorded)
    made.videoRecord.onRendered = outputs.shown
    world.add(made)
  }

  /// The servers of the peer's profile, by the names that its vocabulary has for them.
  private func callServers(of peer: Scenario.Peer) throws -> [String: VirtualPeer.Configuration.Server] {
    var servers: [String: VirtualPeer.Configuration.Server] = [:]
    for server in scenario.topology.servers(of: peer) {
      guard let address = try addresses(of: server.name).first else {
        throw HarnessError("the server '\(server.name)' has no address")
      }
      var reached = VirtualPeer.Configuration.Server(
        name: server.name, endpoint: Endpoint(address, port: server.signallingPort))
      if server.transports.contains(.tls) { reached.secureName = ServerCertificates.name(of: server.name) }
      servers[server.kind.word] = reached
    }
    return servers
  }

  private func addresses(of host: String) throws -> [IPAddress] {
    simulator.interfaces(of: try simulator.host(host)).flatMap(\.addresses)
  }

  /// Returns the basic configuration of any peer or server.
  private func sessionConfiguration(named name: String) -> SessionConfiguration {
    var configuration = SessionConfiguration(
      certificate: CertificateCache.certificate(of: name, seed: simulator.random.seed), cname: name)
    configuration.media = scenario.media == .real ? .real : .synthetic
    return configuration
  }

  /// Returns what a server can forward for the peers of a profile: every format, and each wish that one of them has.
  private func forwardedMedia(of profile: String) -> (AudioSettings, VideoSettings?) {
    let peers = scenario.peers.filter { $0.profile?.value == profile }
    var audio = AudioSettings()
    audio.codecs = AudioCodec.chromium
    audio.dtx = peers.contains { $0.audio.dtx ?? false }
    audio.stereo = peers.contains { $0.audio.stereo ?? false }
    audio.inBandFEC = peers.contains { $0.audio.fec ?? true }
    var video: VideoSettings?
    if peers.contains(where: { $0.video != nil }) {
      video = VideoSettings()
      video?.codecs = VideoSettings.Codec.allCases
      audio.transportFeedback = true
    }
    return (audio, video)
  }

  private func sessionConfiguration(
    of peer: Scenario.Peer, wallClock: WallClock
  ) throws -> SessionConfiguration {
    var configuration = sessionConfiguration(named: peer.name)
    configuration.wallClock = wallClock
    // Making the authority costs as much as the certificates of the peers.
    if scenario.topology.servers.contains(where: { $0.transports.contains(.tls) }) {
      configuration.tls.trust = .authorities(world.authority)
    }
    configuration.iceTransportPolicy = peer.ice.policy == .relay ? .relay : .all
    configuration.ice.nomination = peer.ice.nomination == .regular ? .regular : .aggressive
    configuration.ice.prunesPairs = peer.ice.prune
    configuration.gathering = peer.ice.gathering == .once ? .once : .continually
    configuration.restartSockets = peer.ice.restartSockets == .new ? .new : .same
    configuration.answersPassively = peer.dtls.role == .passive
    configuration.audio = AudioSettings(peer.audio)
    configuration.video = peer.video.map { VideoSettings($0) }
    // As in browsers: the estimate covers all that shares the path.
    configuration.audio.transportFeedback = configuration.video?.transportFeedback ?? false
    for server in scenario.topology.servers where peer.ice.asks(server.name) {
      configuration.iceServers += try iceServers(server, for: peer, wallClock: wallClock)
    }
    return configuration
  }

  private func iceServers(
    _ server: Topology.Server, for peer: Scenario.Peer, wallClock: WallClock
  ) throws -> [ICEServer] {
    let addresses = try addresses(of: server.name)
    switch server.kind {
    case .declared: return []
    case .stun:
      return addresses.flatMap { address in
        server.listeners.map { ICEServer(kind: .stun, endpoint: Endpoint(address, port: $0.port)) }
      }
    case .turn:
      let credentials =
        server.credentials == .rest
        ? TURNCredentials.timeLimited(
          secret: Self.sharedSecret, user: peer.name,
          expiry: WallClock().unixSeconds(at: .zero + server.credentialLifetime))
        : Self.staticCredentials(of: peer.name)
      return addresses.flatMap { address in
        server.listeners(for: peer.ice).map { listener in
          ICEServer(
            kind: .turn, endpoint: Endpoint(address, port: listener.port),
            transport: Path.Transport(listener.transport),
            host: listener.transport == .tls ? ServerCertificates.name(of: server.name) : nil,
            username: credentials.username, credential: credentials.password)
        }
      }
    }
  }
}

extension ServerListener {
  init(_ listener: Topology.Server.Listener) {
    self.init(Path.Transport(listener.transport), port: listener.port)
  }
}

extension Path.Transport {
  init(_ transport: Topology.Server.Transport) {
    switch transport {
    case .udp: self = .udp
    case .tcp: self = .tcp
    case .tls: self = .tls
    }
  }
}

extension TLSVersion {
  init(_ version: Topology.Server.TLS.Version) {
    switch version {
    case .tls12: self = .tls12
    case .tls13: self = .tls13
    }
  }
}

/// A failure of the harness, as opposed to the call under test.
struct HarnessError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
