/// The two-bit ECN field of an IP header (RFC 3168 section 5).
public enum ECN: UInt8, Sendable, BitwiseCopyable {
  /// The sender does not take part in ECN.
  case notECT
  /// The sender takes part: ECT(1).
  case ect1
  /// The sender takes part: ECT(0).
  case ect0
  /// A router on the way met congestion.
  case ce
}

/// The way a message takes: the local transport address, the remote one, what carries it, and its ECN marking.
///
/// On receipt `local` is the socket the message arrived at and `remote` its source.
public struct Path: Hashable, Sendable, BitwiseCopyable {
  /// What carries a message between the two addresses.
  ///
  /// A machine hands whole messages to a path whatever carries them. Over a stream the driver opens the connection when
  /// the first message wants out, frames what arrives, and says when the connection is gone.
  public enum Transport: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// UDP datagrams.
    case udp
    /// A connection of its own. A client's path names the UDP socket beside it as `local`: the port a connection leaves
    /// from is the driver's affair.
    case tcp
    /// The same with TLS in it, which is the driver's affair too.
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

  /// The same path seen from the other end.
  @inlinable public var reversed: Path { Path(local: remote, remote: local, transport: transport, ecn: ecn) }

  /// The same path without the marking of one packet: what identifies a flow.
  @inlinable public var unmarked: Path { Path(local: local, remote: remote, transport: transport) }
}
