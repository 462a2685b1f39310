public import CallCore

/// The header fields of a packet that the network uses.
public struct PacketHeader: Hashable, Sendable, BitwiseCopyable {
  /// The source address and port.
  public var source: Endpoint
  /// The destination address and port.
  public var destination: Endpoint
  /// The transport protocol.
  public var transport: TransportProtocol
  /// The control bits of a TCP segment.
  package var flags: TCPFlags
  /// The ECN field.
  public var ecn: ECN

  package init(
    source: Endpoint, destination: Endpoint, transport: TransportProtocol = .udp, flags: TCPFlags = [],
    ecn: ECN = .notECT
  ) {
    self.source = source
    self.destination = destination
    self.transport = transport
    self.flags = flags
    self.ecn = ecn
  }

  /// The number of header bytes beyond the payload: IP without options, and UDP's 8 bytes. A TCP segment contains its
  /// header as payload.
  var overhead: Int { (source.address.isIPv6 ? 40 : 20) + (transport == .udp ? 8 : 0) }
}
