/// Which way media flows, seen from the side that says it (RFC 8866 §6.7).
public enum MediaDirection: String, Hashable, Sendable, CaseIterable {
  case sendrecv, sendonly, recvonly, inactive

  public init(sends: Bool, receives: Bool) {
    self =
      switch (sends, receives) {
      case (true, true): .sendrecv
      case (true, false): .sendonly
      case (false, true): .recvonly
      case (false, false): .inactive
      }
  }

  public var sends: Bool { self == .sendrecv || self == .sendonly }
  public var receives: Bool { self == .sendrecv || self == .recvonly }

  /// The same flow seen from the other side.
  public var reversed: Self { Self(sends: receives, receives: sends) }

  /// What both allow, seen from the same side.
  public func intersection(_ other: Self) -> Self {
    Self(sends: sends && other.sends, receives: receives && other.receives)
  }
}
