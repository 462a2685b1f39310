import CallCore

/// An IPv4 flow in two words: a key that hashes quickly.
struct NATFlowKey: Hashable, BitwiseCopyable {
  private let addresses: UInt64
  private let ports: UInt64

  init(_ transport: TransportProtocol, local: Endpoint, remote: Endpoint) {
    addresses = UInt64(local.address.v4Bits) << 32 | UInt64(remote.address.v4Bits)
    ports = UInt64(transport.rawValue) << 32 | UInt64(local.port) << 16 | UInt64(remote.port)
  }

  /// Hashes one word instead of two; equality still compares both.
  func hash(into hasher: inout Hasher) {
    hasher.combine((addresses ^ addresses >> 32) &* 0x9E37_79B9_7F4A_7C15 ^ ports)
  }
}

extension EndpointDependence {
  /// Returns the part of `remote` that this behavior depends on; the rest is zero.
  func relevant(_ remote: Endpoint) -> Endpoint {
    switch self {
    case .endpointIndependent: .unspecifiedIPv4
    case .addressDependent: Endpoint(remote.address, port: 0)
    case .addressAndPortDependent: remote
    }
  }
}

extension Endpoint {
  static let unspecifiedIPv4 = Endpoint(.anyIPv4, port: 0)
}
