internal import SimNet

extension FirewallRules {
  /// These rules with one more: what either forbids is forbidden.
  func under(_ change: FaultEffect.FirewallChange) -> FirewallRules {
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
