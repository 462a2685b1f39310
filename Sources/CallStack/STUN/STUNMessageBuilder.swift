internal import CallCore
internal import Digests

/// Builds one STUN message. The length field is updated after every step, so ``bytes`` is always a complete message.
///
/// The order is: attributes, integrity, fingerprint (RFC 8489 section 14).
package struct STUNMessageBuilder: Sendable {
  package private(set) var bytes: [UInt8]
  package let transactionID: STUNTransactionID
  private let padding: UInt8

  package init(_ messageClass: STUNClass, _ method: STUNMethod, _ transactionID: STUNTransactionID) {
    self.init(messageClass, method, transactionID, padding: 0)
  }

  /// Begins a response to `request`.
  package init(_ messageClass: STUNClass, to request: STUNMessage) {
    self.init(messageClass, request.method, request.transactionID)
  }

  /// Begins a message. RFC 8489 pads with zeros; the vectors of RFC 5769 use another byte.
  init(_ messageClass: STUNClass, _ method: STUNMethod, _ transactionID: STUNTransactionID, padding: UInt8) {
    self.transactionID = transactionID
    self.padding = padding
    bytes = []
    bytes.reserveCapacity(160)
    bytes.append(bigEndian: STUNMessageType(messageClass, method).wire)
    bytes.append(bigEndian: UInt16(0))
    bytes.append(bigEndian: STUNHeader.magicCookie)
    bytes.append(bigEndian: transactionID.high)
    bytes.append(bigEndian: transactionID.low)
  }

  package mutating func append<Value>(_ attribute: STUNAttribute<Value>, _ value: Value) {
    let start = bytes.count
    bytes.append(bigEndian: attribute.type)
    bytes.append(bigEndian: UInt16(0))
    value.encode(into: &bytes, STUNAttributeContext(type: attribute.type, transactionID: transactionID))
    set(UInt16(truncatingIfNeeded: bytes.count - start - 4), at: start + 2)
    while bytes.count % 4 != 0 { bytes.append(padding) }
    set(UInt16(truncatingIfNeeded: bytes.count - STUNHeader.size), at: 2)
  }

  package mutating func append(_ attribute: STUNAttribute<STUNFlag>) { append(attribute, STUNFlag()) }

  /// Appends MESSAGE-INTEGRITY.
  package mutating func appendIntegrity(key: STUNKey) {
    let code = STUNIntegrity.code(.sha1, key: key, of: bytes.span.bytes, upTo: bytes.count, end: bytes.count + 24)
    append(.messageIntegrity, code)
  }

  /// Appends MESSAGE-INTEGRITY-SHA256.
  package mutating func appendIntegritySHA256(key: STUNKey) {
    let code = STUNIntegrity.code(.sha256, key: key, of: bytes.span.bytes, upTo: bytes.count, end: bytes.count + 36)
    append(.messageIntegritySHA256, code)
  }

  /// Appends the integrity of a response, with the algorithm that protects the request (RFC 8489 sections 9.1.4 and
  /// 9.2.5).
  package mutating func appendIntegrity(key: STUNKey, answering request: STUNMessage) {
    if request.contains(.messageIntegritySHA256) { appendIntegritySHA256(key: key) } else { appendIntegrity(key: key) }
  }

  /// Appends FINGERPRINT.
  package mutating func appendFingerprint() {
    set(UInt16(truncatingIfNeeded: bytes.count + 8 - STUNHeader.size), at: 2)
    append(.fingerprint, STUNIntegrity.fingerprint(of: bytes.span.bytes, upTo: bytes.count))
  }

  private mutating func set(_ value: UInt16, at offset: Int) {
    bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
    bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
  }
}
