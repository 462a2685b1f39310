internal import CallCore

/// A Binding request of RFC 3489, which has no magic cookie: its transaction ID has 128 bits. Servers should still
/// respond (RFC 8489 section 11, RFC 5389 section 12.2).
struct ClassicBinding {
  /// The 16 bytes that a response repeats.
  private let transactionID: [UInt8]
  /// The requested source of the response; nil when the request has no CHANGE-REQUEST.
  let change: STUNChangeRequest?
  /// Unknown attributes that a server must understand, in order of appearance.
  let unknownAttributes: [UInt16]

  /// The attributes that do not make a request fail. RESPONSE-ADDRESS counts as unknown, as in RFC 5389: it lets a
  /// client direct responses to any address.
  private static let optional: Set<UInt16> = [
    STUNAttribute.username.type, STUNAttribute.messageIntegrity.type, STUNAttribute.changeRequest.type,
  ]

  /// Parses a datagram. Returns nil unless it is a complete Binding request of RFC 3489.
  init?(parsing datagram: RawSpan) {
    guard datagram.byteCount >= STUNHeader.size, datagram.bigEndian(UInt16.self, at: 0) == 0x0001,
      datagram.bigEndian(UInt32.self, at: 4) != STUNHeader.magicCookie,
      let length = datagram.bigEndian(UInt16.self, at: 2), length % 4 == 0,
      Int(length) == datagram.byteCount - STUNHeader.size,
      let id = datagram.bytes(in: 4..<STUNHeader.size)
    else { return nil }
    var change: STUNChangeRequest?
    var unknown: [UInt16] = []
    var cursor = STUNAttributeCursor()
    do throws(STUNMalformation) {
      while let slot = try cursor.next(in: datagram) {
        if slot.type == STUNAttribute.changeRequest.type, change == nil {
          guard slot.length == 4 else { return nil }
          let context = STUNAttributeContext(type: slot.type, transactionID: STUNTransactionID(high: 0, low: 0))
          change = STUNChangeRequest.decode(datagram.extracting(slot.value), context)
        } else if STUNAttributeRegistry.mustBeUnderstood(slot.type), !Self.optional.contains(slot.type),
          unknown.count < STUNMessage.unknownAttributeLimit, !unknown.contains(slot.type)
        {
          unknown.append(slot.type)
        }
      }
    } catch {
      return nil
    }
    transactionID = id
    self.change = change
    unknownAttributes = unknown
  }

  /// Returns a response with MAPPED-ADDRESS, SOURCE-ADDRESS and, from a server that has another address,
  /// CHANGED-ADDRESS (RFC 3489 section 11.2).
  func success(mapped: Endpoint, source: Endpoint, changed: Endpoint?) -> [UInt8] {
    message(0x0101) { attributes in
      Self.append(0x0001, mapped, to: &attributes)
      Self.append(0x0004, source, to: &attributes)
      if let changed { Self.append(0x0005, changed, to: &attributes) }
    }
  }

  /// Returns an error response that lists the unknown attributes. An odd list repeats its last entry as padding
  /// (RFC 3489 section 11.2.10).
  func failure(_ error: STUNError, listing types: [UInt16]) -> [UInt8] {
    let context = STUNAttributeContext(type: 0, transactionID: STUNTransactionID(high: 0, low: 0))
    return message(0x0111) { attributes in
      var code: [UInt8] = []
      error.encode(into: &code, context)
      // RFC 3489 requires a reason phrase whose length is a multiple of four.
      while code.count % 4 != 0 { code.append(UInt8(ascii: " ")) }
      Self.append(0x0009, code, to: &attributes)
      let listed = types.count % 2 == 0 ? types : types + types.suffix(1)
      Self.append(0x000A, listed.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }, to: &attributes)
    }
  }

  private func message(_ type: UInt16, _ build: (inout [UInt8]) -> Void) -> [UInt8] {
    var attributes: [UInt8] = []
    build(&attributes)
    var bytes: [UInt8] = []
    bytes.append(bigEndian: type)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: attributes.count))
    return bytes + transactionID + attributes
  }

  private static func append(_ type: UInt16, _ endpoint: Endpoint, to attributes: inout [UInt8]) {
    var value: [UInt8] = [0, endpoint.address.isIPv6 ? 2 : 1]
    value.append(bigEndian: endpoint.port)
    append(type, value + endpoint.address.bytes, to: &attributes)
  }

  private static func append(_ type: UInt16, _ value: [UInt8], to attributes: inout [UInt8]) {
    attributes.append(bigEndian: type)
    attributes.append(bigEndian: UInt16(truncatingIfNeeded: value.count))
    attributes += value
  }
}
