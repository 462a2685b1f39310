public import CallCore

/// The kind of network an interface leads to, in the words of the W3C's `RTCNetworkType`.
public enum NetworkType: String, CaseIterable, Sendable {
  case ethernet, wifi, cellular, bluetooth, vpn, unknown
}

/// A host's attachment to a network, as the host sees it.
public struct NetworkInterface: Hashable, Sendable {
  public let id: InterfaceID
  /// The name of its link.
  public let name: String
  public internal(set) var type: NetworkType
  public let host: HostID
  public internal(set) var network: NetworkID
  public let link: LinkID
  /// At most one address of each of the network's prefixes, in their order, unless given explicitly.
  public internal(set) var addresses: [IPAddress]
  /// Whether its link is up; a blackhole does not show.
  public internal(set) var isUp: Bool
}
