internal import CallCore

/// The reason why a signalled candidate is not paired. The signalling peer chooses the targets of checks; without these
/// rules, which libwebrtc has too, a call could direct checks at the services of a network.
public enum ICECandidateRefusal: String, Hashable, Sendable, CaseIterable {
  /// The candidate's transport is not UDP.
  case notUDP = "not-udp"
  /// The component is not 1.
  case otherComponent = "other-component"
  /// The candidate has an unresolved name instead of an address.
  case unresolvedName = "unresolved-name"
  /// The address is `0.0.0.0` or `::`.
  case unspecifiedAddress = "unspecified-address"
  /// The address is a multicast address or the broadcast address.
  case groupAddress = "group-address"
  /// The port is below 1024 and neither 80 nor 443, which relays use to pass firewalls.
  case reservedPort = "reserved-port"
  /// The port is 80 or 443, and the address cannot be a relay's: it is private, shared, link-local or loopback.
  case privateWebPort = "private-web-port"
  /// The limit of stored candidates is reached.
  case tooMany = "too-many"
}

extension ICECandidate {
  /// The reason to refuse it as a remote candidate, or nil.
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
  /// Whether it addresses many hosts: 224.0.0.0/4, 255.255.255.255 or ff00::/8.
  fileprivate var isGroup: Bool {
    if let mapped { return mapped.isGroup }
    return isIPv6 ? high >> 56 == 0xFF : v4Bits >> 28 == 0xE || v4Bits == .max
  }

  /// Whether it is valid only in its own network (RFC 1918, RFC 3927, RFC 4193, RFC 4291, RFC 6598).
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
