/// How often each behaviour of a NAT has decided something.
///
/// Of two counts and two configurations it can be told whether the other configuration would have done anything
/// otherwise in between: a quota matters once somebody has as many mappings, a timer once a session runs on it.
package struct NATTally: Hashable, Sendable {
  /// How often a flow asked for a mapping, a new one or one that there was: the mapping behavior's decision.
  var openings = 0
  /// How often a port was asked for, and of that while there were several outside addresses to choose from.
  var demands = 0
  var pooledDemands = 0
  /// New mappings.
  var mappings = 0
  /// How often a port was chosen because the inside one was not kept, or could not be.
  var chosenPorts = 0
  /// How often a block of ports was chosen for a host.
  var chosenBlocks = 0
  /// Packets from an address that the mapping had written to, but from another port; and from one it had not.
  var otherPorts = 0
  var strangers = 0
  /// How often a session was put on each timer, by its number, or found on one whose length changed.
  var timers = Array(repeating: 0, count: IdleTimer.allCases.count)
  /// Inbound UDP packets that were let in, and so may refresh.
  var inboundUDP = 0
  /// Ports that were freed, or found at rest when the delay before their reuse changed.
  var freedPorts = 0
  /// Packets from inside to an outside address of this NAT.
  var hairpins = 0
  /// TCP segments that begin nothing, of no known mapping.
  var midstreamSegments = 0
  /// How often a mapping was asked for by a host that had so many, and while there were so many in all.
  var hostDemands: [Int] = []
  var totalDemands: [Int] = []
  /// How many mappings were made.
  package var mappingCount: Int { mappings }
  /// Packets refused, by reason.
  var drops: [NATDropReason: Int] = [:]

  static func count(_ number: Int, in histogram: inout [Int]) {
    while histogram.count <= number { histogram.append(0) }
    histogram[number] += 1
  }
}

extension NATTally {
  /// Whether a NAT that behaves as `new` has, since `earlier`, treated anything otherwise than one that behaves as `old`.
  package func shows(_ new: NATConfiguration, insteadOf old: NATConfiguration, since earlier: NATTally) -> Bool {
    func grew(_ count: (NATTally) -> Int) -> Bool { count(self) > count(earlier) }
    if new.mapping != old.mapping, grew(\.openings) { return true }
    if Self.differs(new, old, \.filtering), grew({ $0.decisions(new.filtering, old.filtering) }) { return true }
    let timers = IdleTimer.allCases.filter { new.timers[$0] != old.timers[$0] }
    if timers.contains(where: { timer in grew { $0.timers[Int(timer.rawValue)] } }) { return true }
    let answered: [IdleTimer] = [.udpAnswered, .udpUnanswered]
    // It decides between two timers, so nothing where they are equal.
    let isAgeOfUse = [new, old].contains { $0.timers.udpAnswered != $0.timers.udpUnanswered }
    if new.timers.udpAnsweredAge != old.timers.udpAnsweredAge, isAgeOfUse,
      grew({ tally in answered.reduce(0) { $0 + tally.timers[Int($1.rawValue)] } })
    {
      return true
    }
    if Self.differs(new, old, \.inboundRefresh), grew(\.inboundUDP) { return true }
    if Self.differs(new, old, \.preservesPort) || Self.differs(new, old, \.portRange)
      || Self.differs(new, old, \.blocks) || Self.differs(new, old, \.overloadsPorts), grew(\.demands)
    {
      return true
    }
    if Self.differs(new, old, \.portSelection) || Self.differs(new, old, \.preservesParity), grew(\.chosenPorts) {
      return true
    }
    if Self.differs(new, old, \.portSelection), grew(\.chosenBlocks) { return true }
    if Self.differs(new, old, \.pooling), grew(\.pooledDemands) { return true }
    if Self.differs(new, old, \.portReuseDelay), grew(\.freedPorts) { return true }
    if Self.differs(new, old, \.hairpinning), grew(\.hairpins) { return true }
    if Self.differs(new, old, \.adoptsMidstreamTCP), grew(\.midstreamSegments) { return true }
    return Self.isReached(new.mappingsPerHost, old.mappingsPerHost, hostDemands, earlier.hostDemands)
      || Self.isReached(new.mappingLimit, old.mappingLimit, totalDemands, earlier.totalDemands)
  }

  private static func differs<Value: Equatable>(
    _ a: NATConfiguration, _ b: NATConfiguration, _ value: (NATConfiguration) -> Value
  ) -> Bool { value(a) != value(b) }

  /// Packets that one of two filters admits and the other does not.
  private func decisions(_ a: EndpointDependence, _ b: EndpointDependence) -> Int {
    let strictness = Set([a, b])
    return (strictness.contains(.endpointIndependent) ? strangers : 0)
      + (strictness.contains(.addressAndPortDependent) ? otherPorts : 0)
  }

  /// Whether a mapping was asked for that one of two limits allows and the other does not.
  private static func isReached(_ a: Int?, _ b: Int?, _ now: [Int], _ earlier: [Int]) -> Bool {
    guard a != b else { return false }
    let lower = min(a ?? .max, b ?? .max)
    let upper = max(a ?? .max, b ?? .max)
    return now.indices.contains { number in
      (lower..<upper).contains(number) && now[number] > (earlier.indices.contains(number) ? earlier[number] : 0)
    }
  }
}
