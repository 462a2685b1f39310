internal import CallCore
internal import STUN
internal import ScenarioFormat
internal import SimNet
internal import VirtualPeer

/// Measures of a fault's effects by the counters of the world. An effect is counted where it takes place, so a link
/// that is down has no random losses.
extension LayeredState.Measure where State == LinkState, Tally == LinkTally {
  init(of link: LinkID, in simulator: Simulator) {
    self.init(
      tally: { LinkTally(of: link, in: simulator) }, shows: { LinkTally.shows($0, from: $1, to: $2) },
      lasts: { $0.changes(\.isUp) && $2.time > $1.time })
  }
}

extension LayeredState.Measure where State == Topology.NAT, Tally == NATTally {
  init(natOf network: NetworkID, in simulator: Simulator) {
    self.init(
      tally: { simulator.natTally(of: network) },
      shows: { step, earlier, later in
        let present = NATConfiguration(step.present)
        return later.shows(present, insteadOf: present.without(step), since: earlier)
      })
  }
}

extension LayeredState.Measure where State == FirewallRules?, Tally == [FirewallPacket: Int] {
  init(firewallOf network: NetworkID, in simulator: Simulator) {
    self.init(
      tally: { simulator.firewallRefusals(of: network) },
      shows: { step, earlier, later in
        later.contains { packet, count in
          count > earlier[packet] ?? 0 && step.after?.refusal(of: packet) != nil
            && step.before?.refusal(of: packet) == nil
        }
      })
  }
}

extension LayeredState.Measure where State == [STUNMethod: STUNError], Tally == [STUNMethod: UInt64] {
  init(rejectionsOf turn: TURNServerHost) {
    self.init(
      tally: { turn.rejectionCounts },
      shows: { step, earlier, later in
        World.rejectableMethods.contains { method in
          step.changes { $0[method] } && later[method] ?? 0 > earlier[method] ?? 0
        }
      })
  }
}

extension LayeredState.Measure where State == DeviceConditions, Tally == DeviceTally {
  /// Each condition shows in what it can change, and in nothing that others change.
  init(of lifecycle: AppLifecycle) {
    self.init(
      tally: { lifecycle.tally },
      shows: { step, earlier, later in
        let audio = later.audioChanges > earlier.audioChanges
        let rings = later.phoneMoves > earlier.phoneMoves || later.holds > earlier.holds
        let connected = step.after.accessories.last { !step.before.accessories.contains($0) }
        return step.changes(\.presence) && later.moves > earlier.moves
          || step.changes(\.isMemoryShort) && later.memoryEnds > earlier.memoryEnds
          || (step.changes(\.takesAudio) || step.changes(\.isAudioEndUntold)) && audio
          || step.changes(\.phoneCall) && rings
          || connected.map { later.accessoryUses[$0] != earlier.accessoryUses[$0] } ?? false
          || step.changes(\.cameraInterruption) && later.cameraChanges > earlier.cameraChanges
          // What a fault keeps up alone, once another is over, changes nothing then.
          || lifecycle.differs(under: step.after, from: step.before)
      }, countsEnds: true)
  }
}

extension LayeredState.Measure where Tally == Int {
  /// Makes a measure for a state with one counter, which counts effects while the fault determines the state.
  init(counting count: @escaping () -> Int) {
    self.init(tally: count, shows: { step, earlier, later in step.changes { $0 } && later > earlier })
  }
}

/// The counters of both directions of a link.
struct LinkTally {
  let transmit: LinkStatistics
  let receive: LinkStatistics
  /// The time at which they were read.
  let time: Instant

  init(of link: LinkID, in simulator: Simulator) {
    time = simulator.now
    transmit = simulator.statistics(of: link, .tx)
    receive = simulator.statistics(of: link, .rx)
  }

  /// The number of packets offered to the link, and of those it accepted.
  var offered: Int { transmit.offeredPackets + receive.offeredPackets }
  var carried: Int { transmit.carriedPackets + receive.carriedPackets }

  /// Returns the number of packets offered to one direction.
  func offered(_ side: LinkDirection) -> Int { (side == .tx ? transmit : receive).offeredPackets }

  /// The number of packets lost because the link was down.
  private var cut: Int {
    [transmit, receive].reduce(0) { $0 + $1.cutPackets + ($1.drops[.linkDown] ?? 0) }
  }

  static func shows(_ step: FaultStep<LinkState>, from earlier: LinkTally, to later: LinkTally) -> Bool {
    let isCarrying = later.carried > earlier.carried
    if step.changes(\.isUp), step.after.isUp ? isCarrying : later.cut > earlier.cut { return true }
    if step.changes(\.attachment), isCarrying || later.cut > earlier.cut { return true }
    return LinkChange(step, \.transmit, earlier.transmit, later.transmit).shows
      || LinkChange(step, \.receive, earlier.receive, later.receive).shows
  }
}

/// The change of a fault to one direction of a link, and the counters of that direction since.
private struct LinkChange {
  private let step: FaultStep<LinkState>
  private let side: (LinkState) -> LinkSettings
  private let earlier: LinkStatistics
  private let later: LinkStatistics

  init(
    _ step: FaultStep<LinkState>, _ side: @escaping (LinkState) -> LinkSettings, _ earlier: LinkStatistics,
    _ later: LinkStatistics
  ) {
    self.step = step
    self.side = side
    self.earlier = earlier
    self.later = later
  }

  private var old: LinkSettings { side(step.before) }
  private var new: LinkSettings { side(step.after) }

  private func changes<Value: Equatable>(_ value: (LinkSettings) -> Value) -> Bool {
    step.changes { value(side($0)) }
  }

  private func grew(_ count: (LinkStatistics) -> Int) -> Bool { count(later) > count(earlier) }

  private func grew(_ reason: DropReason) -> Bool { grew { $0.drops[reason] ?? 0 } }

  private var isCarrying: Bool { grew(\.carriedPackets) }

  var shows: Bool { swallows || loses || isSlower || isDisturbed }

  private var swallows: Bool {
    if changes(\.isBlackhole), grew({ ($0.drops[.blackhole] ?? 0) - $0.swallowedBySize }) { return true }
    return changes(\.blackholeAbove) && grew(\.swallowedBySize)
  }

  private var loses: Bool {
    guard changes(\.loss) else { return false }
    if grew(\.lostPackets) { return true }
    // Loss is reduced: every carried packet benefits from that.
    return (new.loss == .none || new.loss.meanLoss < old.loss.meanLoss) && isCarrying
  }

  private var isSlower: Bool {
    if changes(\.rate), isCarrying || grew(.queue) { return true }
    if changes(\.delay) || changes(\.jitter), isCarrying { return true }
    if changes(\.order), new.jitter != .none, isCarrying { return true }
    guard changes(\.queue) else { return false }
    if grew(.queue) { return true }
    // A packet whose wait exceeded the old bound was kept because of the new bound.
    if case .time(let bound) = old.queue, later.longestWait <= bound { return false }
    return !new.queue.isSurelyBelow(old.queue) && grew(\.waitingPackets)
  }

  private var isDisturbed: Bool {
    func shows(_ share: (LinkSettings) -> Double, _ count: (LinkStatistics) -> Int) -> Bool {
      changes(share) && (grew(count) || (share(new) < share(old) && isCarrying))
    }
    return shows({ $0.reordering.probability }, \.overtakingPackets) || shows({ $0.duplication }, \.duplicatedPackets)
      || shows({ $0.corruption.probability }, \.damagedPackets)
  }
}

extension QueueLimit {
  /// Returns whether every queue that fits within this limit fits within another.
  fileprivate func isSurelyBelow(_ other: QueueLimit) -> Bool {
    switch (self, other) {
    case (.packets(let a), .packets(let b)), (.bytes(let a), .bytes(let b)): a <= b
    case (.time(let a), .time(let b)): a <= b
    case (_, .unlimited): true
    default: false
    }
  }
}

extension NATConfiguration {
  /// Returns this configuration without the changes of one fault.
  fileprivate func without(_ step: FaultStep<Topology.NAT>) -> NATConfiguration {
    let (before, after) = (NATConfiguration(step.before), NATConfiguration(step.after))
    var other = self
    func take<Value: Equatable>(_ path: WritableKeyPath<NATConfiguration, Value>) {
      let isOfStep = before[keyPath: path] != after[keyPath: path] && self[keyPath: path] == after[keyPath: path]
      if isOfStep { other[keyPath: path] = before[keyPath: path] }
    }
    take(\.mapping)
    take(\.filtering)
    let timers: WritableKeyPath<NATConfiguration, SessionTimers> = \.timers
    for path in SessionTimers.paths { take(timers.appending(path: path)) }
    take(\.inboundRefresh)
    take(\.preservesPort)
    take(\.preservesParity)
    take(\.portSelection)
    take(\.portRange)
    take(\.overloadsPorts)
    take(\.portReuseDelay)
    take(\.mappingsPerHost)
    take(\.mappingLimit)
    take(\.blocks)
    take(\.pooling)
    take(\.hairpinning)
    take(\.adoptsMidstreamTCP)
    return other
  }
}

extension SessionTimers {
  fileprivate static var paths: [WritableKeyPath<SessionTimers, Interval>] {
    [
      \.udpFirst, \.udpUnanswered, \.udpAnswered, \.udpAnsweredAge, \.tcpOpening, \.tcpEstablished, \.tcpClosing,
      \.tcpReset,
    ]
  }
}
