internal import CallCore
internal import DTLS
internal import ExternalRecords
internal import Foundation
internal import ScenarioFormat
internal import SimNet
internal import Statistics
internal import VirtualPeer
internal import Vocabulary

/// A built world: the simulated network with everybody on it, by the names of the scenario.
final class World {
  let scenario: Scenario
  let simulator: Simulator
  let pace: Pace
  private(set) var peers: [VirtualPeer] = []
  private(set) var callServers: [CallServerHost] = []
  private var stun: [(name: String, host: STUNServerHost)] = []
  private var turn: [(name: String, host: TURNServerHost)] = []
  let programs = WorldPrograms()
  private var folder: String?
  private let certificates: ServerCertificates
  /// The clock of nobody in particular: the timeline and the samplers run on it.
  let timekeeper: HostRuntime

  init(scenario: Scenario, simulator: Simulator) throws {
    self.scenario = scenario
    self.simulator = simulator
    pace = Pace(simulator, isRealTime: scenario.isRealTime)
    certificates = ServerCertificates(random: simulator.random)
    timekeeper = HostRuntime(
      simulator: simulator, host: try simulator.addHost(ReservedName.timekeeper), wallClock: WallClock())
  }

  func peer(_ name: String) -> VirtualPeer? { peers.first { $0.name == name } }
  func stunServer(_ name: String) -> STUNServerHost? { stun.first { $0.name == name }?.host }
  func turnServer(_ name: String) -> TURNServerHost? { turn.first { $0.name == name }?.host }
  func callServer(_ name: String) -> CallServerHost? { callServers.first { $0.name == name } }

  func add(_ peer: VirtualPeer) { peers.append(peer) }
  func add(_ server: CallServerHost) { callServers.append(server) }
  func add(_ server: STUNServerHost, named name: String) { stun.append((name, server)) }
  func add(_ server: TURNServerHost, named name: String) { turn.append((name, server)) }

  /// A certificate of a server for TLS, and its key.
  func identity(_ certificate: Topology.Server.Certificate, of server: String) throws -> TLSIdentity {
    let addresses = simulator.interfaces(of: try simulator.host(server)).flatMap(\.addresses)
    return certificates.identity(certificate, of: server, at: addresses)
  }

  /// Who signs servers' certificates: peers believe no others.
  var authority: TLSCertificates { certificates.authority.certificates }

  deinit { if let folder { try? FileManager.default.removeItem(atPath: folder) } }

  /// A folder that is gone with the world.
  func temporaryFolder() throws -> String {
    if let folder { return folder }
    // Short, because programs put sockets into it, whose names have little room.
    // Ours alone, and nobody's before: it holds what was said.
    var template = Array((NSTemporaryDirectory() + "callsim-\(getpid())-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw HarnessError("no temporary folder in \(NSTemporaryDirectory()): \(String(cString: strerror(errno)))")
    }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    folder = path
    return path
  }

  /// Launches servers, then apps, in file order. Programs come first: they may take long, and time has not begun.
  func start() throws {
    try programs.startStacks()
    guard programs.failure == nil else { return }
    for server in callServers { server.start() }
    for server in stun { server.host.start() }
    for server in turn { server.host.start() }
    for peer in peers { peer.start() }
    try programs.startPeers()
  }

  /// Ends every app and lets it go of what it holds. Servers stay, and close their peer connections.
  func shutDownPeers() {
    for peer in peers { peer.shutDown() }
    for server in callServers { server.closeConnections() }
  }

  /// Ends every profile's server, after the last packet of the peers.
  func shutDownServers() {
    for server in callServers { server.shutDown() }
  }

  /// What is still alive after the peers were shut down, a line each, with whose it is; empty when the world is quiet.
  ///
  /// Packets that a long queue still holds are nobody's fault, nor is an allocation that its client could not give back.
  func leftovers(_ paths: RelayPaths) -> [String] {
    var lines = peers.flatMap { peer in peer.leftovers.map { "\(peer.name): \($0)" } }
    for server in callServers {
      func note(_ count: Int, _ what: String) {
        if count > 0 { lines.append("\(server.name): \(Wording.count(count, what)) left") }
      }
      note(server.openTaskCount, "task")
      note(server.openConnectionCount, "peer connection")
    }
    for server in turn {
      for allocation in server.host.allocations where paths.isLeftByClient(allocation, at: simulator.now) {
        lines.append(
          "\(server.name): the allocation of \(allocation.relay) to \(allocation.username) at \(allocation.client) "
            + "was never given back")
      }
    }
    return lines
  }

  /// The statistics of an open connection, by its trace subject.
  func statistics(of subject: String) -> StatsReport? {
    let owner = ConnectionSubject.owner(of: subject)
    return peer(owner)?.statistics(of: subject) ?? callServer(owner)?.statistics(of: subject)
  }

  /// How long ago what the peer plays now of a connection was said, wherever that was; nil while it plays nothing that
  /// was said.
  func mouthToEar(to peer: VirtualPeer, over connection: String) -> Interval? {
    guard let (position, playedAt) = peer.audioRecord.played(over: connection),
      simulator.now - playedAt < .milliseconds(40)
    else {
      return nil
    }
    return peers.lazy.compactMap { $0.audioRecord.recordingTime(of: position) }.first.map { playedAt - $0 }
  }
}
