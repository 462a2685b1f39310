internal import CallCore
internal import STUN
internal import ScenarioFormat
internal import SimNet
internal import VirtualPeer
internal import Vocabulary

/// The states of a world's objects, one for each object that a fault has acted on.
final class LayeredWorld {
  private let world: World
  private var links: [String: LayeredState<LinkState, LinkTally>] = [:]
  private var nats: [String: LayeredState<Topology.NAT, NATTally>] = [:]
  private var firewalls: [String: LayeredState<FirewallRules?, [FirewallPacket: Int]>] = [:]
  private var rejections: [String: LayeredState<[STUNMethod: STUNError], [STUNMethod: UInt64]>] = [:]
  private var silences: [String: LayeredState<Bool, Int>] = [:]
  private var certificates: [String: LayeredState<Topology.Server.Certificate, Int>] = [:]
  private var refusals: [String: LayeredState<Bool, Int>] = [:]
  private var latencies: [String: LayeredState<Interval, Int>] = [:]
  private var deviceConditions: [String: LayeredState<DeviceConditions, DeviceTally>] = [:]
  private var eventLatenesses: [String: LayeredState<EventLateness, [ConnectionEventName: Int]>] = [:]

  init(_ world: World) { self.world = world }

  func link(_ name: String) throws -> LayeredState<LinkState, LinkTally> {
    let (simulator, link) = (world.simulator, try world.simulator.link(name))
    return links.state(name) {
      LayeredState(
        read: { LinkState(link, in: simulator) }, write: { try $0.apply(to: link, in: simulator) },
        measure: .init(of: link, in: simulator))
    }
  }

  func nat(of network: String) throws -> LayeredState<Topology.NAT, NATTally> {
    guard let base = world.scenario.topology.network(network)?.nat else {
      throw HarnessError("network '\(network)' has no NAT")
    }
    let (simulator, id) = (world.simulator, try world.simulator.network(network))
    return nats.state(network) {
      LayeredState(
        read: { base }, write: { try simulator.changeNAT(network, to: NATConfiguration($0)) },
        measure: .init(natOf: id, in: simulator))
    }
  }

  func firewall(of network: String) throws -> LayeredState<FirewallRules?, [FirewallPacket: Int]> {
    let (simulator, id) = (world.simulator, try world.simulator.network(network))
    return firewalls.state(network) {
      LayeredState(
        read: { try simulator.firewallRules(of: network) }, write: { try simulator.setFirewall($0, of: network) },
        measure: .init(firewallOf: id, in: simulator))
    }
  }

  func rejections(of server: String) throws -> LayeredState<[STUNMethod: STUNError], [STUNMethod: UInt64]> {
    let turn = try world.relay(server)
    return rejections.state(server) {
      LayeredState(
        read: { [:] },
        write: { errors in
          for method in World.rejectableMethods { turn.rejectAll([method], with: errors[method]) }
        }, measure: .init(rejectionsOf: turn))
    }
  }

  func silence(of server: String) -> LayeredState<Bool, Int> {
    let (stun, turn) = (world.stunServer(server), world.turnServer(server))
    return silences.state(server) {
      LayeredState(
        read: { false },
        write: {
          stun?.isSilent = $0
          turn?.isSilent = $0
        }, measure: .init { (stun?.unheardCount ?? 0) + (turn?.unheardCount ?? 0) })
    }
  }

  func certificate(of server: String) throws -> LayeredState<Topology.Server.Certificate, Int> {
    let (turn, world) = (try world.relay(server), world)
    guard let tls = turn.tls, let base = world.scenario.topology.server(server)?.tls.certificate else {
      throw HarnessError("'\(server)' is not reached by TLS")
    }
    return certificates.state(server) {
      LayeredState(
        read: { base }, write: { try tls.show(try world.identity($0, of: server)) }, measure: .init { tls.shownCount })
    }
  }

  func refusal(of peer: String, at server: CallServerHost) -> LayeredState<Bool, Int> {
    let user = world.scenario.userID(of: peer)
    return refusals.state("\(server.name)/\(peer)") {
      LayeredState(
        read: { false }, write: { server.refuse(user: user, $0) },
        measure: .init { server.refusalCount(of: user) })
    }
  }

  func audioLatency(of peer: String) throws -> LayeredState<Interval, Int> {
    let device = try world.participant(peer).device
    return latencies.state(peer) {
      LayeredState(
        read: { device.audioLatency }, write: { device.setAudioLatency($0) },
        measure: .init { device.callbackCount })
    }
  }

  func deviceConditions(of peer: String) throws -> LayeredState<DeviceConditions, DeviceTally> {
    let lifecycle: AppLifecycle = try world.participant(peer).lifecycle
    return deviceConditions.state(peer) {
      LayeredState(
        read: { DeviceConditions() }, write: { lifecycle.set($0) },
        measure: .init(of: lifecycle))
    }
  }

  func eventLateness(of peer: String) throws -> LayeredState<EventLateness, [ConnectionEventName: Int]> {
    let device = try world.participant(peer).device
    return eventLatenesses.state(peer) {
      LayeredState(
        read: { device.eventLateness }, write: { device.setEventLateness($0) },
        measure: .init(
          tally: { device.eventCounts },
          shows: { step, earlier, later in
            ConnectionEventName.allCases.contains { name in
              step.changes { $0[name] } && earlier[name, default: 0] < later[name, default: 0]
            }
          }))
    }
  }
}

extension Dictionary {
  /// Returns the state of a name, and makes it on first use.
  fileprivate mutating func state(_ name: Key, _ make: () -> Value) -> Value {
    if let known = self[name] { return known }
    let new = make()
    self[name] = new
    return new
  }
}

/// The state of a link that faults change.
struct LinkState: Equatable {
  var isUp: Bool
  var transmit: LinkSettings
  var receive: LinkSettings
  /// The attachment of the host at its end; nil for a router's uplink.
  var attachment: Attachment?

  struct Attachment: Equatable {
    var network: NetworkID
    var type: NetworkType
  }

  init(_ link: LinkID, in simulator: Simulator) {
    isUp = simulator.isUp(link)
    transmit = simulator.settings(of: link, .tx)
    receive = simulator.settings(of: link, .rx)
    attachment = simulator.interface(attachedBy: link).map {
      let interface = simulator.interface($0)
      return Attachment(network: interface.network, type: interface.type)
    }
  }

  func apply(to link: LinkID, in simulator: Simulator) throws {
    for (side, settings) in [(LinkDirection.tx, transmit), (.rx, receive)]
    where settings != simulator.settings(of: link, side) {
      try simulator.setLink(link, side, settings)
    }
    if let attachment, let interface = simulator.interface(attachedBy: link),
      simulator.interface(interface).network != attachment.network
    {
      try simulator.move(interface, to: attachment.network, type: attachment.type)
    }
    simulator.setLink(link, isUp: isUp)
  }

  /// Changes the settings of one direction, or of both.
  mutating func change(_ direction: Fault.Direction?, _ change: (inout LinkSettings) -> Void) {
    self.change(direction) { settings, _ in change(&settings) }
  }

  mutating func change(_ direction: Fault.Direction?, _ change: (inout LinkSettings, LinkDirection) -> Void) {
    if direction != .receive { change(&transmit, .tx) }
    if direction != .transmit { change(&receive, .rx) }
  }
}

extension World {
  /// The requests that a relay can be made to reject.
  static let rejectableMethods: [STUNMethod] = [.allocate, .refresh, .createPermission, .channelBind]

  func relay(_ name: String) throws -> TURNServerHost {
    guard let turn = turnServer(name) else { throw HarnessError("'\(name)' is no TURN server") }
    return turn
  }

  func participant(_ name: String) throws -> VirtualPeer {
    guard let peer = peer(name) else { throw HarnessError("there is no peer '\(name)'") }
    return peer
  }

  func callServer(named name: String?) throws -> CallServerHost {
    guard let name, let server = callServer(name) else {
      throw HarnessError("there is no server '\(name ?? "")' of a profile")
    }
    return server
  }
}
