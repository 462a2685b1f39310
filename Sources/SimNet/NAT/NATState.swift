/// The state and the refusals of a NAT: values that change with packets and time.
package enum NATValue: String, Sendable, CaseIterable {
  case mappings = "nat.mappings"
  /// Free ports of all outside addresses and both transports; a port at rest before its reuse is not free.
  case freePorts = "nat.free-ports"
  case drops = "nat.drops"
  case filtered = "nat.drops.filter"
  case unmapped = "nat.drops.no-mapping"
  case exhausted = "nat.drops.ports-exhausted"
  case hairpins = "nat.drops.hairpin"

  package var summary: String {
    switch self {
    case .mappings: "mappings there are"
    case .freePorts: "unused ports of all outside addresses, for UDP and TCP each"
    case .drops: "packets refused so far"
    case .filtered: "packets refused because the filter does not admit who sent them"
    case .unmapped: "packets refused because no mapping has the port they came to"
    case .exhausted: "packets refused because the host has its quota, or no port is free"
    case .hairpins: "packets refused because they go back inside"
    }
  }
}

extension NAT {
  /// Returns the value, or nil if there is none: overloaded ports have no limit.
  func value(_ value: NATValue) -> Int? {
    switch value {
    case .mappings: mappingCount
    case .freePorts: freePortCount
    case .drops: drops.values.reduce(0, +)
    case .filtered: drops[.filtered] ?? 0
    case .unmapped: drops[.noMapping] ?? 0
    case .exhausted: drops[.portsExhausted] ?? 0
    case .hairpins: drops[.hairpin] ?? 0
    }
  }
}
