internal import CallCore

/// Why a signalled candidate is not paired. Whoever signals chooses where checks go, so what no agent listens on is
/// refused, as in libwebrtc: else a call could aim them at the services of a network.
public enum ICECandidateRefusal: String, Hashable, Sendable, CaseIterable {
  /// The candidate's transport is not UDP.
  case notUDP = "not-udp"
  /// The candidate belongs to another component than 1.
  case otherComponent = "other-component"
  /// The candidate has a name instead of an address, and the name is not resolved.
  case unresolvedName = "unresolved-name"
  /// The address is `0.0.0.0` or `::`.
  case unspecifiedAddress = "unspecified-address"
  /// A multicast or the broadcast address.
  case groupAddress = "group-address"
  /// Port 0, or another below 1024 than 80 and 443, which relays use to get through firewalls.
  case reservedPort = "reserved-port"
  /// Port 80 or 443 of an address that is no relay's: a private, shared, link-local or loopback one.
  case privateWebPort = "private-web-port"
  /// More candidates were signalled than are kept.
  case tooMany = "too-many"
}

extension ICECandidate {
  /// What is wrong with it as a remote candidate.
  var refusal: ICECandidateRefusal? {
    guard transport == .udp else { return .notUDP }
    guard component == 1 else { return .otherComponent }
    guard let address = endpoint?.address else { return .unresolvedName }
    if address.isUnspecified { return .unspecifiedAddress }
    if address.isGroup { return .groupAddress }
    guard port < 1_024 else { return nil }
    guard port == 80 || port == 443 else { return .reservedPort }
    return address.isPrivate ? .privateWebPort : nil
  }
}

extension IPAddress {
  /// Whether it stands for many hosts: 224.0.0.0/4, 255.255.255.255 or ff00::/8.
  fileprivate var isGroup: Bool {
    if let mapped { return mapped.isGroup }
    return isIPv6 ? high >> 56 == 0xFF : v4Bits >> 28 == 0xE || v4Bits == .max
  }

  /// Whether it is of no use beyond its own network (RFC 1918, RFC 3927, RFC 4193, RFC 4291, RFC 6598).
  fileprivate var isPrivate: Bool {
    if let mapped { return mapped.isPrivate }
    if isLoopback || isLinkLocal { return true }
    if isIPv6 { return high >> 57 == 0x7E }
    return v4Bits >> 24 == 10 || v4Bits >> 20 == 0xAC1 || v4Bits >> 16 == 0xC0A8 || v4Bits >> 22 == 0x191
  }

  /// The IPv4 address inside ::ffff:0:0/96.
  private var mapped: IPAddress? {
    isIPv6 && high == 0 && low >> 32 == 0xFFFF ? IPAddress(v4: UInt32(truncatingIfNeeded: low)) : nil
  }
}
