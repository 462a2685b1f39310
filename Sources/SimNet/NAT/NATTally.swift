/// The number of decisions of each behavior of a NAT.
///
/// Two tallies and two configurations show whether the other configuration would have changed any decision in between:
/// a quota matters if a host has that many mappings, a timer if a session runs on it.
package struct NATTally: Hashable, Sendable {
  /// Requests of flows for a mapping, new or existing: the mapping behavior's decisions.
  var openings = 0
  /// Requests for a port, and those among them with several outside addresses to choose from.
  var demands = 0
  var pooledDemands = 0
  /// New mappings.
  var mappings = 0
  /// Ports that were chosen because the inside port was not, or could not be, preserved.
  var chosenPorts = 0
  /// Blocks of ports that were chosen for a host.
  var chosenBlocks = 0
  /// Packets from an address that the mapping had written to, but from another port; and packets from other addresses.
  var otherPorts = 0
  var strangers = 0
  /// Starts of each timer, by its number, and sessions on a timer whose length changed.
  var timers = Array(repeating: 0, count: IdleTimer.allCases.count)
  /// Inbound UDP packets that were admitted, and so may refresh.
  var inboundUDP = 0
  /// Ports that were freed, and those at rest when the reuse delay changed.
  var freedPorts = 0
  /// Packets from inside to an outside address of this NAT.
  var hairpins = 0
  /// TCP segments without SYN and without a known mapping.
  var midstreamSegments = 0
  /// Requests for a mapping, by the number of mappings of the host, and by the number of all mappings.
  var hostDemands: [Int] = []
  var totalDemands: [Int] = []
  /// The number of mappings made.
  package var mappingCount: Int { mappings }
  /// Packets refused, by reason.
  var drops: [NATDropReason: Int] = [:]

  static func count(_ number: Int, in histogram: inout [Int]) {
    while histogram.count <= number { histogram.append(0) }
    histogram[number] += 1
  }
}

extension NATTally {
  /// Returns whether, since `earlier`, a NAT with the configuration `new` has treated anything differently from one
  /// with `old`.
  package func shows(_ new: NATConfiguration, insteadOf old: NATConfiguration, since earlier: NATTally) -> Bool {
    func grew(_ count: (NATTally) -> Int) -> Bool { count(self) > count(earlier) }
    if new.mapping != old.mapping, grew(\.openings) { return true }
    if Self.differs(new, old, \.filtering), grew({ $0.decisions(new.filtering, old.filtering) }) { return true }
    let timers = IdleTimer.allCases.filter { new.timers[$0] != old.timers[$0] }
    if timers.contains(where: { timer in grew { $0.timers[Int(timer.rawValue)] } }) { return true }
    let answered: [IdleTimer] = [.udpAnswered, .udpUnanswered]
    // The age selects between two timers, so it has no effect if they are equal.
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

  /// Returns the number of packets that one of two filters admits and the other does not.
  private func decisions(_ a: EndpointDependence, _ b: EndpointDependence) -> Int {
    let strictness = Set([a, b])
    return (strictness.contains(.endpointIndependent) ? strangers : 0)
      + (strictness.contains(.addressAndPortDependent) ? otherPorts : 0)
  }

  /// Returns whether a mapping was requested that one of two limits permits and the other does not.
  private static func isReached(_ a: Int?, _ b: Int?, _ now: [Int], _ earlier: [Int]) -> Bool {
    guard a != b else { return false }
    let lower = min(a ?? .max, b ?? .max)
    let upper = max(a ?? .max, b ?? .max)
    return now.indices.contains { number in
      (lower..<upper).contains(number) && now[number] > (earlier.indices.contains(number) ? earlier[number] : 0)
    }
  }
}
