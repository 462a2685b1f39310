public import CallCore

/// What the headers of a packet say, as far as the network looks at them.
public struct PacketHeader: Hashable, Sendable, BitwiseCopyable {
  public var source: Endpoint
  public var destination: Endpoint
  public var transport: TransportProtocol
  /// The control bits of a TCP segment.
  public var flags: TCPFlags
  public var ecn: ECN

  public init(
    source: Endpoint, destination: Endpoint, transport: TransportProtocol = .udp, flags: TCPFlags = [],
    ecn: ECN = .notECT
  ) {
    self.source = source
    self.destination = destination
    self.transport = transport
    self.flags = flags
    self.ecn = ecn
  }

  /// How many bytes of headers the packet has beyond its payload: IP without options, and UDP's 8 bytes. A TCP
  /// segment brings its header as payload.
  var overhead: Int { (source.address.isIPv6 ? 40 : 20) + (transport == .udp ? 8 : 0) }
}
