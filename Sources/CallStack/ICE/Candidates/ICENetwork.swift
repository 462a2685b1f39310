/// The type of an interface's network: the W3C's `RTCNetworkType`.
package enum ICENetworkType: String, Hashable, Sendable, CaseIterable {
  case ethernet, wifi, cellular, vpn, unknown

  /// The cost of such a network in libwebrtc: 0 is free, 999 the highest.
  package var cost: UInt16 {
    switch self {
    case .ethernet: 0
    case .wifi: 10
    // The cost of a VPN depends on the network below it, which is unknown.
    case .unknown, .vpn: 50
    case .cellular: 900
    }
  }

  /// Whether libwebrtc limits its traffic on such a network.
  package var isCostly: Bool { cost >= 900 }
}

/// A network that local candidates belong to. Pairs of one network share its cost and will usually fail together.
package struct ICENetwork: Hashable, Sendable {
  /// The number of the network within its agent; 0 stands for no network.
  package var id: UInt16
  package var type: ICENetworkType

  package init(id: UInt16, type: ICENetworkType) {
    self.id = id
    self.type = type
  }

  /// The value of GOOG-NETWORK-INFO: the id and the cost.
  var info: UInt32 { UInt32(id) << 16 | UInt32(type.cost) }
}
