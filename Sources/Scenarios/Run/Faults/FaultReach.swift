internal import CallCore
internal import SimNet
internal import VirtualPeer

/// Whether a fault met anything: a packet on its link, a message that it matches, a mapping that it takes.
///
/// It is made before the fault begins, and asked at its end or at the end of the run.
struct FaultReach {
  /// Why it met nothing, where it met nothing.
  let lack: String
  let hasMet: () -> Bool

  /// Whether it is asked at the end of the run, also when the fault ended before: a link that went down is missed by
  /// whoever would have used it since.
  var isAskedLate = false

  static var always: FaultReach { FaultReach(lack: "nothing", now: true) }

  /// Something that is so or not when the fault strikes.
  init(lack: String, now hasMet: Bool) {
    self.lack = lack
    self.hasMet = { hasMet }
  }

  init(lack: String, isAskedLate: Bool = false, _ hasMet: @escaping () -> Bool) {
    self.lack = lack
    self.hasMet = hasMet
    self.isAskedLate = isAskedLate
  }

  /// A count that grows while the fault lasts.
  init(lack: String, growing count: @escaping () -> Int) {
    let start = count()
    self.init(lack: lack) { count() > start }
  }
}

extension FaultReach {
  /// For all faults but those that are known by a number once they have begun: see ``FaultLayer``.
  init?(of effect: FaultEffect, in world: World) throws {
    let simulator = world.simulator
    switch effect {
    case .link(let name, let change): self = try Self.link(change, try simulator.link(name), simulator)
    case .nat(let network, _):
      guard let uplink = simulator.uplink(of: try simulator.network(network)) else { return nil }
      self.init(lack: "no packet crossed the router") { simulator.offeredCount(to: uplink) }
    case .firewall(let network, _):
      let id = try simulator.network(network)
      self.init(lack: "the firewall dropped no packet") { simulator.firewallDropCount(of: id) }
    case .rejection(let server, _, _):
      let turn = try world.relay(server)
      self.init(lack: "nobody asked the relay for it") { Int(turn.rejectionCount) }
    case .silence(let server):
      let (stun, turn) = (world.stunServer(server), world.turnServer(server))
      self.init(lack: "nobody asked the server") { (stun?.unheardCount ?? 0) + (turn?.unheardCount ?? 0) }
    case .certificate(let server, _):
      let turn = try world.relay(server)
      self.init(lack: "nobody came by TLS", growing: { turn.tls?.count ?? 0 })
    case .signallingRefusal(let peer):
      let server = try world.signallingHost
      let user = world.scenario.userID(of: peer)
      let (isConnected, start) = (server.isConnected(user: user), server.refusalCount(of: user))
      self.init(lack: "\(peer) had no connection, and made none") {
        isConnected || server.refusalCount(of: user) > start
      }
    case .audioLatency(let peer, _):
      let device = try world.participant(peer).device
      let (isRunning, start) = (device.isAudioRunning, device.startCount)
      self.init(lack: "its audio did not run") { isRunning || device.startCount > start }
    case .natEvent(let network, _):
      let id = try simulator.network(network)
      self.init(lack: "the NAT had no mapping", now: !simulator.natMappings(of: id).isEmpty)
    case .turnEvent(let server, .disconnect):
      self.init(lack: "the relay had no connection", now: try world.relay(server).streamCount > 0)
    case .turnEvent(let server, _):
      self.init(lack: "the relay had no allocation", now: try !world.relay(server).allocations.isEmpty)
    case .clockJump: self = .always
    case .signalling, .packetRules: return nil
    }
  }

  private static func link(
    _ change: FaultEffect.LinkChange, _ link: LinkID, _ simulator: Simulator
  ) throws -> FaultReach {
    let unused = "no packet was offered to the link"
    let wasUp = simulator.isUp(link)
    switch change {
    case .down:
      guard wasUp else { return FaultReach(lack: "the link was down already", now: false) }
      return FaultReach(lack: unused, isAskedLate: true) { simulator.offeredCount(to: link) > 0 }
    case .up:
      guard !wasUp else { return FaultReach(lack: "the link was up already", now: false) }
      let start = simulator.offeredCount(to: link)
      return FaultReach(lack: unused, isAskedLate: true) { simulator.offeredCount(to: link) > start }
    case .flap: return FaultReach(lack: unused, isAskedLate: true) { simulator.offeredCount(to: link) > 0 }
    case .set(_, let direction), .blackhole(nil, let direction):
      return FaultReach(lack: unused) { simulator.offeredCount(to: link, direction) }
    case .blackhole(.some, let direction):
      return FaultReach(lack: "the link dropped no packet") { simulator.droppedCount(on: link, direction) }
    case .move(let network):
      let there = try simulator.network(network)
      let place = simulator.interface(attachedBy: link).map { simulator.interface($0).network }
      guard place != there else { return FaultReach(lack: "the host was there already", now: false) }
      let start = simulator.offeredCount(to: link)
      return FaultReach(lack: unused, isAskedLate: true) { simulator.offeredCount(to: link) > start }
    case .oneWay(let delivering):
      let silent: Fault.Direction = delivering == .transmit ? .receive : .transmit
      return FaultReach(lack: unused) { simulator.offeredCount(to: link, silent) }
    }
  }
}

extension Simulator {
  fileprivate func offeredCount(to link: LinkID, _ direction: Fault.Direction? = nil) -> Int {
    statistics(of: link, direction).reduce(0) { $0 + Int($1.offeredPackets) }
  }

  fileprivate func droppedCount(on link: LinkID, _ direction: Fault.Direction? = nil) -> Int {
    statistics(of: link, direction).reduce(0) { $0 + Int($1.droppedPackets) }
  }

  private func statistics(of link: LinkID, _ direction: Fault.Direction?) -> [LinkStatistics] {
    LinkDirection.allCases.filter { direction == nil || $0.rawValue == direction?.rawValue }.map {
      statistics(of: link, $0)
    }
  }
}
