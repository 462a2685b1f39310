public import CallCore

/// An attribute's number together with the type of its value.
///
/// `message[.priority]` reads it, `builder.append(.priority, 1)` writes it, and the compiler knows that it is a `UInt32`.
/// A new attribute has a declaration below and its sizes in ``STUNAttributeRegistry``: the parser passes over a type
/// that is not there, and the attribute would read as nil. An address that is XOR-ed is named in
/// `STUNAttributeContext.isXORed` too.
public struct STUNAttribute<Value: STUNAttributeValue>: Sendable {
  public let type: UInt16

  public init(_ type: UInt16) { self.type = type }
}

// RFC 8489 section 14.
extension STUNAttribute where Value == Endpoint {
  public static var mappedAddress: Self { Self(0x0001) }
  public static var xorMappedAddress: Self { Self(0x0020) }
  public static var alternateServer: Self { Self(0x8023) }
  // RFC 8656 section 18.
  public static var xorPeerAddress: Self { Self(0x0012) }
  public static var xorRelayedAddress: Self { Self(0x0016) }
  // RFC 5780 section 7.
  public static var responseOrigin: Self { Self(0x802B) }
  public static var otherAddress: Self { Self(0x802C) }
}

extension STUNAttribute where Value == String {
  public static var username: Self { Self(0x0006) }
  public static var realm: Self { Self(0x0014) }
  public static var nonce: Self { Self(0x0015) }
  public static var software: Self { Self(0x8022) }
  public static var alternateDomain: Self { Self(0x8003) }
}

extension STUNAttribute where Value == [UInt8] {
  public static var messageIntegrity: Self { Self(0x0008) }
  public static var messageIntegritySHA256: Self { Self(0x001C) }
  public static var userHash: Self { Self(0x001E) }
  public static var data: Self { Self(0x0013) }
  public static var reservationToken: Self { Self(0x0022) }
}

extension STUNAttribute where Value == UInt32 {
  public static var fingerprint: Self { Self(0x8028) }
  /// Seconds (RFC 8656 section 18.2).
  public static var lifetime: Self { Self(0x000D) }
  /// The priority a peer-reflexive candidate found by this check would have (RFC 8445 section 16.1).
  public static var priority: Self { Self(0x0024) }
  /// GOOG-NETWORK-INFO, libwebrtc's own: the number of the network a check is sent from, and in the lower half its cost.
  public static var networkInfo: Self { Self(0xC057) }
}

extension STUNAttribute where Value == UInt64 {
  /// The sender's tie-breaker (RFC 8445 section 16.1).
  public static var iceControlled: Self { Self(0x8029) }
  /// The sender's tie-breaker (RFC 8445 section 16.1).
  public static var iceControlling: Self { Self(0x802A) }
}

extension STUNAttribute where Value == UInt16 {
  public static var channelNumber: Self { Self(0x000C) }
  /// The port an answer goes to instead of the request's own (RFC 5780 section 7.5).
  public static var responsePort: Self { Self(0x0027) }
}

extension STUNAttribute where Value == STUNFlag {
  public static var useCandidate: Self { Self(0x0025) }
  public static var dontFragment: Self { Self(0x001A) }
}

extension STUNAttribute where Value == Bool {
  /// True asks for the next higher port to be reserved too (RFC 8656 section 18.7).
  public static var evenPort: Self { Self(0x0018) }
}

extension STUNAttribute where Value == UInt8 {
  /// An IP protocol number; 17 is UDP.
  public static var requestedTransport: Self { Self(0x0019) }
}

extension STUNAttribute where Value == STUNAddressFamily {
  public static var requestedAddressFamily: Self { Self(0x0017) }
  public static var additionalAddressFamily: Self { Self(0x8000) }
}

extension STUNAttribute where Value == STUNAddressError {
  public static var addressErrorCode: Self { Self(0x8001) }
}

extension STUNAttribute where Value == STUNError {
  public static var errorCode: Self { Self(0x0009) }
}

extension STUNAttribute where Value == STUNAttributeTypes {
  public static var unknownAttributes: Self { Self(0x000A) }
}

extension STUNAttribute where Value == STUNPasswordAlgorithm {
  public static var passwordAlgorithm: Self { Self(0x001D) }
}

extension STUNAttribute where Value == STUNPasswordAlgorithms {
  public static var passwordAlgorithms: Self { Self(0x8002) }
}

extension STUNAttribute where Value == STUNChangeRequest {
  public static var changeRequest: Self { Self(0x0003) }
}

/// What the parser knows of each attribute: that it exists, and the sizes its value may have.
enum STUNAttributeRegistry {
  /// The sizes allowed for a value of `type`, or nil when the attribute is unknown here.
  ///
  /// Upper bounds for text are the looser ones of RFC 5389: 513 bytes for USERNAME, 763 for the others.
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

  /// Types below 0x8000 must be understood for the message to be processed (RFC 8489 section 14).
  static func mustBeUnderstood(_ type: UInt16) -> Bool { type < 0x8000 }
}

extension STUNAttribute {
  /// Decodes a value in place, for paths that cannot afford a whole ``STUNMessage``.
  @inlinable package func decode(_ bytes: RawSpan, in id: STUNTransactionID) -> Value? {
    Value.decode(bytes, STUNAttributeContext(type: type, transactionID: id))
  }

  /// Appends a value's wire form, without header and padding.
  @inlinable package func encode(_ value: Value, in id: STUNTransactionID, into bytes: inout [UInt8]) {
    value.encode(into: &bytes, STUNAttributeContext(type: type, transactionID: id))
  }
}
