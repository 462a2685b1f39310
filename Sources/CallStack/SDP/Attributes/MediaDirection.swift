/// The direction of media, seen from the side that announces it (RFC 8866 §6.7).
public enum MediaDirection: String, Hashable, Sendable, CaseIterable {
  /// Sends and receives.
  case sendrecv
  /// Sends only.
  case sendonly
  /// Receives only.
  case recvonly
  /// Neither sends nor receives.
  case inactive

  package init(sends: Bool, receives: Bool) {
    self =
      switch (sends, receives) {
      case (true, true): .sendrecv
      case (true, false): .sendonly
      case (false, true): .recvonly
      case (false, false): .inactive
      }
  }

  /// Whether media is sent.
  public var sends: Bool { self == .sendrecv || self == .sendonly }
  /// Whether media is received.
  public var receives: Bool { self == .sendrecv || self == .recvonly }

  /// The same direction seen from the other side.
  package var reversed: Self { Self(sends: receives, receives: sends) }

  /// Returns the direction that both allow, seen from the same side.
  package func intersection(_ other: Self) -> Self {
    Self(sends: sends && other.sends, receives: receives && other.receives)
  }
}
