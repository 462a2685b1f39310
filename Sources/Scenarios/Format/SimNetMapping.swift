internal import CallCore
internal import SimNet

// Conversions of links and routers from the format to SimNet.
extension LinkSettings {
  package init(_ impairments: Topology.Impairments?, mtu: Int?) {
    self.init()
    if let impairments { apply(impairments) }
    if let mtu { self.mtu = mtu }
  }

  /// Applies the impairments that are set, and keeps the other settings.
  package mutating func apply(_ impairments: Topology.Impairments) {
    if let delay = impairments.delay { self.delay = delay }
    if let rate = impairments.rate { self.rate = rate }
    if let reorder = impairments.reorder { reordering = Reordering(probability: reorder) }
    if let duplicate = impairments.duplicate { duplication = duplicate }
    if let corrupt = impairments.corrupt { corruption = Corruption(probability: corrupt) }
    if let loss = impairments.loss { self.loss = LossModel(loss) }
    if let jitter = impairments.jitter {
      // Packets with a constant delay keep their order.
      order = jitter.order == .keep || jitter.amount == .zero ? .keep : .allow
      switch jitter.distribution {
      case _ where jitter.amount == .zero: self.jitter = .none
      case .uniform: self.jitter = .uniform(jitter.amount)
      case .normal: self.jitter = .normal(jitter.amount)
      case .exponential: self.jitter = .exponential(jitter.amount)
      }
    }
    if let queue = impairments.queue {
      self.queue = QueueLimit(queue)
    }
  }
}

extension QueueLimit {
  package init(_ queue: Topology.Queue) {
    if let packets = queue.packets {
      self = .packets(packets)
    } else if let bytes = queue.bytes {
      self = .bytes(bytes)
    } else if let time = queue.time {
      self = .time(time)
    } else {
      self = .unlimited
    }
  }
}

extension LossModel {
  package init(_ loss: Topology.Loss) {
    switch loss {
    case .none: self = .none
    case .random(rate: 0), .gilbert(rate: 0, meanBurst: _, bad: _, good: _): self = .none
    case .random(let rate): self = .random(rate)
    case .packets(let ranges, let period): self = .packets(ranges, period: period)
    case .times(let spans, let period): self = .spans(spans, period: period)
    case .gilbert(let rate, let burst, let bad, let good):
      self = .gilbertElliott(GilbertElliott(meanLoss: rate, meanBurst: burst, badLoss: bad, goodLoss: good))
    }
  }
}

extension NetworkType {
  package init(_ type: Topology.NetworkType) {
    self =
      switch type {
      case .wifi: .wifi
      case .cellular: .cellular
      case .ethernet: .ethernet
      case .unknown: .unknown
      }
  }
}

extension EndpointDependence {
  package init(_ behavior: Topology.MappingBehavior) {
    self =
      switch behavior {
      case .endpointIndependent: .endpointIndependent
      case .address: .addressDependent
      case .addressAndPort: .addressAndPortDependent
      }
  }

  package init(_ behavior: Topology.FilteringBehavior) {
    self =
      switch behavior {
      case .endpointIndependent: .endpointIndependent
      case .address: .addressDependent
      case .addressAndPort: .addressAndPortDependent
      }
  }
}

extension NATConfiguration {
  package init(_ nat: Topology.NAT) {
    self.init(
      mapping: EndpointDependence(nat.map), filtering: EndpointDependence(nat.filter),
      timers: nat.timers, inboundRefresh: nat.refresh == .both, preservesPort: nat.ports == .preserve,
      preservesParity: nat.keepsParity, portSelection: PortSelection(nat), portRange: nat.portRange,
      overloadsPorts: nat.overloadsPorts, portReuseDelay: nat.portReuseDelay, mappingsPerHost: nat.quota,
      mappingLimit: nat.totalQuota, blocks: nat.blocks.map { PortBlocks(size: $0.size, perHost: $0.most) },
      pooling: nat.pooling == .paired ? .paired : .arbitrary, hairpinning: Hairpinning(nat.hairpin),
      adoptsMidstreamTCP: nat.adoptsTCP)
  }
}

extension PortSelection {
  package init(_ nat: Topology.NAT) {
    switch nat.ports {
    case .random: self = .random
    case .sequential: self = .sequential
    case .preserve: self = nat.portsIfTaken == .random ? .random : .sequential
    }
  }
}

extension Hairpinning {
  package init(_ hairpin: Topology.Hairpin) {
    self =
      switch hairpin {
      case .none: .none
      case .external: .externalSource
      case .internal: .internalSource
      }
  }
}

extension FirewallRules {
  /// Creates the rules of a network's router; nil for a plain router. A router that translates IPv4, without a firewall
  /// in the file, lets IPv6 in only as an answer, as home routers do.
  package init?(of network: Topology.Network) {
    if let firewall = network.firewall {
      self.init(firewall)
    } else if network.nat != nil, network.prefixes.contains(where: { $0.value.address.isIPv6 }) {
      self = .statefulIPv6
    } else {
      return nil
    }
  }

  package init(_ firewall: Topology.Firewall) {
    self.init(inbound: firewall.inbound == .everything ? .everything : .relatedOnly, blocksUDP: firewall.blockUDP)
    if !firewall.allowPorts.isEmpty {
      let ports = Set(firewall.allowPorts.compactMap { UInt16(exactly: $0) })
      allowedUDPPorts = ports
      allowedTCPPorts = ports
    }
    if !firewall.blockPorts.isEmpty {
      let blocked = Set(firewall.blockPorts.compactMap { UInt16(exactly: $0) })
      allowedUDPPorts = (allowedUDPPorts ?? Self.everyPort).subtracting(blocked)
      allowedTCPPorts = (allowedTCPPorts ?? Self.everyPort).subtracting(blocked)
    }
    if firewall.blockTCP { allowedTCPPorts = [] }
    openPorts = Set(firewall.openPorts.flatMap { $0 })
  }

  private static let everyPort = Set(UInt16.min...UInt16.max)
}
