import CallCore
import SimNet

/// Checks that faults have an effect and that the run is long enough for them.
enum FaultChecks {
  static func check(_ scenario: inout Scenario, _ reading: inout Reading) {
    // With errors elsewhere, a fault may only appear to have no effect.
    let isWhole = !reading.diagnostics.contains { $0.code.severity == .error }
    for index in scenario.timeline.indices {
      let entry = scenario.timeline[index]
      guard case .fault(let fault, let duration) = entry.effect else { continue }
      checkEnd(entry, fault, duration, scenario, &reading)
      if fault.kind == .linkFlap { checkFlap(entry, fault, duration, scenario, &reading) }
      checkPeers(fault, scenario, &reading)
      AddressChecks.check(fault, scenario, &reading)
      guard isWhole else { continue }
      let problem = problem(of: fault, entry, in: scenario)
      if entry.isControl {
        guard problem == nil else { continue }
        reading.report(
          .conflictingKeys, "'control' says that this changes nothing, and it does", at: entry.span,
          hint: "leave control out")
      }
      reading.note(fault: problem, key: nil, at: entry.span)
      scenario.timeline[index].isControl = problem != nil
      for (key, problem) in keys(of: fault, entry, in: scenario) where scenario.timeline[index].isControl == false {
        reading.note(fault: problem, key: key, at: entry.span)
      }
      checkNAT(fault, entry, in: scenario, &reading)
    }
  }

  // MARK: - Length

  /// Reports a fault that does not begin, or does not reach its length, before the end of the run.
  private static func checkEnd(
    _ entry: TimelineEntry, _ fault: Fault, _ duration: Interval?, _ scenario: Scenario, _ reading: inout Reading
  ) {
    guard let start = TimelineChecks.earliest(.entry(entry.id), scenario), start <= scenario.latestEnd else { return }
    let end = "the run ends at \(scenario.latestEnd - Instant.zero)"
    let hint = scenario.duration == nil ? "raise limits: { virtual: … }" : "raise run"
    if start == scenario.latestEnd {
      return reading.report(.neverFires, "this begins when \(end), and meets nothing", at: entry.span, hint: hint)
    }
    guard let (what, length) = length(of: fault, duration), start + length > scenario.latestEnd else { return }
    let message = "\(what) at \(start + length - Instant.zero) at the earliest, and \(end)"
    reading.report(.beyondEnd, message, at: entry.span, hint: hint)
  }

  /// Returns what the run must be long enough for, and how long that takes from the beginning of the fault.
  static func length(of fault: Fault, _ duration: Interval?) -> (what: String, length: Interval)? {
    let delay = [.signalDelay, .deviceEventsLate].contains(fault.kind) ? fault.arguments.duration("by") : nil
    if let delay, delay > duration ?? .zero { return ("what this delays comes", delay) }
    if let duration { return ("this is over", duration) }
    switch fault.kind {
    case .linkFlap: return flapLength(fault).map { ("this has gone down for the last time", $0) }
    case .linkDown, .linkUp, .linkSet, .linkBlackhole, .linkOneWay, .linkMove, .natReboot, .natExpire, .natRemap,
      .natSet, .firewallBlock, .firewallAllow, .turnRestart, .turnDeny, .turnStaleNonce, .turnReject,
      .turnExpirePermissions, .turnExpireChannels, .turnDisconnect, .turnCertificate, .stunSilent, .signalDrop,
      .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect, .signalBlackhole, .dtlsDrop, .dtlsFail,
      .dataChannelFail,
      .packetDrop,
      .packetForge, .clockJump, .signalDelay, .deviceEventsLate, .deviceAudioLate, .deviceBackground, .deviceInactive,
      .deviceSuspend, .devicePhoneCall, .deviceAudioInterruption,
      .deviceKill, .deviceMemoryPressure, .deviceRouteChange, .deviceCameraInterruption, .deviceTraffic:
      return nil
    }
  }

  /// Returns the time until the link comes up for the last time.
  private static func flapLength(_ fault: Fault) -> Interval? {
    guard let cycles = fault.arguments.count("cycles"), let down = fault.arguments.duration("down"),
      let up = fault.arguments.duration("up")
    else { return nil }
    return (down + up) * Int64(cycles) - up
  }

  private static func checkFlap(
    _ entry: TimelineEntry, _ fault: Fault, _ duration: Interval?, _ scenario: Scenario, _ reading: inout Reading
  ) {
    if let length = flapLength(fault) {
      guard let duration, duration < length else { return }
      let message = "'cycles' takes \(length), and 'for' ends it after \(duration)"
      return reading.report(.conflictingKeys, message, at: entry.span, hint: "leave for out")
    }
    guard let down = fault.arguments.duration("down"), let up = fault.arguments.duration("up") else { return }
    let rest = scenario.duration.flatMap { end in
      TimelineChecks.earliest(.entry(entry.id), scenario).map { end - ($0 - Instant.zero) }
    }
    guard let time = [duration, rest].compactMap({ $0 }).min(), time <= down + up else { return }
    let message = "the link goes down once: after \(down) it is up for \(up), and this lasts \(time)"
    reading.report(.ineffective, message, at: entry.span, hint: "write link.down, or a shorter up")
  }

  // MARK: - Effect

  /// Returns the reason for which the file shows that the fault has no effect in this cell; nil when it may have one.
  private static func problem(of fault: Fault, _ entry: TimelineEntry, in scenario: Scenario) -> String? {
    let others = Others(scenario, besides: entry)
    switch fault.kind {
    case .clockJump: return fault.arguments.duration("by") == .zero ? "a jump by 0s is none" : nil
    case .linkSet:
      guard let said = fault.impairments, changesNothing(fault, said, others, scenario) else { return nil }
      return "the link is like this already"
    case .linkUp:
      guard let link = scenario.topology.link(fault.arguments.text("link") ?? ""), link.startsUp,
        !others.act(on: "link", like: fault, [.linkDown, .linkFlap])
      else { return nil }
      return "the link is up from the start, and nothing takes it down"
    case .linkDown:
      guard let link = scenario.topology.link(fault.arguments.text("link") ?? ""), !link.startsUp,
        !others.act(on: "link", like: fault, [.linkUp])
      else { return nil }
      return "the link is down from the start, and nothing brings it up"
    case .linkMove:
      guard let link = scenario.topology.link(fault.arguments.text("link") ?? ""),
        link.to.value == fault.arguments.text("network"),
        !others.say(otherwise: "network", on: "link", than: fault)
      else { return nil }
      return "the link leads to '\(link.to.value)' already"
    case .natSet:
      guard let draft = fault.nat, let base = nat(of: fault, in: scenario),
        others.made(of: base, like: fault).allSatisfy({ draft.changing($0) == $0 })
      else { return nil }
      return "the NAT behaves like this already"
    case .firewallBlock, .firewallAllow:
      guard let network = scenario.topology.network(fault.arguments.text("network") ?? ""),
        let change = FirewallChange(fault)
      else { return nil }
      let rules = FirewallRules(of: network) ?? .open
      return rules.under(change) == rules ? "the router lets none of that through anyway" : nil
    case .turnCertificate:
      guard let server = scenario.topology.server(fault.arguments.text("server") ?? ""),
        server.tls.certificate.rawValue == fault.arguments.text("certificate"),
        !others.say(otherwise: "certificate", on: "server", than: fault)
      else { return nil }
      return "the server shows such a certificate already"
    case .linkFlap, .linkBlackhole, .linkOneWay, .natReboot, .natExpire, .natRemap, .turnRestart, .turnDeny,
      .turnStaleNonce, .turnReject, .turnExpirePermissions, .turnExpireChannels, .turnDisconnect, .stunSilent,
      .signalDrop, .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect,
      .signalBlackhole, .dtlsDrop, .dtlsFail, .dataChannelFail, .packetDrop, .packetForge, .deviceAudioLate,
      .deviceEventsLate,
      .deviceBackground,
      .deviceInactive, .deviceSuspend, .devicePhoneCall, .deviceAudioInterruption,
      .deviceKill, .deviceMemoryPressure, .deviceRouteChange, .deviceCameraInterruption, .deviceTraffic:
      return nil
    }
  }

  /// Returns the keys of `link.set` and `nat.set`, each with the reason for having no effect; nil when it may have one.
  private static func keys(
    of fault: Fault, _ entry: TimelineEntry, in scenario: Scenario
  ) -> [(key: String, problem: String?)] {
    let others = Others(scenario, besides: entry)
    if let impairments = fault.impairments {
      return impairments.parts.map { key, part in
        let isInert = changesNothing(fault, part, others, scenario)
        return (key, isInert ? "'\(key)' changes nothing: the link is like this already" : nil)
      }
    }
    guard let draft = fault.nat, let base = nat(of: fault, in: scenario) else { return [] }
    var kind = NATDraft()
    kind.kind = draft.kind
    let states = others.made(of: base, like: fault).map { kind.changing($0) }
    return draft.parts.map { key, part in
      let isInert = states.allSatisfy { part.over($0) == $0 }
      return (key, isInert ? "'\(key)' changes nothing: the NAT does this already" : nil)
    }
  }

  private static func changesNothing(
    _ fault: Fault, _ impairments: Topology.Impairments, _ others: Others, _ scenario: Scenario
  ) -> Bool {
    guard let link = scenario.topology.link(fault.arguments.text("link") ?? "") else { return false }
    // A scripted loss counts from its begin, so that setting it again restarts it.
    if let loss = impairments.loss, LossModel(loss).isScript { return false }
    return Fault.Direction.allCases.allSatisfy { side in
      guard fault.acts(on: side) else { return true }
      let base = LinkSettings(side == .transmit ? link.transmit : link.receive, mtu: nil)
      return others.made(of: base, on: side, like: fault).allSatisfy { earlier in
        var settings = earlier
        settings.apply(impairments)
        return settings == earlier
      }
    }
  }

  private static func nat(of fault: Fault, in scenario: Scenario) -> Topology.NAT? {
    scenario.topology.network(fault.arguments.text("network") ?? "")?.nat
  }

  private static func checkNAT(
    _ fault: Fault, _ entry: TimelineEntry, in scenario: Scenario, _ reading: inout Reading
  ) {
    guard let draft = fault.nat, let base = nat(of: fault, in: scenario), let name = fault.arguments.text("network")
    else { return }
    NATChecks.check(draft, draft.changing(base), of: name, at: entry.span, &reading)
  }

  /// Checks faults that act on parts which some kinds of peer lack.
  private static func checkPeers(_ fault: Fault, _ scenario: Scenario, _ reading: inout Reading) {
    switch fault.kind {
    case .packetDrop, .packetForge, .dtlsDrop: checkPuppets(fault, scenario, &reading)
    case .dtlsFail, .dataChannelFail, .clockJump, .deviceAudioLate, .deviceEventsLate, .deviceBackground,
      .deviceInactive, .deviceSuspend,
      .devicePhoneCall, .deviceAudioInterruption,
      .deviceKill, .deviceMemoryPressure, .deviceRouteChange, .deviceCameraInterruption, .deviceTraffic:
      checkDevice(fault, scenario, &reading)
    case .linkDown, .linkUp, .linkSet, .linkFlap, .linkBlackhole, .linkOneWay, .linkMove, .natReboot, .natExpire,
      .natRemap, .natSet, .firewallBlock, .firewallAllow, .turnRestart, .turnDeny, .turnStaleNonce, .turnReject,
      .turnExpirePermissions, .turnExpireChannels, .turnDisconnect, .turnCertificate, .stunSilent, .signalDrop,
      .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect, .signalBlackhole:
      break
    }
  }

  /// Reports faults of the clock or the audio device of a program, which has its own, or of a puppet.
  private static func checkDevice(_ fault: Fault, _ scenario: Scenario, _ reading: inout Reading) {
    guard let name = fault.arguments.text("peer"), let span = fault.arguments.span(of: "peer"),
      let peer = scenario.peer(name), peer.stack != .real,
      !reading.isReplaced(name)
    else { return }
    let what = peer.stack == .puppet ? "a puppet, which has no device" : "a program, which has its own"
    let message = "\(fault.kind.rawValue) does nothing to \(name): it is \(what)"
    reading.report(.conflictingKeys, message, at: span)
  }

  private static func checkPuppets(_ fault: Fault, _ scenario: Scenario, _ reading: inout Reading) {
    for key in ["from", "to"] {
      guard let name = fault.arguments.text(key), let span = fault.arguments.span(of: key),
        scenario.peer(name)?.stack == .puppet
      else { continue }
      let message = "\(fault.kind.rawValue) meets nothing of \(name): it is a puppet, which is on no wire"
      reading.report(.conflictingKeys, message, at: span, hint: "for its messages write signal.drop")
    }
  }
}

/// The faults of other entries that may be active when an entry begins its own.
private struct Others {
  private let scenario: Scenario
  private let entry: TimelineEntry

  init(_ scenario: Scenario, besides entry: TimelineEntry) {
    self.scenario = scenario
    self.entry = entry
  }

  /// Returns the faults of these kinds that act on the same object as `fault`.
  private func faults(on argument: String, like fault: Fault, _ kinds: [FaultKind]) -> [Fault] {
    let begins = TimelineChecks.firings(of: entry.id, scenario)
    return scenario.timeline.compactMap { other in
      guard other.id != entry.id, case .fault(let found, let duration) = other.effect, kinds.contains(found.kind),
        found.arguments.text(argument) == fault.arguments.text(argument), mayLast(other, duration, at: begins)
      else { return nil }
      return found
    }
  }

  /// Returns whether the file permits that the fault of another entry is active at one of these times.
  private func mayLast(_ other: TimelineEntry, _ duration: Interval?, at times: [Instant]?) -> Bool {
    guard let first = times?.min(), let last = times?.max() else { return true }
    if let start = TimelineChecks.earliest(.entry(other.id), scenario), start > last { return false }
    guard let duration, let start = TimelineChecks.firings(of: other.id, scenario)?.max() else { return true }
    return start + duration >= first
  }

  /// Returns whether a fault of these kinds acts on the same object as `fault`.
  func act(on argument: String, like fault: Fault, _ kinds: [FaultKind]) -> Bool {
    !faults(on: argument, like: fault, kinds).isEmpty
  }

  /// Returns whether a fault of the same kind acts on the same object with another value.
  func say(otherwise value: String, on argument: String, than fault: Fault) -> Bool {
    faults(on: argument, like: fault, [fault.kind]).contains {
      $0.arguments.text(value) != fault.arguments.text(value)
    }
  }

  private static func kinds(with extras: FaultDeclaration.Extras) -> [FaultKind] {
    FaultKind.allCases.filter { $0.declaration.extras == extras }
  }

  /// Returns NAT behaviours, one of which has each value that may be in force when `fault` begins.
  func made(of base: Topology.NAT, like fault: Fault) -> [Topology.NAT] {
    [base] + faults(on: "network", like: fault, Self.kinds(with: .nat)).compactMap { $0.nat?.changing(base) }
  }

  /// Returns settings of one direction of a link, one of which has each value that may be in force when `fault` begins.
  func made(of base: LinkSettings, on side: Fault.Direction, like fault: Fault) -> [LinkSettings] {
    let others = faults(on: "link", like: fault, Self.kinds(with: .impairments)).filter { $0.acts(on: side) }
    return [base]
      + others.map { other in
        var settings = base
        other.impairments.map { settings.apply($0) }
        return settings
      }
  }
}

extension Fault {
  fileprivate func acts(on side: Direction) -> Bool { direction == nil || direction == side }
}

extension Topology.Impairments {
  /// The impairments that are set, each alone and with its key.
  var parts: [(key: String, part: Topology.Impairments)] {
    func part<Value>(
      _ key: String, _ path: WritableKeyPath<Topology.Impairments, Value?>
    ) -> (String, Topology.Impairments)? {
      guard let value = self[keyPath: path] else { return nil }
      var alone = Topology.Impairments()
      alone[keyPath: path] = value
      return (key, alone)
    }
    return [
      part("delay", \.delay), part("jitter", \.jitter), part("loss", \.loss), part("rate", \.rate),
      part("queue", \.queue), part("reorder", \.reorder), part("duplicate", \.duplicate), part("corrupt", \.corrupt),
    ].compactMap { $0 }
  }
}
