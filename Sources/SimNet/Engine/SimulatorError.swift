public import CallCore

/// A caller's mistake in building or driving a ``Simulator``.
public enum SimulatorError: Error, Hashable, Sendable {
  /// No host has this name.
  case unknownHost(String)
  /// No network has this name.
  case unknownNetwork(String)
  /// No link has this name.
  case unknownLink(String)
  /// Another host, network or link has this name already.
  case duplicateName(String)
  /// The parent of a network with NAT needs an IPv4 prefix.
  case noPrefix(network: String)
  /// Another interface has this address already.
  case addressInUse(IPAddress)
  /// The address is in none of the network's prefixes.
  case addressOutsideNetwork(IPAddress, network: String)
  /// The network has no free address left.
  case addressesExhausted(network: String)
  /// The host has no such address.
  case unknownAddress(IPAddress)
  /// Another socket is bound to the port.
  case portInUse(Endpoint)
  /// The host has no ephemeral port left.
  case portsExhausted
  /// The settings are invalid, for the reason given.
  case invalid(String)
  /// The network has no NAT, or no firewall, to act upon.
  case notPresent(String)
}

extension SimulatorError: CustomStringConvertible {
  /// The error in words.
  public var description: String {
    switch self {
    case .unknownHost(let name): "there is no host '\(name)'"
    case .unknownNetwork(let name): "there is no network '\(name)'"
    case .unknownLink(let name): "there is no link '\(name)'"
    case .duplicateName(let name): "two things are called '\(name)'"
    case .noPrefix(let network): "network '\(network)' has no IPv4 prefix, which the NAT behind it needs"
    case .addressInUse(let address): "the address \(address) is taken"
    case .addressOutsideNetwork(let address, let network): "the address \(address) is not of network '\(network)'"
    case .addressesExhausted(let network): "network '\(network)' has no address left"
    case .unknownAddress(let address): "the host has no address \(address)"
    case .portInUse(let endpoint): "the port of \(endpoint) is taken"
    case .portsExhausted: "the host has no port left"
    case .invalid(let problem): problem
    case .notPresent(let what): what
    }
  }
}
