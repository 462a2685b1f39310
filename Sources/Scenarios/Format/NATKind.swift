internal import CallCore
internal import SimNet

/// Common kinds of NAT, by the names that scenarios use; SimNet defines their configurations.
enum NATKind: String, CaseIterable, Sendable {
  case home
  case fullCone = "full-cone"
  case addressRestricted = "address-restricted"
  case portRestricted = "port-restricted"
  case symmetric
  case carrier
  case carrierSymmetric = "carrier-symmetric"
  case linux
  case pf

  private var configuration: NATConfiguration {
    switch self {
    case .home: .home
    case .fullCone: .fullCone
    case .addressRestricted: .addressRestricted
    case .portRestricted: .portRestricted
    case .symmetric: .symmetric
    case .carrier: .carrier
    case .carrierSymmetric: .carrierSymmetric
    case .linux: .linux
    case .pf: .pf
    }
  }

  var nat: Topology.NAT { Topology.NAT(configuration) }

  /// A one-line description for `callsim explain`.
  var summary: String {
    switch self {
    case .home: "the usual home router: port-restricted, refreshed both ways, 30 s unanswered and 120 s answered"
    case .fullCone: "endpoint-independent mapping and filtering (RFC 3489's full cone)"
    case .addressRestricted: "anyone at an address that was written to may answer (RFC 3489's restricted cone)"
    case .portRestricted: "RFC 4787 as it recommends: 300 s (RFC 3489's port-restricted cone)"
    case .symmetric: "a port of its own for every destination, nothing kept, no hairpin (RFC 3489)"
    case .carrier: "RFC 6888: random ports, 120 s before reuse, 1008 mappings a host, 35 s idle (IMC 2016)"
    case .carrierSymmetric: "a mobile carrier's symmetric NAT: 504 mappings a host, 65 s idle (IMC 2016)"
    case .linux: "netfilter masquerading: the port is kept and overloaded, 30 s unanswered and 120 s answered"
    case .pf: "OpenBSD's and FreeBSD's pf: random ports above 50000 for every flow"
    }
  }
}

extension Topology.Loss {
  /// The reason for which the simulator refuses the loss model, or nil.
  var problem: String? { LossModel(self).problem }
}

extension Topology.NAT {
  /// Converts a configuration of SimNet.
  init(_ configuration: NATConfiguration) {
    self.init()
    map =
      switch configuration.mapping {
      case .endpointIndependent: .endpointIndependent
      case .addressDependent: .address
      case .addressAndPortDependent: .addressAndPort
      }
    filter =
      switch configuration.filtering {
      case .endpointIndependent: .endpointIndependent
      case .addressDependent: .address
      case .addressAndPortDependent: .addressAndPort
      }
    timers = configuration.timers
    refresh = configuration.inboundRefresh ? .both : .outbound
    let isRandom = configuration.portSelection == .random
    ports = configuration.preservesPort ? .preserve : isRandom ? .random : .sequential
    portsIfTaken = isRandom ? .random : .sequential
    keepsParity = configuration.preservesParity
    portRange = configuration.portRange
    overloadsPorts = configuration.overloadsPorts
    portReuseDelay = configuration.portReuseDelay
    quota = configuration.mappingsPerHost
    totalQuota = configuration.mappingLimit
    pooling = configuration.pooling == .paired ? .paired : .arbitrary
    hairpin =
      switch configuration.hairpinning {
      case .none: .none
      case .externalSource: .external
      case .internalSource: .internal
      }
    adoptsTCP = configuration.adoptsMidstreamTCP
    blocks = configuration.blocks.map { Topology.PortBlocks(size: $0.size, most: $0.perHost) }
  }

  /// The reason for which the simulator refuses the NAT, or nil.
  var problem: String? { NATConfiguration(self).problem }

  /// Returns the reason for which a running NAT cannot change from `old` to this behaviour, or nil.
  func problem(after old: Topology.NAT) -> String? {
    if overloadsPorts != old.overloadsPorts { return "port overloading cannot change under mappings" }
    return blocks != old.blocks || (blocks != nil && portRange != old.portRange)
      ? "the blocks of ports cannot change under mappings" : nil
  }
}
