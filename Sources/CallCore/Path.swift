/// The two-bit ECN field of an IP header (RFC 3168 section 5).
public enum ECN: UInt8, Sendable, BitwiseCopyable {
  /// The sender does not support ECN.
  case notECT
  /// The sender supports ECN: ECT(1).
  case ect1
  /// The sender supports ECN: ECT(0).
  case ect0
  /// A router on the path experienced congestion.
  case ce
}

/// The path of a message: the local and the remote transport address, the transport, and the ECN marking.
///
/// For a received message, `local` is the socket that received it and `remote` its source.
public struct Path: Hashable, Sendable, BitwiseCopyable {
  /// The transport of messages between the two addresses.
  ///
  /// A machine sends whole messages on a path of any transport. Over a stream the driver opens the connection for the
  /// first message, frames the received messages, and reports the end of the connection.
  public enum Transport: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// UDP datagrams.
    case udp
    /// A TCP connection. A client's path has the UDP socket beside it as `local`; the driver chooses the connection's
    /// own port.
    case tcp
    /// A TCP connection with TLS, which the driver implements.
    case tls
  }

  /// The address and port on this side.
  public var local: Endpoint
  /// The address and port on the other side.
  public var remote: Endpoint
  /// The protocol that carries messages.
  public var transport: Transport
  /// The ECN marking of a packet on this path.
  public var ecn: ECN

  /// Makes a path from its two ends.
  @inlinable public init(local: Endpoint, remote: Endpoint, transport: Transport = .udp, ecn: ECN = .notECT) {
    self.local = local
    self.remote = remote
    self.transport = transport
    self.ecn = ecn
  }

  /// The same path as the other end sees it.
  @inlinable public var reversed: Path { Path(local: remote, remote: local, transport: transport, ecn: ecn) }

  /// The same path without the marking of one packet, to identify a flow.
  @inlinable public var unmarked: Path { Path(local: local, remote: remote, transport: transport) }
}
