package import SimNet

/// A change that a firewall fault makes to the rules of a network's router.
package enum FirewallChange {
  /// Blocks these destination ports; an empty set means all ports.
  case block([TransportProtocol], Set<UInt16>)
  /// Lets out only packets to these destination ports.
  case allowOnly([TransportProtocol], Set<UInt16>)

  /// Creates the change of a firewall fault; nil for other faults.
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
  /// Returns the intersection of these rules and the change: a packet passes only if both allow it.
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
