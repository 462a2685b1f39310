/// The transport of a packet, numbered as in an IP header.
public enum TransportProtocol: UInt8, Sendable, BitwiseCopyable {
  /// TCP.
  case tcp = 6
  /// UDP.
  case udp = 17
}

/// The control bits of a TCP header (RFC 9293 section 3.1).
package struct TCPFlags: OptionSet, Hashable, Sendable, BitwiseCopyable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let fin = TCPFlags(rawValue: 1)
  package static let syn = TCPFlags(rawValue: 2)
  package static let rst = TCPFlags(rawValue: 4)
  package static let psh = TCPFlags(rawValue: 8)
  package static let ack = TCPFlags(rawValue: 16)
}
