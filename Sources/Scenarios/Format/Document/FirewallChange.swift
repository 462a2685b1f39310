package import SimNet

/// What a fault of a firewall adds to the rules of a network's router.
package enum FirewallChange {
  /// No ports are all ports.
  case block([TransportProtocol], Set<UInt16>)
  case allowOnly([TransportProtocol], Set<UInt16>)

  /// Nil for a fault of something else.
  package init?(_ fault: Fault) {
    let ports = Set((fault.arguments.texts("ports") ?? []).compactMap { UInt16($0) })
    let transports: [TransportProtocol] =
      switch fault.arguments.text("protocol") {
      case "udp": [.udp]
      case "tcp": [.tcp]
      default: [.udp, .tcp]
      }
    switch fault.kind {
    case .firewallBlock: self = .block(transports, ports)
    case .firewallAllow: self = .allowOnly(transports, ports)
    default: return nil
    }
  }
}

extension FirewallRules {
  /// These rules with one more: what either forbids is forbidden.
  package func under(_ change: FirewallChange) -> FirewallRules {
    var rules = self
    switch change {
    case .block(let transports, let ports) where ports.isEmpty:
      if transports.contains(.udp) { rules.blocksUDP = true }
      if transports.contains(.tcp) { rules.allowedTCPPorts = [] }
    case .block(let transports, let ports):
      let others = Set(1...UInt16.max).subtracting(ports)
      if transports.contains(.udp) { rules.allowedUDPPorts = rules.allowedUDPPorts?.intersection(others) ?? others }
      if transports.contains(.tcp) { rules.allowedTCPPorts = rules.allowedTCPPorts?.intersection(others) ?? others }
    case .allowOnly(let transports, let ports):
      if transports.contains(.udp) { rules.allowedUDPPorts = rules.allowedUDPPorts?.intersection(ports) ?? ports }
      if transports.contains(.tcp) { rules.allowedTCPPorts = rules.allowedTCPPorts?.intersection(ports) ?? ports }
    }
    return rules
  }
}
