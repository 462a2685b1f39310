/// The transport of a packet, numbered as in an IP header.
public enum TransportProtocol: UInt8, Sendable, BitwiseCopyable {
  case tcp = 6
  case udp = 17
}

/// The control bits of a TCP header (RFC 9293 section 3.1).
public struct TCPFlags: OptionSet, Hashable, Sendable, BitwiseCopyable {
  public let rawValue: UInt8

  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let fin = TCPFlags(rawValue: 1)
  public static let syn = TCPFlags(rawValue: 2)
  public static let rst = TCPFlags(rawValue: 4)
  public static let psh = TCPFlags(rawValue: 8)
  public static let ack = TCPFlags(rawValue: 16)
}
