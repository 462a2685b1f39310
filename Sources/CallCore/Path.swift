/// The two-bit ECN field of an IP header (RFC 3168 section 5).
public enum ECN: UInt8, Sendable, BitwiseCopyable { case notECT, ect1, ect0, ce }

/// The way a datagram takes: the local transport address, the remote one, and its ECN marking.
///
/// On receipt `local` is the socket the datagram arrived at and `remote` its source.
public struct Path: Hashable, Sendable, BitwiseCopyable {
  public var local: Endpoint
  public var remote: Endpoint
  public var ecn: ECN

  @inlinable public init(local: Endpoint, remote: Endpoint, ecn: ECN = .notECT) {
    self.local = local
    self.remote = remote
    self.ecn = ecn
  }

  /// The same path seen from the other end.
  @inlinable public var reversed: Path { Path(local: remote, remote: local, ecn: ecn) }
}
