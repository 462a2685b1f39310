public import CallCore

/// The dependence of a NAT's decision on the remote endpoint (RFC 4787 sections 4.1 and 5).
///
/// As a mapping behavior it determines the destinations that share one external port; as a filtering behavior, the
/// remote endpoints that may use a mapping inward.
public enum EndpointDependence: UInt8, Sendable, CaseIterable {
  /// The remote endpoint does not matter.
  case endpointIndependent
  /// The remote address matters.
  case addressDependent
  /// The remote address and port matter.
  case addressAndPortDependent
}

/// The choice of an external port that is not preserved from the inside.
public enum PortSelection: UInt8, Sendable {
  /// The next free port in order.
  case sequential
  /// A random free port.
  case random
}

/// The treatment of packets between two internal hosts through their external endpoints (RFC 4787 REQ-9).
public enum Hairpinning: UInt8, Sendable {
  /// The packets do not pass.
  case none
  /// "External source IP address and port": the form that RFC 4787 requires.
  case externalSource
  /// "Internal source IP address and port": seen in the field, breaks the reply path.
  case internalSource
}

/// The sharing of several external addresses between internal hosts (RFC 4787 REQ-2).
public enum AddressPooling: UInt8, Sendable {
  /// A host keeps one external address for as long as it has any mapping.
  case paired
  /// Every mapping draws its own address.
  case arbitrary
}

/// Allocation of ports in blocks: an internal host gets a run of ports at once, and its mappings use them (bulk port
/// allocation, RFC 6888 section 4 and RFC 7422 section 2). A carrier logs blocks instead of mappings.
///
/// A block serves UDP and TCP, stays with its host until the last of its ports is free again, and is then available to
/// any host. All blocks of a host are on the one address that the host is paired with.
public struct PortBlocks: Hashable, Sendable {
  /// The number of ports in a block.
  public var size: Int
  /// The maximum number of blocks of one internal host.
  public var perHost: Int

  /// Makes an allocation by blocks.
  public init(size: Int, perHost: Int = 1) {
    self.size = size
    self.perHost = perHost
  }
}

/// The properties that distinguish one NAT from another. `NATProfiles.swift` defines named profiles.
public struct NATConfiguration: Hashable, Sendable {
  /// The destinations that share one external port (RFC 4787 section 4.1).
  public var mapping: EndpointDependence
  /// The remote endpoints that may use a mapping inward (RFC 4787 section 5).
  public var filtering: EndpointDependence
  /// The idle timers of mappings.
  public var timers: SessionTimers
  /// Whether inbound UDP refreshes a session, as outbound always does (RFC 4787 REQ-6). TCP is refreshed both ways.
  public var inboundRefresh: Bool
  /// Whether the external port equals the internal one if that is free.
  public var preservesPort: Bool
  /// Whether an allocated port has the parity of the internal one (RFC 4787 REQ-4).
  public var preservesParity: Bool
  /// The choice of an external port.
  public var portSelection: PortSelection
  /// The ports that may be allocated. Within it, well-known ports map to well-known ports (RFC 4787 REQ-3b).
  public var portRange: ClosedRange<UInt16>
  /// Whether one external port may serve several mappings that differ in their remote endpoint, as in netfilter. RFC
  /// 4787 REQ-3a forbids it; it requires both behaviors to be address- and port-dependent.
  public var overloadsPorts: Bool
  /// The time for which a freed port stays unused (RFC 6888 REQ-8).
  public var portReuseDelay: Interval
  /// The maximum number of mappings of one internal host (RFC 6888 REQ-4), or nil for no limit.
  public var mappingsPerHost: Int?
  /// The maximum number of mappings of all internal hosts together (RFC 6888 REQ-5), or nil for no limit.
  public var mappingLimit: Int?
  /// Blocks of ports for each internal host, or nil for individual ports.
  public var blocks: PortBlocks?
  /// The sharing of several external addresses.
  public var pooling: AddressPooling
  /// The treatment of packets between two internal hosts.
  public var hairpinning: Hairpinning
  /// Whether a TCP segment without SYN from inside opens a mapping, so that connections survive a reboot of the NAT.
  public var adoptsMidstreamTCP: Bool

  /// Makes a configuration. The defaults are RFC 4787 with endpoint-independent mapping and the strictest filter.
  public init(
    mapping: EndpointDependence = .endpointIndependent,
    filtering: EndpointDependence = .addressAndPortDependent,
    timers: SessionTimers = SessionTimers(),
    inboundRefresh: Bool = false,
    preservesPort: Bool = true,
    preservesParity: Bool = false,
    portSelection: PortSelection = .random,
    portRange: ClosedRange<UInt16> = 1...65_535,
    overloadsPorts: Bool = false,
    portReuseDelay: Interval = .zero,
    mappingsPerHost: Int? = nil,
    mappingLimit: Int? = nil,
    blocks: PortBlocks? = nil,
    pooling: AddressPooling = .paired,
    hairpinning: Hairpinning = .externalSource,
    adoptsMidstreamTCP: Bool = true
  ) {
    self.mapping = mapping
    self.filtering = filtering
    self.timers = timers
    self.inboundRefresh = inboundRefresh
    self.preservesPort = preservesPort
    self.preservesParity = preservesParity
    self.portSelection = portSelection
    self.portRange = portRange
    self.overloadsPorts = overloadsPorts
    self.portReuseDelay = portReuseDelay
    self.mappingsPerHost = mappingsPerHost
    self.mappingLimit = mappingLimit
    self.blocks = blocks
    self.pooling = pooling
    self.hairpinning = hairpinning
    self.adoptsMidstreamTCP = adoptsMidstreamTCP
  }
}

extension NATConfiguration {
  /// The error in this configuration, or nil.
  package var problem: String? {
    let isPerFlow = mapping == .addressAndPortDependent && filtering == .addressAndPortDependent
    if overloadsPorts, !isPerFlow {
      return "port overloading needs address- and port-dependent mapping and filtering"
    }
    guard let blocks else { return nil }
    if blocks.size < 1 || blocks.perHost < 1 { return "a host gets at least one block of at least one port" }
    if blocks.size < 2, preservesParity { return "a block of one port has no port of the other parity" }
    if blocks.size > portRange.count { return "a block of \(blocks.size) ports does not fit into \(portRange)" }
    if overloadsPorts { return "overloaded ports belong to nobody, so there are no blocks of them" }
    return pooling == .arbitrary ? "all blocks of a host are on one address, so pooling is paired" : nil
  }
}
