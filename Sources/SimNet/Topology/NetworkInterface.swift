public import CallCore

/// The kind of network an interface leads to, in the words of the W3C's `RTCNetworkType`.
public enum NetworkType: String, CaseIterable, Sendable {
  /// A cable.
  case ethernet
  /// Wi-Fi.
  case wifi
  /// A mobile network.
  case cellular
  /// Bluetooth.
  case bluetooth
  /// A virtual private network.
  case vpn
  /// Not known.
  case unknown
}

/// A host's attachment to a network, as the host sees it.
public struct NetworkInterface: Hashable, Sendable {
  /// The interface's identifier.
  public let id: InterfaceID
  /// The name of its link.
  public let name: String
  /// The kind of network it leads to.
  public internal(set) var type: NetworkType
  /// The host that it belongs to.
  public let host: HostID
  /// The network that it is attached to.
  public internal(set) var network: NetworkID
  /// The link that attaches it.
  public let link: LinkID
  /// At most one address of each of the network's prefixes, in their order, unless given explicitly.
  public internal(set) var addresses: [IPAddress]
  /// Whether its link is up; a blackhole does not change this.
  public internal(set) var isUp: Bool
}
