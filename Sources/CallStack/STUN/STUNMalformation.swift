/// Why a datagram is not a usable STUN message. Such datagrams are silently discarded (RFC 8489 section 6.3).
package enum STUNMalformation: Error, Hashable, Sendable {
  /// Fewer bytes than a header.
  case truncatedHeader
  /// The two most significant bits are not zero: some other protocol.
  case notSTUN
  case noMagicCookie
  /// The length field is not a multiple of four, or is not the size of what follows the header.
  case wrongLength
  /// An attribute runs over the end of the message.
  case truncatedAttribute
  /// A known attribute's value has a size it cannot have.
  case wrongAttributeLength(type: UInt16)
  /// FINGERPRINT must be the last attribute (RFC 8489 section 14.7).
  case attributeAfterFingerprint
  case wrongFingerprint
}
