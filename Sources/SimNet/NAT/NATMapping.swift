public import CallCore

/// One mapping, as ``NAT/mappings`` and events present it.
public struct NATMapping: Hashable, Sendable {
  /// The number of the mapping in order of creation, from 1.
  public let number: UInt64
  /// The transport protocol of the mapping's flows.
  public let transport: TransportProtocol
  /// The internal host's endpoint.
  public let `internal`: Endpoint
  /// The endpoint that remote hosts see.
  public var external: Endpoint
  /// The remote address that the mapping is for, with port 0 if the port does not matter; nil if it serves all.
  public let remote: Endpoint?
  /// The virtual time of creation.
  public let created: Instant
}

/// The reason for which a NAT refuses a packet.
package enum NATDropReason: UInt8, Error, CaseIterable {
  /// No mapping has this external endpoint.
  case noMapping
  /// A mapping exists, but its filtering behavior does not admit this remote endpoint.
  case filtered
  /// No external port is free, or the internal host has used up its quota.
  case portsExhausted
  /// The packet is between two internal hosts, and this NAT does not hairpin.
  case hairpin

  /// The name in traces.
  package var name: String {
    switch self {
    case .noMapping: "nat-no-mapping"
    case .filtered: "nat-filter"
    case .portsExhausted: "nat-ports-exhausted"
    case .hairpin: "nat-hairpin"
    }
  }
}

/// The decision of a NAT about a packet.
package enum NATVerdict: Hashable, Sendable {
  /// Forward it with these endpoints. A hairpinned packet has an internal destination: route by destination.
  case forward(source: Endpoint, destination: Endpoint)
  case drop(NATDropReason)
}

/// A run of ports of one external address that belongs to one internal host.
package struct NATBlock: Hashable, Sendable {
  package let host: IPAddress
  package let address: IPAddress
  package let ports: ClosedRange<UInt16>
}

/// A change in a NAT's mappings.
package enum NATEvent: Hashable, Sendable {
  /// A host was given a block of ports; the mapping that needed it follows.
  case blockTaken(NATBlock)
  /// The last port of a block is free, and the block available to any host.
  case blockFreed(NATBlock)
  case created(NATMapping)
  case removed(NATMapping, NATRemoval)
  /// The mapping now has the external endpoint it carries; `previous` no longer exists.
  case remapped(NATMapping, previous: Endpoint)
}

package enum NATRemoval: UInt8, Sendable {
  case idle, reset
  /// Removed on request by ``NAT/removeMappings(of:)``.
  case removed

  /// The name in traces.
  package var name: String {
    switch self {
    case .idle: "idle"
    case .reset: "reset"
    case .removed: "removed"
    }
  }
}
