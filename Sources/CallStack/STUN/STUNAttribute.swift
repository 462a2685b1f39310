package import CallCore

/// The number of an attribute, with the type of its value.
///
/// `message[.priority]` reads it, `builder.append(.priority, 1)` writes it, and the compiler knows that it is a
/// `UInt32`. A new attribute needs a declaration below and its sizes in ``STUNAttributeRegistry``: the parser skips
/// unregistered types, and the attribute would read as nil. An XOR-ed address must also be listed in
/// `STUNAttributeContext.isXORed`.
package struct STUNAttribute<Value: STUNAttributeValue>: Sendable {
  package let type: UInt16

  package init(_ type: UInt16) { self.type = type }
}

// RFC 8489 section 14.
extension STUNAttribute where Value == Endpoint {
  package static var mappedAddress: STUNAttribute<Endpoint> { Self(0x0001) }
  package static var xorMappedAddress: STUNAttribute<Endpoint> { Self(0x0020) }
  package static var alternateServer: STUNAttribute<Endpoint> { Self(0x8023) }
  // RFC 8656 section 18.
  package static var xorPeerAddress: STUNAttribute<Endpoint> { Self(0x0012) }
  package static var xorRelayedAddress: STUNAttribute<Endpoint> { Self(0x0016) }
  // RFC 5780 section 7.
  package static var responseOrigin: STUNAttribute<Endpoint> { Self(0x802B) }
  package static var otherAddress: STUNAttribute<Endpoint> { Self(0x802C) }
}

extension STUNAttribute where Value == String {
  package static var username: Self { Self(0x0006) }
  package static var realm: Self { Self(0x0014) }
  package static var nonce: Self { Self(0x0015) }
  package static var software: Self { Self(0x8022) }
  package static var alternateDomain: Self { Self(0x8003) }
}

extension STUNAttribute where Value == [UInt8] {
  package static var messageIntegrity: Self { Self(0x0008) }
  package static var messageIntegritySHA256: Self { Self(0x001C) }
  package static var userHash: Self { Self(0x001E) }
  package static var data: Self { Self(0x0013) }
  package static var reservationToken: Self { Self(0x0022) }
}

extension STUNAttribute where Value == UInt32 {
  package static var fingerprint: Self { Self(0x8028) }
  /// The lifetime in seconds (RFC 8656 section 18.2).
  package static var lifetime: Self { Self(0x000D) }
  /// The priority of a peer-reflexive candidate that the peer learns from this check (RFC 8445 section 16.1).
  package static var priority: Self { Self(0x0024) }
  /// GOOG-NETWORK-INFO of libwebrtc: the number of the network that a check is sent from, and its cost in the lower
  /// half.
  package static var networkInfo: Self { Self(0xC057) }
}

extension STUNAttribute where Value == UInt64 {
  /// The sender's tie-breaker (RFC 8445 section 16.1).
  package static var iceControlled: Self { Self(0x8029) }
  /// The sender's tie-breaker (RFC 8445 section 16.1).
  package static var iceControlling: Self { Self(0x802A) }
}

extension STUNAttribute where Value == UInt16 {
  package static var channelNumber: Self { Self(0x000C) }
  /// The port that the response is sent to, instead of the request's source port (RFC 5780 section 7.5).
  package static var responsePort: Self { Self(0x0027) }
}

extension STUNAttribute where Value == STUNFlag {
  package static var useCandidate: Self { Self(0x0025) }
  package static var dontFragment: Self { Self(0x001A) }
}

extension STUNAttribute where Value == Bool {
  /// Whether the client also reserves the next higher port (RFC 8656 section 18.7).
  package static var evenPort: Self { Self(0x0018) }
}

extension STUNAttribute where Value == UInt8 {
  /// An IP protocol number; 17 is UDP.
  package static var requestedTransport: Self { Self(0x0019) }
}

extension STUNAttribute where Value == STUNAddressFamily {
  package static var requestedAddressFamily: Self { Self(0x0017) }
  package static var additionalAddressFamily: Self { Self(0x8000) }
}

extension STUNAttribute where Value == STUNAddressError {
  package static var addressErrorCode: Self { Self(0x8001) }
}

extension STUNAttribute where Value == STUNError {
  package static var errorCode: Self { Self(0x0009) }
}

extension STUNAttribute where Value == STUNAttributeTypes {
  package static var unknownAttributes: Self { Self(0x000A) }
}

extension STUNAttribute where Value == STUNPasswordAlgorithm {
  package static var passwordAlgorithm: Self { Self(0x001D) }
}

extension STUNAttribute where Value == STUNPasswordAlgorithms {
  package static var passwordAlgorithms: Self { Self(0x8002) }
}

extension STUNAttribute where Value == STUNChangeRequest {
  package static var changeRequest: Self { Self(0x0003) }
}

/// The attributes that the parser knows, with the sizes that their values may have.
enum STUNAttributeRegistry {
  /// Returns the allowed sizes of a value of `type`, or nil for an unknown attribute.
  ///
  /// Upper bounds for text are the larger ones of RFC 5389: 513 bytes for USERNAME, 763 for the others.
  static func lengths(of type: UInt16) -> ClosedRange<Int>? {
    switch type {
    case 0x0001, 0x8023, 0x0020, 0x0012, 0x0016, 0x802B, 0x802C: 8...20
    case 0x0006: 0...513
    case 0x0014, 0x0015, 0x8022: 0...763
    case 0x8003: 0...255
    case 0x0008: 20...20
    case 0x001C: 16...32
    case 0x001E: 32...32
    case 0x0013: 0...0xFFFF
    case 0x0022: 8...8
    case 0x8028, 0x000D, 0x0024, 0x000C, 0x0019, 0x0017, 0x8000, 0x0003, 0x0027, 0xC057: 4...4
    case 0x8029, 0x802A: 8...8
    case 0x0025, 0x001A: 0...0
    case 0x0018: 1...1
    case 0x8001, 0x0009: 4...4 + 763
    case 0x000A: 0...0xFFFF
    case 0x001D: 4...0xFFFF
    case 0x8002: 0...0xFFFF
    default: nil
    }
  }

  /// Returns whether a message with an unknown attribute of this type must be refused: types below 0x8000 (RFC 8489
  /// section 14).
  static func mustBeUnderstood(_ type: UInt16) -> Bool { type < 0x8000 }
}

extension STUNAttribute {
  /// Decodes a value in place, for paths where parsing a whole ``STUNMessage`` is too slow.
  package func decode(_ bytes: RawSpan, in id: STUNTransactionID) -> Value? {
    Value.decode(bytes, STUNAttributeContext(type: type, transactionID: id))
  }

  /// Appends a value in wire format, without header and padding.
  package func encode(_ value: Value, in id: STUNTransactionID, into bytes: inout [UInt8]) {
    value.encode(into: &bytes, STUNAttributeContext(type: type, transactionID: id))
  }
}
