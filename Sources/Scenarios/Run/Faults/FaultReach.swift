internal import CallCore
internal import SimNet
internal import VirtualPeer
internal import Vocabulary

/// Whether a fault met anything: a packet, mapping, allocation or connection that was treated differently because of
/// it. A lasting fault is measured by its ``LayeredState``, an instantaneous one by the counters of the objects it
/// ended.
struct FaultReach {
  /// Returns whether it has met anything so far.
  let hasMet: () -> Bool
  /// Returns why it met nothing, for a fault that met nothing.
  let lack: () -> String
  /// Whether it is evaluated at the end of the run, even if the fault ended before: an object that it ended may be
  /// missed later.
  var isAskedLate = false

  /// Sets an outcome that is known when the fault strikes.
  init(lack: String, now hasMet: Bool) {
    self.hasMet = { hasMet }
    self.lack = { lack }
  }

  /// Measures a counter that grows because of the fault, sooner or later.
  init(lack: String, growing count: @escaping () -> Int) {
    let start = count()
    hasMet = { count() > start }
    self.lack = { lack }
    isAskedLate = true
  }

  init(
    lack: @escaping @autoclosure () -> String, isAskedLate: Bool = false, _ hasMet: @escaping () -> Bool
  ) {
    self.hasMet = hasMet
    self.lack = lack
    self.isAskedLate = isAskedLate
  }

  /// The outcome now, unaffected by later events.
  var decided: FaultReach { isAskedLate ? self : FaultReach(lack: lack(), now: hasMet()) }
}

// MARK: - Lasting faults

extension FaultReach {
  /// Measures a lasting change.
  ///
  /// - Parameters:
  ///   - known: the reason if the fault makes no change.
  ///   - lack: the reason if nothing met the change.
  ///   - isAskedLate: whether the end of the fault may show that it met something.
  init(
    _ state: any Layered, _ fault: FaultID, known: String, isAskedLate: Bool = false,
    lack: @escaping @autoclosure () -> String
  ) {
    self.init(lack: state.lack(of: fault, known: known, lack()), isAskedLate: isAskedLate) { state.hasMet(fault) }
  }

  /// Measures a change to a link. A host is told when its link goes down, and then offers it no packets: such a fault
  /// has met something if the link was down because of it for some time, and the link carried packets at some time or the
  /// host could not open a stream since.
  init(
    _ change: FaultEffect.LinkChange, _ state: any Layered, _ fault: FaultID, _ link: LinkID, _ simulator: Simulator
  ) {
    let start = LinkTally(of: link, in: simulator)
    let interface = simulator.interface(attachedBy: link)
    let refusals = { interface.map { simulator.unreachableCount(atHostOf: $0) } ?? 0 }
    let formerRefusals = refusals()
    let lack = {
      let now = LinkTally(of: link, in: simulator)
      if now.offered == start.offered { return "no packet was offered to the link" }
      return now.carried == start.carried ? "the link carried nothing" : "no packet was treated otherwise"
    }
    switch change {
    case .down, .flap:
      let known = "the link was down already"
      self.init(lack: state.lack(of: fault, known: known, lack()), isAskedLate: true) {
        state.hasMet(fault)
          || (interface != nil && state.hasLasted(fault)
            && (LinkTally(of: link, in: simulator).carried > 0 || refusals() > formerRefusals))
      }
    case .move: self.init(state, fault, known: "the host was there already", lack: lack())
    case .up: self.init(state, fault, known: "the link was up already", lack: lack())
    case .set, .blackhole, .oneWay: self.init(state, fault, known: "the link was like this already", lack: lack())
    }
  }

  /// Measures the packet rules of one fault, each of which must have dropped something: a packet that is selected by
  /// its number has its own rule.
  init(rules: [(id: PacketRuleID, rule: PacketRule)], in simulator: Simulator) {
    let idle = { rules.filter { simulator.dropCount(of: $0.id) == 0 } }
    let lack = {
      let idle = idle()
      if idle.contains(where: { simulator.forestalledCount(of: $0.id) > 0 }) {
        return "an older fault dropped its packets"
      }
      guard idle.count < rules.count else { return "no packet was like this" }
      return "no packet \(idle.map { String($0.rule.skip + 1) }.joined(separator: " and no ")) of this kind came"
    }
    // Forged packets may still be on their way when the fault ends.
    self.init(lack: lack(), isAskedLate: true) { idle().isEmpty }
  }

  /// Measures the delay of events. One that its connection no longer delivers was missing until then.
  init(
    _ late: LateEventTally, _ state: LayeredState<EventLateness, [ConnectionEventName: Int]>, _ fault: FaultID
  ) {
    let lack = {
      guard state.hasMet(fault) else {
        return state.lack(of: fault, known: "they were as late already", "no such event came while it lasted")
      }
      return "their connection was closed as they came"
    }
    self.init(lack: lack(), isAskedLate: true) { state.hasMet(fault) && !late.isDiscarded }
  }

  /// Measures a change to a NAT.
  init(_ state: any Layered, _ fault: FaultID, natOf network: NetworkID, _ simulator: Simulator) {
    let crossed = { simulator.uplink(of: network).map { LinkTally(of: $0, in: simulator).offered } ?? 0 }
    let start = crossed()
    self.init(
      state, fault, known: "the NAT was like this already",
      lack: crossed() == start ? "no packet crossed the router" : "the NAT treated nothing otherwise")
  }
}

// MARK: - Instantaneous faults

extension FaultReach {
  init(_ event: FaultEffect.TURNEvent, of turn: TURNServerHost) {
    let hasAllocation = !turn.allocations.isEmpty
    switch event {
    case .disconnect: self.init(lack: "the relay had no connection", now: turn.streamCount > 0)
    case _ where !hasAllocation: self.init(lack: "the relay had no allocation", now: false)
    case .restart: self.init(lack: "", now: true)
    case .staleNonce: self.init(lack: "nobody used such a nonce again") { turn.withdrawnNonceCount }
    case .expirePermissions where turn.grantCounts.permissions == 0:
      self.init(lack: "the relay had no permission", now: false)
    case .expireChannels where turn.grantCounts.channels == 0: self.init(lack: "the relay had no channel", now: false)
    case .expirePermissions: self.init(lack: "nobody missed a permission") { turn.missedPermissionCount }
    case .expireChannels: self.init(lack: "nobody missed a channel") { turn.missedChannelCount }
    }
  }

  /// Measures an instantaneous event of a NAT.
  ///
  /// - Parameter moved: the number of mappings that `nat.remap` has moved.
  init(_ event: FaultEffect.NATEvent, mappings: Int, moved: Int, tally: @escaping () -> NATTally) {
    let lack = "the NAT had no mapping"
    switch event {
    case .expire, .reboot(nil): self.init(lack: lack, now: mappings > 0)
    case .remap: self.init(lack: mappings > 0 ? "the NAT had no other port" : lack, now: moved > 0)
    case .reboot:
      // A new address is also met by later requests for a mapping.
      let start = tally()
      self.init(lack: lack, isAskedLate: true) { mappings > 0 || tally().mappingCount > start.mappingCount }
    }
  }
}

extension Layered {
  /// Returns why a fault met nothing.
  ///
  /// - Parameters:
  ///   - known: the reason if it made no change.
  ///   - lack: the reason if nothing met the change.
  fileprivate func lack(of fault: FaultID, known: String, _ lack: @autoclosure () -> String) -> String {
    if hasChanged(by: fault) { return lack() }
    return isForestalled(fault) ? "an older fault did so already" : known
  }
}
