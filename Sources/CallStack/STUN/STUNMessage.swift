package import CallCore
internal import Digests

/// A well-formed STUN message.
///
/// Parsing checks the complete format: lengths, the fingerprint if there is one, and the order of attributes.
/// Attributes after an integrity attribute are not protected by it and are ignored (RFC 8489 section 14.5).
package struct STUNMessage: Sendable {
  package let messageClass: STUNClass
  package let method: STUNMethod
  package let transactionID: STUNTransactionID
  /// Unknown attributes that must be understood, in order of appearance: the first ``unknownAttributeLimit`` of them,
  /// so that a response that lists them stays small.
  package let unknownAttributes: [UInt16]
  package static let unknownAttributeLimit = 32
  /// The whole message, as received.
  package let bytes: [UInt8]
  private let slots: [STUNAttributeSlot]

  package init(parsing datagram: RawSpan) throws(STUNMalformation) {
    guard datagram.byteCount >= STUNHeader.size, let wire = datagram.bigEndian(UInt16.self, at: 0),
      let length = datagram.bigEndian(UInt16.self, at: 2), let cookie = datagram.bigEndian(UInt32.self, at: 4),
      let idHigh = datagram.bigEndian(UInt32.self, at: 8), let idLow = datagram.bigEndian(UInt64.self, at: 12)
    else { throw .truncatedHeader }
    guard let type = STUNMessageType(wire: wire) else { throw .notSTUN }
    guard cookie == STUNHeader.magicCookie else { throw .noMagicCookie }
    guard length % 4 == 0, Int(length) == datagram.byteCount - STUNHeader.size else { throw .wrongLength }
    (slots, unknownAttributes) = try Self.attributes(of: datagram)
    messageClass = type.messageClass
    method = type.method
    transactionID = STUNTransactionID(high: idHigh, low: idLow)
    bytes = datagram.copied
  }

  private static func attributes(
    of datagram: RawSpan
  ) throws(STUNMalformation) -> (slots: [STUNAttributeSlot], unknown: [UInt16]) {
    var slots: [STUNAttributeSlot] = []
    slots.reserveCapacity(8)
    var unknown: [UInt16] = []
    var cursor = STUNAttributeCursor()
    // 1 after MESSAGE-INTEGRITY, 2 after MESSAGE-INTEGRITY-SHA256: only attributes that may follow them still count.
    var sealed = 0
    while let slot = try cursor.next(in: datagram) {
      if slot.type == STUNAttribute.fingerprint.type {
        try check(fingerprint: slot, in: datagram)
      } else if slot.type == STUNAttribute.messageIntegritySHA256.type {
        guard sealed < 2 else { continue }
        guard slot.length % 4 == 0 else { throw .wrongAttributeLength(type: slot.type) }
        sealed = 2
      } else {
        guard sealed == 0 else { continue }
        if slot.type == STUNAttribute.messageIntegrity.type { sealed = 1 }
      }
      guard let lengths = STUNAttributeRegistry.lengths(of: slot.type) else {
        if STUNAttributeRegistry.mustBeUnderstood(slot.type), unknown.count < unknownAttributeLimit,
          !unknown.contains(slot.type)
        {
          unknown.append(slot.type)
        }
        continue
      }
      guard lengths.contains(slot.length) else { throw .wrongAttributeLength(type: slot.type) }
      slots.append(slot)
    }
    return (slots, unknown)
  }

  private static func check(fingerprint slot: STUNAttributeSlot, in datagram: RawSpan) throws(STUNMalformation) {
    guard slot.length == 4 else { throw .wrongAttributeLength(type: slot.type) }
    guard slot.end == datagram.byteCount else { throw .attributeAfterFingerprint }
    let wanted = STUNIntegrity.fingerprint(of: datagram, upTo: slot.offset)
    guard datagram.bigEndian(UInt32.self, at: slot.value.lowerBound) == wanted else { throw .wrongFingerprint }
  }

  // MARK: Reading

  /// The value of the first attribute of this type; nil when there is none or its value is invalid.
  package subscript<Value>(_ attribute: STUNAttribute<Value>) -> Value? {
    assert(STUNAttributeRegistry.lengths(of: attribute.type) != nil, "no size of it is known to the parser")
    guard let slot = slots.first(where: { $0.type == attribute.type }) else { return nil }
    return decode(slot)
  }

  /// Returns whether the message has an attribute of this type, valid or not.
  package func contains<Value>(_ attribute: STUNAttribute<Value>) -> Bool {
    slots.contains { $0.type == attribute.type }
  }

  /// Returns the values of all attributes of this type, or nil when one is invalid.
  ///
  /// For attributes that may repeat: XOR-PEER-ADDRESS, XOR-RELAYED-ADDRESS, ADDRESS-ERROR-CODE.
  package func all<Value>(_ attribute: STUNAttribute<Value>) -> [Value]? {
    var values: [Value] = []
    for slot in slots where slot.type == attribute.type {
      guard let value: Value = decode(slot) else { return nil }
      values.append(value)
    }
    return values
  }

  private func decode<Value: STUNAttributeValue>(_ slot: STUNAttributeSlot) -> Value? {
    Value.decode(
      bytes.span.bytes.extracting(slot.value), STUNAttributeContext(type: slot.type, transactionID: transactionID))
  }

  /// The response's reflexive address: XOR-MAPPED-ADDRESS, or MAPPED-ADDRESS from servers older than RFC 5389.
  package var reflexiveAddress: Endpoint? { self[.xorMappedAddress] ?? self[.mappedAddress] }

  // MARK: Integrity

  package enum Integrity: Hashable, Sendable { case absent, valid, invalid }

  /// Checks whether the sender of the message knows `key`.
  ///
  /// MESSAGE-INTEGRITY-SHA256 decides when both attributes are present (RFC 8489 section 9).
  package func integrity(key: STUNKey) -> Integrity {
    if let slot = slots.first(where: { $0.type == STUNAttribute.messageIntegritySHA256.type }) {
      return check(slot, .sha256, key)
    }
    if let slot = slots.first(where: { $0.type == STUNAttribute.messageIntegrity.type }) {
      return check(slot, .sha1, key)
    }
    return .absent
  }

  package var hasIntegrity: Bool { contains(.messageIntegrity) || contains(.messageIntegritySHA256) }
  package var hasFingerprint: Bool { contains(.fingerprint) }

  private func check(_ slot: STUNAttributeSlot, _ function: HashFunction, _ key: STUNKey) -> Integrity {
    // A truncated HMAC is allowed only if the usage defines a minimum length; ICE and TURN do not (RFC 8489 section
    // 14.6).
    guard slot.length == function.digestSize else { return .invalid }
    let message = bytes.span.bytes
    let code = STUNIntegrity.code(function, key: key, of: message, upTo: slot.offset, end: slot.end)
    let isEqual = constantTimeEqual(code.span.bytes, message.extracting(slot.value))
    return isEqual ? .valid : .invalid
  }
}
