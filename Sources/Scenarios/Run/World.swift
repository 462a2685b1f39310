internal import CallCore
internal import SimNet
internal import VirtualPeer

/// A built world: the simulated network with everybody on it, by the names of the scenario.
final class World {
  let scenario: Scenario
  let simulator: Simulator
  private(set) var peers: [VirtualPeer] = []
  private var signalling: [(name: String, host: SignallingHost)] = []
  private var stun: [(name: String, host: STUNServerHost)] = []
  private var turn: [(name: String, host: TURNServerHost)] = []
  /// The clock of nobody in particular: the timeline and the samplers run on it.
  let director: HostRuntime

  init(scenario: Scenario, simulator: Simulator) throws {
    self.scenario = scenario
    self.simulator = simulator
    director = HostRuntime(simulator: simulator, host: try simulator.addHost("scenario"), wallClock: WallClock())
  }

  func peer(_ name: String) -> VirtualPeer? { peers.first { $0.name == name } }
  func stunServer(_ name: String) -> STUNServerHost? { stun.first { $0.name == name }?.host }
  func turnServer(_ name: String) -> TURNServerHost? { turn.first { $0.name == name }?.host }
  /// All peers of a scenario share one signalling server.
  var signallingServer: SignallingHost? { signalling.first?.host }

  func add(_ peer: VirtualPeer) { peers.append(peer) }
  func add(_ server: SignallingHost, named name: String) { signalling.append((name, server)) }
  func add(_ server: STUNServerHost, named name: String) { stun.append((name, server)) }
  func add(_ server: TURNServerHost, named name: String) { turn.append((name, server)) }

  /// Launches servers, then apps, in file order.
  func start() {
    for server in signalling { server.host.start() }
    for server in stun { server.host.start() }
    for server in turn { server.host.start() }
    for peer in peers { peer.start() }
  }

  /// Ends every app and lets it go of what it holds.
  func shutDownPeers() {
    for peer in peers { peer.shutDown() }
  }

  /// What is still alive after the peers were shut down, a line each; empty when the world is quiet.
  var leftovers: [String] {
    var lines: [String] = []
    for peer in peers {
      func note(_ count: Int, _ what: String) { if count > 0 { lines.append("\(peer.name): \(count) \(what)") } }
      note(peer.pendingTimerCount, "timers")
      note(peer.openConnectionCount, "peer connections")
      note(simulator.openSocketCount(of: peer.host), "sockets")
    }
    for server in turn where server.host.allocationCount > 0 {
      lines.append("\(server.name): \(server.host.allocationCount) allocations")
    }
    if simulator.packetsInFlight > 0 { lines.append("network: \(simulator.packetsInFlight) packets in flight") }
    return lines
  }
}
