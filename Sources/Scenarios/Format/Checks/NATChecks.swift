import CallCore
import SimNet

/// Advice about NATs: keys without an effect.
enum NATChecks {
  /// Checks the NATs that the file itself declares. `nat.set`, or a scenario that uses a file of networks, may give any
  /// key an effect, so these are not checked.
  static func check(_ scenario: Scenario, _ written: [Named<NetworkDraft>], _ reading: inout Reading) {
    guard !reading.hasError(at: "timeline"), !scenario.timeline.contains(where: { $0.fault?.kind == .natSet }) else {
      return
    }
    for network in written {
      guard let draft = network.value.nat, let nat = scenario.topology.network(network.name)?.nat else { continue }
      check(draft, nat, of: network.name, at: network.span, &reading)
    }
  }

  /// Checks the keys of one NAT.
  ///
  /// - Parameters:
  ///   - draft: the keys in the file.
  ///   - nat: the resulting behaviour.
  static func check(
    _ draft: NATDraft, _ nat: Topology.NAT, of network: String, at span: SourceSpan, _ reading: inout Reading
  ) {
    for problem in problems(draft, nat) {
      reading.report(.ineffective, "\(problem) (the NAT of '\(network)')", at: span)
    }
  }

  /// Reports keys of a NAT that exclude each other.
  static func checkKeys(_ draft: NATDraft, _ reading: inout Reading) {
    guard let kind = draft.kind, let profile = draft.profile else { return }
    reading.report(
      .conflictingKeys, "'kind' and 'profile' both give the keys left out here", at: max(kind.span, profile.span),
      hint: "leave one of them out")
  }

  private static func problems(_ draft: NATDraft, _ nat: Topology.NAT) -> [String] {
    ports(draft, nat) + limits(draft, nat) + timers(draft, nat)
  }

  private static func ports(_ draft: NATDraft, _ nat: Topology.NAT) -> [String] {
    var problems: [String] = []
    if draft.portsIfTaken != nil {
      if nat.ports != .preserve {
        problems.append("'ports_if_taken' is for ports: preserve, and these are \(nat.ports.rawValue)")
      } else if nat.portRange.count == 1 {
        problems.append("'ports_if_taken' has nothing to choose from: there is one port")
      }
    }
    if draft.pooling == .arbitrary, nat.addresses == 1 {
      problems.append("'pooling' has nothing to pool: there is one address, and addresses: 4 would be four")
    }
    if nat.overloadsPorts, draft.portReuseDelay ?? .zero > .zero {
      problems.append("'port_reuse_delay' delays nothing: an overloaded port is used again at once")
    }
    guard draft.blocks != nil, let blocks = nat.blocks, blocks.size > 0 else { return problems }
    let there = nat.portRange.count / blocks.size
    if blocks.most > there, there > 0 {
      problems.append("'most' is \(blocks.most) blocks of a host, and an address has \(there) of \(blocks.size) ports")
    }
    return problems
  }

  private static func limits(_ draft: NATDraft, _ nat: Topology.NAT) -> [String] {
    var problems: [String] = []
    // UDP and TCP each have all ports; an overloaded port serves any number of mappings.
    let onAnAddress = nat.overloadsPorts ? Int.max : 2 * nat.portRange.count
    let inBlocks = nat.blocks.map { 2 * min($0.most * $0.size, nat.portRange.count) } ?? .max
    let ofHost = min(inBlocks, nat.pooling == .paired ? onAnAddress : onAnAddress.multiplied(by: nat.addresses))
    if let quota = nat.quota, draft.quota != nil || draft.totalQuota != nil, let total = nat.totalQuota, quota >= total
    {
      problems.append("no host reaches 'quota', which is \(quota): 'total_quota' allows \(total) mappings of all")
    }
    if let quota = draft.quota, quota >= ofHost {
      problems.append("no host reaches 'quota', which is \(quota): its ports are enough for \(ofHost) mappings")
    }
    let ofAll = onAnAddress.multiplied(by: nat.addresses)
    if let total = draft.totalQuota, total >= ofAll {
      problems.append("'total_quota' is never reached: the ports are enough for \(ofAll) mappings")
    }
    return problems
  }

  private static func timers(_ draft: NATDraft, _ nat: Topology.NAT) -> [String] {
    var problems: [String] = []
    if draft.udpIdle != nil, draft.udpFirst != nil, draft.udpUnanswered != nil, draft.udpAnswered != nil {
      problems.append("'udp_idle' is for what udp_first, udp_unanswered and udp_answered leave out, and all are there")
    }
    if draft.udpAnsweredAge ?? .zero > .zero, nat.timers.udpAnswered == nat.timers.udpUnanswered {
      problems.append("'udp_answered_age' decides between udp_unanswered and udp_answered, which are the same")
    }
    return problems
  }
}

extension Int {
  /// Returns the product, or the largest number on overflow.
  fileprivate func multiplied(by other: Int) -> Int {
    let (product, isOver) = multipliedReportingOverflow(by: other)
    return isOver ? .max : product
  }
}
