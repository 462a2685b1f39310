internal import CallCore
internal import SimNet
internal import VirtualPeer

/// The faults in force over a world.
///
/// A fault that lasts is an instance: an entry that fires again begins another, and each ends by itself. What instances
/// do to one object is laid over its base by a ``LayeredState``, so they may overlap in any order.
final class FaultLayer {
  private struct Instance {
    let id: FaultID
    let entry: String
    let name: String
    var reach = FaultReach.always
    /// What it changed.
    var layers: [any Layered] = []
    /// What else ends with it.
    var end: () -> Void = {}
  }

  private let world: World
  private let states: LayeredWorld
  private let onFailure: (any Error) -> Void
  /// In order of start.
  private var active: [Instance] = []
  /// What faults that are over have met; an entry that fired twice is here twice.
  private var past: [(entry: String, reach: FaultReach)] = []
  private var count = 0
  private let applied: TraceKind
  private let cleared: TraceKind
  private let subject: TraceSubject

  /// - Parameter onFailure: told when a fault that ends by itself cannot.
  init(world: World, onFailure: @escaping (any Error) -> Void) {
    self.world = world
    self.onFailure = onFailure
    states = LayeredWorld(world)
    subject = world.simulator.trace.subject("scenario")
    applied = world.simulator.trace.declare(
      "fault.applied", TraceField("entry", .symbol), TraceField("fault", .symbol))
    cleared = world.simulator.trace.declare(
      "fault.cleared", TraceField("entry", .symbol), TraceField("fault", .symbol))
  }

  private var simulator: Simulator { world.simulator }
  private var trace: Trace { world.simulator.trace }

  /// Begins a fault.
  ///
  /// - Parameter duration: when it ends by itself; nil for not before it is cleared.
  func apply(_ fault: Fault, entry: String, for duration: Interval? = nil) throws {
    trace.cause = trace.write(applied, subject, trace.value(entry), trace.value(fault.kind.rawValue))
    count += 1
    var instance = Instance(id: FaultID(number: count), entry: entry, name: fault.kind.rawValue)
    let effect = try FaultEffect(fault, in: world)
    if let reach = try FaultReach(of: effect, in: world) { instance.reach = reach }
    guard try begin(effect, &instance) else { return past.append((entry, instance.reach)) }
    active.append(instance)
    for layer in instance.layers { try layer.commit() }
    guard let duration else { return }
    world.director.clock.schedule(after: duration) { [weak self] in self?.endByItself(instance.id) }
  }

  /// Ends every fault that an entry has in force.
  func clear(entry: String) throws { try end { $0.entry == entry } }

  func isInForce(_ entry: String) -> Bool { active.contains { $0.entry == entry } }

  /// Why no fault of an entry has met anything so far; nil when one has, or none began.
  func lack(of entry: String) -> String? {
    let reaches = past.filter { $0.entry == entry }.map(\.reach) + active.filter { $0.entry == entry }.map(\.reach)
    return reaches.contains { $0.hasMet() } ? nil : reaches.first?.lack
  }

  /// Ends every fault.
  func clearAll() throws { try end { _ in true } }

  private func endByItself(_ id: FaultID) {
    do { try end { $0.id == id } } catch { onFailure(error) }
  }

  /// Takes all of them off before the world is changed: what lies between two ends at one time never was.
  private func end(where isMeant: (Instance) -> Bool) throws {
    let ending = active.filter(isMeant)
    active.removeAll(where: isMeant)
    for instance in ending {
      trace.cause = trace.write(cleared, subject, trace.value(instance.entry), trace.value(instance.name))
      for layer in instance.layers { layer.remove(instance.id) }
      instance.end()
      let reach = instance.reach
      let isDecided = !reach.isAskedLate
      past.append((instance.entry, isDecided ? FaultReach(lack: reach.lack, now: reach.hasMet()) : reach))
    }
    for instance in ending { for layer in instance.layers { try layer.commit() } }
  }

  // MARK: Beginning

  /// Does what happens at once, and lays over the world what lasts.
  ///
  /// - Returns: whether it lasts.
  private func begin(_ effect: FaultEffect, _ instance: inout Instance) throws -> Bool {
    switch effect {
    case .link(let name, let change): try begin(change, of: name, &instance)
    case .nat(let network, let draft):
      try lay(over: try states.nat(of: network), &instance) { $0 = draft.over($0) }
    case .firewall(let network, let change):
      try lay(over: states.firewall(of: network), &instance) { $0 = ($0 ?? .open).under(change) }
    case .rejection(let server, let methods, let error):
      try lay(over: try states.rejections(of: server), &instance) { errors in
        for method in methods { errors[method] = error }
      }
    case .silence(let server): try lay(over: states.silence(of: server), &instance) { $0 = true }
    case .certificate(let server, let certificate):
      try lay(over: try states.certificate(of: server), &instance) { $0 = certificate }
    case .signalling(let fault):
      let server = try world.signallingHost
      let id = server.faults.add(fault)
      instance.reach = FaultReach(lack: "no message was like this") { server.faults.meetings(of: id) > 0 }
      instance.end = { server.faults.remove(id) }
    case .signallingRefusal(let peer):
      try world.signallingHost.disconnect(user: world.scenario.userID(of: peer))
      try lay(over: try states.refusal(of: peer), &instance) { $0 = true }
    case .packetRules(let rules):
      let ids = rules.map { simulator.addRule($0) }
      instance.reach = FaultReach(lack: "no packet was like this") { [simulator] in
        ids.contains { simulator.dropCount(of: $0) > 0 }
      }
      instance.end = { [simulator] in for id in ids { simulator.removeRule(id) } }
    case .audioLatency(let peer, let latency):
      try lay(over: try states.audioLatency(of: peer), &instance) { $0 = latency }
    case .natEvent(let network, let event):
      try perform(event, on: network)
      return false
    case .turnEvent(let server, let event):
      Self.perform(event, on: try world.relay(server))
      return false
    case .clockJump(let peer, let interval):
      try world.participant(peer).jumpClock(by: interval)
      return false
    }
    return true
  }

  private func lay<State>(
    over state: LayeredState<State>, _ instance: inout Instance, _ change: @escaping LayeredState<State>.Change
  ) throws {
    try state.add(instance.id, change)
    instance.layers.append(state)
  }

  private func begin(_ change: FaultEffect.LinkChange, of link: String, _ instance: inout Instance) throws {
    let state = try states.link(link)
    switch change {
    case .down: try lay(over: state, &instance) { $0.isUp = false }
    case .up: try lay(over: state, &instance) { $0.isUp = true }
    case .set(let impairments, let direction):
      try lay(over: state, &instance) { $0.change(direction) { $0.apply(impairments) } }
    case .flap(let down, let up, let cycles):
      let id = instance.id
      let flap = LinkFlap(
        down: down, up: up, cycles: cycles, clock: world.director.clock,
        changed: { [weak self] in
          do { try state.commit() } catch { self?.onFailure(error) }
        },
        ended: { [weak self] in self?.endByItself(id) })
      try lay(over: state, &instance) { if flap.isDown { $0.isUp = false } }
      instance.end = { flap.stop() }
    case .blackhole(let limit, let direction):
      try lay(over: state, &instance) {
        $0.change(direction) { settings in
          guard let limit else { return settings.isBlackhole = true }
          settings.blackholeAbove = min(settings.blackholeAbove ?? limit, limit)
        }
      }
    case .oneWay(let delivering):
      let silent: Fault.Direction = delivering == .transmit ? .receive : .transmit
      try lay(over: state, &instance) { $0.change(silent) { $0.isBlackhole = true } }
    case .move(let network):
      let declared = world.scenario.topology.network(network)?.type
      let there = LinkState.Attachment(
        network: try simulator.network(network), type: declared.map { NetworkType($0) } ?? .unknown)
      try lay(over: state, &instance) { $0.attachment = there }
    }
  }

  // MARK: Happening at once

  private func perform(_ event: FaultEffect.NATEvent, on network: String) throws {
    switch event {
    case .reboot(let addresses): try simulator.rebootNAT(network, externalAddresses: addresses)
    case .expire: try simulator.expireNATMappings(network)
    case .remap: try simulator.remapNAT(network)
    }
  }

  private static func perform(_ event: FaultEffect.TURNEvent, on turn: TURNServerHost) {
    switch event {
    case .restart: turn.restart()
    case .staleNonce: turn.expireNonces()
    case .expirePermissions: turn.expirePermissions()
    case .expireChannels: turn.expireChannels()
    case .disconnect: turn.resetStreams()
    }
  }
}

/// The time of a link that goes down and up: down at first, for as many cycles as there are.
private final class LinkFlap {
  private(set) var isDown = true
  private let down: Interval
  private let up: Interval
  private var cyclesLeft: Int?
  private let clock: PeerClock
  private let changed: () -> Void
  private let ended: () -> Void
  private var timer: PeerTimer?

  init(
    down: Interval, up: Interval, cycles: Int?, clock: PeerClock, changed: @escaping () -> Void,
    ended: @escaping () -> Void
  ) {
    self.down = down
    self.up = up
    cyclesLeft = cycles
    self.clock = clock
    self.changed = changed
    self.ended = ended
    wait()
  }

  func stop() {
    timer?.cancel()
    timer = nil
  }

  private func wait() {
    timer = clock.schedule(after: isDown ? down : up) { [weak self] in self?.turn() }
  }

  private func turn() {
    if !isDown {
      cyclesLeft = cyclesLeft.map { $0 - 1 }
      if cyclesLeft == 0 { return ended() }
    }
    isDown.toggle()
    changed()
    wait()
  }
}

extension FirewallRules {
  /// These rules with one more: what either forbids is forbidden.
  func under(_ change: FaultEffect.FirewallChange) -> FirewallRules {
    var rules = self
    switch change {
    case .block(let transports, let ports) where ports.isEmpty:
      if transports.contains(.udp) { rules.blocksUDP = true }
      if transports.contains(.tcp) { rules.allowedTCPPorts = [] }
    case .block(let transports, let ports):
      let others = Set(1...UInt16.max).subtracting(ports)
      if transports.contains(.udp) { rules.allowedUDPPorts = rules.allowedUDPPorts?.intersection(others) ?? others }
      if transports.contains(.tcp) { rules.allowedTCPPorts = rules.allowedTCPPorts?.intersection(others) ?? others }
    case .allowOnly(let transports, let ports):
      if transports.contains(.udp) { rules.allowedUDPPorts = rules.allowedUDPPorts?.intersection(ports) ?? ports }
      if transports.contains(.tcp) { rules.allowedTCPPorts = rules.allowedTCPPorts?.intersection(ports) ?? ports }
    }
    return rules
  }
}
