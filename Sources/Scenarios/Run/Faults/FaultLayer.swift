internal import CallCore
internal import ScenarioFormat
internal import SimNet
internal import VirtualPeer
internal import Vocabulary

/// The faults in force over a world.
///
/// A lasting fault is an instance: an entry that fires again begins another, and each ends by itself. The changes of
/// all instances to one object are applied to its base by a ``LayeredState``, so instances may overlap in any order.
final class FaultLayer {
  private struct Instance {
    let id: FaultID
    let entry: String
    let name: String
    var reach = FaultReach(lack: "", now: true)
    /// The time at which it ends by itself, for a fault with a duration.
    var end: Instant?
    /// Returns why the fault is incomplete so far, if it proceeds by itself; nil when it is complete.
    var rest: () -> String? = { nil }
    /// Whether the run waits for its completion; nil if it never does. What is complete once stays so.
    var isUnfinished: (() -> Bool)?
    /// Returns the time at which the last of what it holds comes; nil if it holds nothing.
    var heldUntil: () -> Instant? = { nil }
    /// The states that it changes.
    var layers: [any Layered] = []
    /// Ends its other effects.
    var finish: () -> Void = {}
    /// What it is and acts on, if that is a part of the channel; nil if it is none.
    var channelNote: String?
  }

  private let world: World
  private let states: LayeredWorld
  private let onFailure: (any Error) -> Void
  /// The instances in force, in order of start.
  private var active: [Instance] = []
  /// The instances that are over; an entry that fired twice occurs twice.
  private var past: [Instance] = []
  /// The instances for whose completion the run waits, asked after every event: those that are complete are forgotten.
  private var unfinished: [() -> Bool] = []
  private var count = 0
  /// The time from which on what faults hold is not waited for, and so is not cut short either; nil if all counts.
  var holdLimit: Instant?
  private let subject: TraceSubject

  /// - Parameter onFailure: receives the error of a fault that cannot end by itself.
  init(world: World, onFailure: @escaping (any Error) -> Void) {
    self.world = world
    self.onFailure = onFailure
    states = LayeredWorld(world)
    subject = world.simulator.trace.subject(ReservedName.timekeeper)
  }

  private var simulator: Simulator { world.simulator }
  private var trace: Trace { world.simulator.trace }

  /// Begins a fault.
  ///
  /// - Parameter duration: the time after which it ends by itself; nil if it lasts until it is cleared.
  func apply(_ fault: Fault, entry: String, for duration: Interval? = nil) throws {
    trace.cause = trace.write(RunEvents.faultApplied, subject, entry, fault.kind.rawValue)
    count += 1
    var instance = Instance(id: FaultID(number: count), entry: entry, name: fault.kind.rawValue)
    let effect = try FaultEffect(fault, in: world)
    if effect.isOfChannel { instance.channelNote = fault.channelNote }
    noteChannel("begins", instance)
    let lasts = try begin(effect, &instance)
    if let isUnfinished = instance.isUnfinished { unfinished.append(isUnfinished) }
    guard lasts else { return past.append(instance) }
    instance.end = duration.map { simulator.now + $0 }
    active.append(instance)
    for layer in instance.layers { try layer.commit() }
    guard let duration else { return }
    world.timekeeper.clock.schedule(after: duration) { [weak self, id = instance.id] in self?.endByItself(id) }
  }

  /// Ends every fault of an entry.
  func clear(entry: String) throws { try end { $0.entry == entry } }

  func isInForce(_ entry: String) -> Bool { active.contains { $0.entry == entry } }

  /// Returns why no fault of an entry has met anything so far; nil when one has or holds something, or none began.
  func lack(of entry: String) -> String? {
    let instances = (past + active).filter { $0.entry == entry }
    return instances.contains { $0.reach.hasMet() || $0.rest() != nil } ? nil : instances.first?.reach.lack()
  }

  /// Whether every fault that ends by itself has ended and is complete.
  var isDone: Bool {
    unfinished.removeAll { !$0() }
    return unfinished.isEmpty && !active.contains { $0.end != nil }
  }

  /// The time at which the last of what faults hold comes; nil if they hold nothing.
  var heldUntil: Instant? { (past + active).compactMap { $0.heldUntil() }.max() }

  /// Returns why the faults of an entry are incomplete so far; nil when one of them is complete.
  func rest(of entry: String) -> String? {
    let instances = (past + active).filter { $0.entry == entry }
    let isComplete = instances.contains { $0.rest() == nil && $0.end == nil && $0.reach.hasMet() }
    guard !isComplete, let first = instances.first(where: { $0.rest() != nil || $0.end != nil }) else { return nil }
    if let rest = first.rest() { return rest }
    return first.end.map {
      "it was to last until \(Wording.time($0)), and the run ended at \(Wording.time(simulator.now))"
    }
  }

  /// Ends every fault.
  func clearAll() throws { try end { _ in true } }

  /// Ends a fault together with all others that end now, so that no intermediate state is seen.
  private func endByItself(_ id: FaultID) {
    let now = simulator.now
    do { try end { $0.id == id || $0.end == now } } catch { onFailure(error) }
  }

  /// Removes all of them before the world is changed, so that ends at one time have no state between them.
  private func end(where isMeant: (Instance) -> Bool) throws {
    let ending = active.filter(isMeant)
    active.removeAll(where: isMeant)
    for instance in ending {
      trace.cause = trace.write(RunEvents.faultCleared, subject, instance.entry, instance.name)
      noteChannel("ends", instance)
      for layer in instance.layers { layer.remove(instance.id) }
      instance.finish()
      var over = instance
      over.reach = instance.reach.decided
      over.end = nil
      past.append(over)
    }
    for instance in ending { for layer in instance.layers { try layer.commit() } }
  }

  private func noteChannel(_ what: String, _ instance: Instance) {
    if let note = instance.channelNote { simulator.noteChannel("\(what) \(instance.entry) \(note)") }
  }

  // MARK: Beginning

  /// Performs an effect that is over at once, or applies one that lasts.
  ///
  /// - Returns: whether it lasts.
  private func begin(_ effect: FaultEffect, _ instance: inout Instance) throws -> Bool {
    switch effect {
    case .link(let name, let change): try begin(change, of: name, &instance)
    case .nat(let network, let draft):
      let state = try states.nat(of: network)
      try lay(over: state, &instance) { $0 = draft.changing($0) }
      instance.reach = FaultReach(state, instance.id, natOf: try simulator.network(network), simulator)
    case .firewall(let network, let change):
      let state = try states.firewall(of: network)
      try lay(over: state, &instance) { $0 = ($0 ?? .open).under(change) }
      instance.reach = FaultReach(
        state, instance.id, known: "the firewall let none of that through anyway",
        lack: "the firewall dropped no packet")
    case .rejection(let server, let methods, let error):
      let state = try states.rejections(of: server)
      try lay(over: state, &instance) { errors in for method in methods { errors[method] = error } }
      instance.reach = FaultReach(
        state, instance.id, known: "the relay refused it already", lack: "nobody asked the relay for it")
    case .silence(let server):
      let state = states.silence(of: server)
      try lay(over: state, &instance) { $0 = true }
      instance.reach = FaultReach(
        state, instance.id, known: "the server was silent already", lack: "nobody asked the server")
    case .certificate(let server, let certificate):
      let state = try states.certificate(of: server)
      try lay(over: state, &instance) { $0 = certificate }
      instance.reach = FaultReach(
        state, instance.id, known: "the server showed such a certificate already", lack: "nobody was shown it")
    case .signalling(let server, let fault): try begin(fault, at: try world.callServer(named: server), &instance)
    case .signallingRefusal(let server, let peer):
      try refuse(peer, at: try world.callServer(named: server), &instance)
    case .packetRules(let rules):
      let added = rules.map { (id: simulator.addRule($0), rule: $0) }
      instance.reach = FaultReach(rules: added, in: simulator)
      instance.finish = { [simulator] in for (id, _) in added { simulator.removeRule(id) } }
    case .audioLatency(let peer, let latency):
      let state = try states.audioLatency(of: peer)
      try lay(over: state, &instance) { $0 = latency }
      instance.reach = FaultReach(
        state, instance.id, known: "it was as late already", lack: "none of its audio was so late")
    case .deviceCondition(let peer, let condition):
      let state = try states.deviceConditions(of: peer)
      try lay(over: state, &instance) { condition.apply(to: &$0) }
      instance.reach = FaultReach(
        state, instance.id, known: "the device was like that already", isAskedLate: true,
        lack: "nothing of the app changed")
    case .traffic(let peer, let load):
      let device = try world.participant(peer).runtime
      let random = simulator.random.scoped("traffic").scoped("\(instance.id.number)")
      let traffic = CrossTraffic(load, of: device, with: try world.trafficServer(for: peer), random: random)
      instance.reach = FaultReach(lack: "no byte of it arrived", isAskedLate: true) { traffic.hasArrived }
      instance.finish = { traffic.stop() }
      traffic.start()
    case .eventLateness(let peer, let names, let lateness):
      let state = try states.eventLateness(of: peer)
      let id = instance.id
      try lay(over: state, &instance) { for name in names { $0.set(lateness, of: name, by: id.number) } }
      let late = LateEventTally(device: try world.participant(peer).device, fault: id)
      instance.reach = FaultReach(late, state, id)
      instance.heldUntil = { late.heldUntil }
      instance.rest = { [unowned self] in
        late.held(before: holdLimit).map { Self.cutShort($0.name.rawValue, until: $0.due) }
      }
    case .natEvent(let network, let event):
      instance.reach = try perform(event, on: network)
      return false
    case .turnEvent(let server, let event):
      let turn = try world.relay(server)
      instance.reach = FaultReach(event, of: turn)
      Self.perform(event, on: turn)
      return false
    case .dtlsFailure(let peer):
      let failed = try world.participant(peer).failDTLS()
      instance.reach = FaultReach(lack: "\(peer) had no connection with DTLS", now: failed > 0)
      return false
    case .dataChannelFailure(let peer):
      let failed = try world.participant(peer).failDataChannels()
      instance.reach = FaultReach(lack: "\(peer) had opened no data channel", now: failed > 0)
      return false
    case .clockJump(let peer, let interval):
      let participant = try world.participant(peer)
      participant.jumpClock(by: interval)
      instance.reach = FaultReach(lack: "\(peer) made no connection afterwards, and no token") {
        participant.madeConnectionCount + participant.dateReadCount
      }
      return false
    }
    return true
  }

  private static func cutShort(_ what: String, until time: Instant) -> String {
    "\(what) was to come at \(Wording.time(time)), after the end of the run"
  }

  private static func cutShort(_ message: SignallingMessage, until time: Instant) -> String {
    cutShort("\(message.type) from \(message.from ?? "the server") to \(message.to ?? "the server")", until: time)
  }

  private static func lack(_ miss: SignallingFaults.Miss) -> String {
    switch miss {
    case .taken: "another fault took its messages"
    case .overwritten: "another fault made the same change, wrote over it or undid it"
    case .undeliverable: "the connection of its messages was over"
    }
  }

  private static func lack(of effect: SignallingFault.Effect) -> String {
    switch effect {
    case .reorder: "no message like this was passed by another"
    case .set: "no message was like this, or each had that value already"
    case .mutate(.description(.inlineCandidates)): "no message was like this, or none had candidates soon enough"
    case .drop, .delay, .duplicate, .corrupt, .damage, .mutate, .mutateFrame, .blackhole: "no message was like this"
    }
  }

  private func begin(_ fault: SignallingFault, at server: CallServerHost, _ instance: inout Instance) throws {
    let faults = server.faults
    let id = faults.add(fault)
    instance.reach = FaultReach(
      lack: faults.held(by: id).map(Self.cutShort) ?? faults.miss(of: id).map(Self.lack)
        ?? Self.lack(of: fault.effect),
      // A message that it held may be passed after its end.
      isAskedLate: true
    ) { faults.meetings(of: id) > 0 }
    instance.heldUntil = { faults.heldUntil(by: id) }
    instance.rest = { [unowned self] in faults.held(by: id, before: holdLimit).map(Self.cutShort) }
    instance.finish = { faults.remove(id) }
  }

  private func refuse(_ peer: String, at server: CallServerHost, _ instance: inout Instance) throws {
    let user = world.scenario.userID(of: peer)
    let isConnected = server.isConnected(user: user)
    server.disconnect(user: user)
    let (state, id) = (states.refusal(of: peer, at: server), instance.id)
    try lay(over: state, &instance) { $0 = true }
    instance.reach = FaultReach(lack: "\(peer) had no connection, and made none") { isConnected || state.hasMet(id) }
  }

  private func lay<State, Tally>(
    over state: LayeredState<State, Tally>, _ instance: inout Instance,
    _ change: @escaping LayeredState<State, Tally>.Change
  ) throws {
    try state.add(instance.id, change)
    instance.layers.append(state)
  }

  private func begin(_ change: FaultEffect.LinkChange, of link: String, _ instance: inout Instance) throws {
    let state = try states.link(link)
    instance.reach = FaultReach(change, state, instance.id, try simulator.link(link), simulator)
    switch change {
    case .down: try lay(over: state, &instance) { $0.isUp = false }
    case .up: try lay(over: state, &instance) { $0.isUp = true }
    case .set(let impairments, let direction):
      let (now, tally) = (simulator.now, LinkTally(of: try simulator.link(link), in: simulator))
      try lay(over: state, &instance) {
        $0.change(direction) { settings, side in
          settings.apply(impairments)
          // A script of losses counts from the start of its fault, whichever faults begin later.
          if impairments.loss != nil { settings.loss = settings.loss.begun(after: tally.offered(side), at: now) }
        }
      }
    case .flap(let down, let up, let cycles):
      let id = instance.id
      let flap = LinkFlap(
        down: down, up: up, cycles: cycles, clock: world.timekeeper.clock,
        changed: { [weak self] in
          state.changed(by: id)
          do { try state.commit() } catch { self?.onFailure(error) }
        },
        ended: { [weak self] in self?.endByItself(id) })
      try lay(over: state, &instance) { if flap.isDown { $0.isUp = false } }
      instance.finish = { flap.stop() }
      instance.rest = { flap.rest }
      instance.isUnfinished = { flap.isUnfinished }
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

  private func perform(_ event: FaultEffect.NATEvent, on network: String) throws -> FaultReach {
    let (simulator, id) = (simulator, try simulator.network(network))
    let mappings = simulator.natMappings(of: id).count
    var moved = 0
    switch event {
    case .reboot(let addresses): try simulator.rebootNAT(network, externalAddresses: addresses)
    case .expire: try simulator.expireNATMappings(network)
    case .remap: moved = try simulator.remapNAT(network)
    }
    return FaultReach(event, mappings: mappings, moved: moved) { simulator.natTally(of: id) }
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

extension FaultEffect.DeviceCondition {
  fileprivate func apply(to conditions: inout DeviceConditions) {
    switch self {
    case .left: conditions.isLeft = true
    case .covered: conditions.isCovered = true
    case .suspended: conditions.isSuspended = true
    case .audioTaken(let isEndTold):
      conditions.isAudioTaken = true
      if !isEndTold { conditions.isAudioEndUntold = true }
    case .killed: conditions.isKilled = true
    case .memoryShort: conditions.isMemoryShort = true
    case .accessory(let accessory): conditions.connect(accessory)
    case .cameraInterruption(let reason): conditions.cameraInterruption = reason
    case .phoneCall(let isAnswered): conditions.phoneCall = isAnswered ? .answered : .ringing
    }
  }
}
