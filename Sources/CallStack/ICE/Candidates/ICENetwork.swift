/// What kind of network an interface belongs to: the W3C's `RTCNetworkType`.
package enum ICENetworkType: String, Hashable, Sendable, CaseIterable {
  case ethernet, wifi, cellular, vpn, unknown

  /// What libwebrtc takes the use of such a network to cost: 0 is free, 999 the most.
  package var cost: UInt16 {
    switch self {
    case .ethernet: 0
    case .wifi: 10
    // A tunnel costs what the network below it does, which nobody tells.
    case .unknown, .vpn: 50
    case .cellular: 900
    }
  }

  /// Whether libwebrtc is sparing there.
  package var isCostly: Bool { cost >= 900 }
}

/// A network that local candidates belong to. Pairs of one network most likely share its fate, and its cost.
package struct ICENetwork: Hashable, Sendable {
  /// Tells networks of one agent apart; 0 is none.
  package var id: UInt16
  package var type: ICENetworkType

  package init(id: UInt16, type: ICENetworkType) {
    self.id = id
    self.type = type
  }

  /// The value of GOOG-NETWORK-INFO: the id and the cost.
  var info: UInt32 { UInt32(id) << 16 | UInt32(type.cost) }
}
