internal import CallCore
internal import STUN
internal import SimNet
internal import VirtualPeer

/// Applies the faults of a timeline to a world, and takes back those that last.
final class FaultInjector {
  private let world: World
  private var active: [(entry: String, name: String, undo: () throws -> Void)] = []
  private let applied: TraceKind
  private let cleared: TraceKind
  private let subject: TraceSubject

  init(world: World) {
    self.world = world
    subject = world.simulator.trace.subject("scenario")
    applied = world.simulator.trace.declare(
      "fault.applied", TraceField("entry", .symbol), TraceField("fault", .symbol))
    cleared = world.simulator.trace.declare(
      "fault.cleared", TraceField("entry", .symbol), TraceField("fault", .symbol))
  }

  private var simulator: Simulator { world.simulator }
  private var trace: Trace { world.simulator.trace }

  /// The faults in force, as `entry: fault`.
  var activeFaults: [String] { active.map { "\($0.entry): \($0.name)" } }

  func apply(_ fault: Fault, entry: String) throws {
    trace.cause = trace.write(applied, subject, trace.value(entry), trace.value(fault.kind.rawValue))
    if let undo = try perform(fault) { active.append((entry, fault.kind.rawValue, undo)) }
  }

  func clear(entry: String) throws {
    while let index = active.firstIndex(where: { $0.entry == entry }) {
      let fault = active.remove(at: index)
      trace.cause = trace.write(cleared, subject, trace.value(entry), trace.value(fault.name))
      try fault.undo()
    }
  }

  func clearAll() throws {
    for entry in active.map(\.entry).reversed() { try clear(entry: entry) }
  }

  /// Does what the fault says, and returns how to undo it when it lasts.
  private func perform(_ fault: Fault) throws -> (() throws -> Void)? {
    switch fault.kind {
    case .linkDown, .linkUp, .linkSet, .linkFlap, .linkBlackhole, .linkOneWay: try performLink(fault)
    case .natReboot, .natExpire, .natRemap, .natSet, .firewallBlock, .firewallAllow: try performRouter(fault)
    case .turnRestart, .turnDeny, .turnStaleNonce, .turnReject, .turnExpirePermissions, .turnExpireChannels,
      .turnDisconnect, .stunSilent:
      try performServer(fault)
    case .signalDrop, .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect,
      .signalBlackhole:
      try performSignalling(fault)
    case .dtlsDrop, .packetDrop: try performPacket(fault)
    case .clockJump, .deviceAudioLate: try performDevice(fault)
    }
  }

  private func name(_ key: String, of fault: Fault) throws -> String {
    guard let name = fault.arguments.text(key) else { throw HarnessError("\(fault.kind.rawValue) needs '\(key)'") }
    return name
  }

  // MARK: Links

  private func performLink(_ fault: Fault) throws -> (() throws -> Void)? {
    let link = try name("link", of: fault)
    switch fault.kind {
    case .linkDown:
      try simulator.setLink(link, isUp: false)
      return { [simulator] in try simulator.setLink(link, isUp: true) }
    case .linkUp:
      try simulator.setLink(link, isUp: true)
      return nil
    case .linkFlap: return try flap(link, fault)
    case .linkSet:
      guard let impairments = fault.impairments else { return nil }
      return try change(link, fault.direction) { $0.apply(impairments) }
    case .linkBlackhole:
      let limit = fault.arguments["larger_than"].flatMap(\.number).map { Int($0) }
      return try change(link, fault.direction) { settings in
        if let limit { settings.mtu = min(settings.mtu, limit) } else { settings.isBlackhole = true }
      }
    default:
      let delivering: Fault.Direction = fault.arguments.text("direction") == "rx" ? .receive : .transmit
      return try change(link, delivering == .transmit ? .receive : .transmit) { $0.isBlackhole = true }
    }
  }

  /// Changes a link's settings and returns how to put the old ones back.
  private func change(
    _ link: String, _ direction: Fault.Direction?, _ change: (inout LinkSettings) -> Void
  ) throws -> () throws -> Void {
    let id = try simulator.link(link)
    let sides = LinkDirection.allCases.filter { direction == nil || $0.rawValue == direction?.rawValue }
    var before: [(LinkDirection, LinkSettings)] = []
    for side in sides {
      let old = simulator.settings(of: id, side)
      before.append((side, old))
      var new = old
      change(&new)
      try simulator.setLink(id, side, new)
    }
    return { [simulator] in for (side, old) in before { try simulator.setLink(id, side, old) } }
  }

  private func flap(_ link: String, _ fault: Fault) throws -> () throws -> Void {
    guard let down = fault.arguments.duration("down"), let up = fault.arguments.duration("up") else {
      throw HarnessError("link.flap needs 'down' and 'up'")
    }
    let id = try simulator.link(link)
    var left = fault.arguments.count("cycles") ?? .max
    var timer: PeerTimer?
    func goDown() {
      guard left > 0 else { return }
      left -= 1
      simulator.setLink(id, isUp: false)
      timer = world.director.clock.schedule(after: down) { [simulator, world] in
        simulator.setLink(id, isUp: true)
        timer = world.director.clock.schedule(after: up) { goDown() }
      }
    }
    goDown()
    return { [simulator] in
      left = 0
      timer?.cancel()
      simulator.setLink(id, isUp: true)
    }
  }

  // MARK: Routers

  private func performRouter(_ fault: Fault) throws -> (() throws -> Void)? {
    let network = try name("network", of: fault)
    switch fault.kind {
    case .natReboot: try simulator.rebootNAT(network)
    case .natExpire: try simulator.expireNATMappings(network)
    case .natRemap: try simulator.remapNAT(network)
    case .natSet:
      guard let nat = fault.nat, let before = world.scenario.topology.network(network)?.nat else { return nil }
      try simulator.setNAT(NATConfiguration(nat), of: network)
      return { [simulator] in try simulator.setNAT(NATConfiguration(before), of: network) }
    case .firewallBlock, .firewallAllow: return try changeFirewall(network, fault)
    default: break
    }
    return nil
  }

  private func changeFirewall(_ network: String, _ fault: Fault) throws -> () throws -> Void {
    let before = world.scenario.topology.network(network)?.firewall.map { FirewallRules($0) }
    var rules = before ?? .open
    let ports = Set((fault.arguments.texts("ports") ?? []).compactMap { UInt16($0) })
    let transport = fault.arguments.text("protocol") ?? "all"
    let (isUDP, isTCP) = (transport != "tcp", transport != "udp")
    if fault.kind == .firewallAllow {
      if isUDP { rules.allowedUDPPorts = ports }
      if isTCP { rules.allowedTCPPorts = ports }
    } else if ports.isEmpty {
      if isUDP { rules.blocksUDP = true }
      if isTCP { rules.allowedTCPPorts = [] }
    } else {
      let others = Set((1...UInt16.max).filter { !ports.contains($0) })
      if isUDP { rules.allowedUDPPorts = (rules.allowedUDPPorts ?? others).intersection(others) }
      if isTCP { rules.allowedTCPPorts = (rules.allowedTCPPorts ?? others).intersection(others) }
    }
    try simulator.setFirewall(rules, of: network)
    return { [simulator] in try simulator.setFirewall(before, of: network) }
  }

  // MARK: Servers

  private func performServer(_ fault: Fault) throws -> (() throws -> Void)? {
    let server = try name("server", of: fault)
    if fault.kind == .stunSilent {
      let (stun, turn) = (world.stunServer(server), world.turnServer(server))
      stun?.isSilent = true
      turn?.isSilent = true
      return {
        stun?.isSilent = false
        turn?.isSilent = false
      }
    }
    guard let turn = world.turnServer(server) else { throw HarnessError("'\(server)' is no TURN server") }
    switch fault.kind {
    case .turnRestart: turn.restart()
    case .turnStaleNonce: turn.expireNonces()
    case .turnExpirePermissions: turn.expirePermissions()
    case .turnExpireChannels: turn.expireChannels()
    case .turnDisconnect: turn.resetStreams()
    case .turnDeny:
      turn.rejectAll([.createPermission, .channelBind], with: STUNError(403, "Forbidden"))
      return { turn.rejectAll([.createPermission, .channelBind], with: nil) }
    default:
      let code = UInt16(clamping: fault.arguments.count("code") ?? 500)
      let methods = Self.methods(fault.arguments.text("request"))
      turn.rejectAll(methods, with: STUNError(code, "Rejected by the scenario"))
      return { turn.rejectAll(methods, with: nil) }
    }
    return nil
  }

  private static func methods(_ request: String?) -> [STUNMethod] {
    switch request {
    case "allocate": [.allocate]
    case "refresh": [.refresh]
    case "create-permission": [.createPermission]
    case "channel-bind": [.channelBind]
    default: [.allocate, .refresh, .createPermission, .channelBind]
    }
  }

  // MARK: Signalling

  private func performSignalling(_ fault: Fault) throws -> (() throws -> Void)? {
    guard let server = world.signallingServer else { throw HarnessError("there is no signalling server") }
    let arguments = fault.arguments
    func add(_ effect: SignallingFault.Effect) -> () throws -> Void {
      let id = server.faults.add(
        SignallingFault(
          effect, type: arguments.text("message"), from: arguments.text("from"), to: arguments.text("to"),
          count: arguments.count("count")))
      return { server.faults.remove(id) }
    }
    switch fault.kind {
    case .signalDrop: return add(.drop)
    case .signalDelay: return add(.delay(arguments.duration("by") ?? .zero))
    case .signalDuplicate: return add(.duplicate)
    case .signalReorder: return add(.reorder)
    case .signalCorrupt: return add(.corrupt)
    case .signalBlackhole: return add(.blackhole)
    default:
      let peer = try name("peer", of: fault)
      server.disconnect(user: peer)
      return try refuseConnections(of: peer)
    }
  }

  /// While it lasts, nothing the peer sends to the signalling server arrives.
  private func refuseConnections(of peer: String) throws -> () throws -> Void {
    guard let server = world.signallingServer else { return {} }
    server.refuse(user: peer, true)
    return { server.refuse(user: peer, false) }
  }

  // MARK: Packets and devices

  private func performPacket(_ fault: Fault) throws -> (() throws -> Void)? {
    let arguments = fault.arguments
    let content: PacketContent = fault.kind == .dtlsDrop ? .dtls : try content(of: fault)
    var rules: [PacketRuleID] = []
    let sender = try arguments.text("from").map { try simulator.host($0) }
    let receiver = try arguments.text("to").map { try simulator.host($0) }
    var rule = PacketRule(
      content: content, flight: arguments.count("flight"), sender: sender, receiver: receiver,
      limit: arguments.count("count"))
    let numbers = (arguments.texts("nth") ?? []).compactMap { Int($0) }
    if numbers.isEmpty { rules.append(simulator.addRule(rule)) }
    // A rule that drops counts what later rules never see, so each number is asked for on its own, highest first.
    for number in numbers.sorted(by: >) {
      rule.skip = number - 1
      rule.limit = 1
      rules.append(simulator.addRule(rule))
    }
    return { [simulator] in for rule in rules { simulator.removeRule(rule) } }
  }

  private func content(of fault: Fault) throws -> PacketContent {
    guard let content = fault.arguments.text("protocol").flatMap(PacketContent.init) else {
      throw HarnessError("packet.drop needs a protocol")
    }
    return content
  }

  private func performDevice(_ fault: Fault) throws -> (() throws -> Void)? {
    let peer = try name("peer", of: fault)
    guard let target = world.peer(peer) else { throw HarnessError("there is no peer '\(peer)'") }
    let by = fault.arguments.duration("by") ?? .zero
    if fault.kind == .clockJump {
      target.jumpClock(by: by)
      return nil
    }
    target.device.setAudioLatency(by)
    return { target.device.setAudioLatency(.zero) }
  }
}
