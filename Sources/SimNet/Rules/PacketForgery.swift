public import CallCore

/// Packets of a stranger on the network of their receiver: they have an address that no check has verified, and are not
/// protected by any key of the call.
public enum PacketForgery {
  /// The endpoint from which they seem to come: addresses for documentation (RFC 5737, RFC 3849), which nobody has.
  public static func source(isIPv6: Bool) -> Endpoint { isIPv6 ? ipv6Source : ipv4Source }

  private static let ipv4Source = Endpoint(IPAddress(v4: 0xC633_6442), port: 6_666)
  private static let ipv6Source = Endpoint(IPAddress(v6: 0x2001_0DB8_0000_0000, 0x66), port: 6_666)

  /// Returns the packet that follows one of the receiver's own: a fatal DTLS alert in the clear (RFC 6347 section 4.1),
  /// or a copy whose authentication fails, because its last byte is another.
  static func packet(after payload: RawSpan) -> [UInt8] {
    if case .dtls = PacketContent(payload) { return fatalAlert }
    var copy = payload.withUnsafeBytes { [UInt8]($0) }
    if let last = copy.indices.last { copy[last] ^= 0xFF }
    return copy
  }

  /// A record of epoch 0 with the alert handshake_failure.
  private static let fatalAlert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
}
