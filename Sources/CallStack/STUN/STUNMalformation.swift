/// The reason why a datagram is not a usable STUN message. Such datagrams are silently discarded (RFC 8489 section
/// 6.3).
package enum STUNMalformation: Error, Hashable, Sendable {
  /// The datagram is shorter than a header.
  case truncatedHeader
  /// The two most significant bits are not zero: the datagram belongs to another protocol.
  case notSTUN
  case noMagicCookie
  /// The length field is not a multiple of four, or differs from the number of bytes after the header.
  case wrongLength
  /// An attribute extends beyond the end of the message.
  case truncatedAttribute
  /// The value of a known attribute has an invalid size.
  case wrongAttributeLength(type: UInt16)
  /// An attribute follows FINGERPRINT, which must be the last (RFC 8489 section 14.7).
  case attributeAfterFingerprint
  case wrongFingerprint
}
