public import CallCore

/// A caller's mistake in building or driving a ``Simulator``.
public enum SimulatorError: Error, Hashable, Sendable {
  case unknownHost(String)
  case unknownNetwork(String)
  case unknownLink(String)
  case duplicateName(String)
  /// The parent of a network with NAT needs an IPv4 prefix.
  case noPrefix(network: String)
  case addressInUse(IPAddress)
  case addressOutsideNetwork(IPAddress, network: String)
  case addressesExhausted(network: String)
  /// The host has no such address.
  case unknownAddress(IPAddress)
  case portInUse(Endpoint)
  case portsExhausted
  /// Settings that make no sense, with what is wrong about them.
  case invalid(String)
  /// The network has no NAT, or no firewall, to act upon.
  case notPresent(String)
}
