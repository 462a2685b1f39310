package import CallCore

/// The type of an attribute and the transaction ID of its message, which XOR-ed addresses depend on.
package struct STUNAttributeContext: Sendable {
  let type: UInt16
  let transactionID: STUNTransactionID

  init(type: UInt16, transactionID: STUNTransactionID) {
    self.type = type
    self.transactionID = transactionID
  }
}

/// A type of attribute value, with its wire format.
package protocol STUNAttributeValue: Sendable {
  /// Decodes a value; returns nil when the bytes are not valid.
  static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> Self?
  func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext)
}

/// The empty value of a flag attribute, whose presence is its meaning.
package struct STUNFlag: STUNAttributeValue, Hashable {
  package init() {}
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNFlag? { STUNFlag() }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {}
}

extension UInt32: STUNAttributeValue {
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> UInt32? { bytes.bigEndian(at: 0) }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) { bytes.append(bigEndian: self) }
}

extension UInt64: STUNAttributeValue {
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> UInt64? { bytes.bigEndian(at: 0) }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) { bytes.append(bigEndian: self) }
}

/// Two bytes, followed by two reserved ones.
extension UInt16: STUNAttributeValue {
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> UInt16? { bytes.bigEndian(at: 0) }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    bytes.append(bigEndian: UInt32(self) << 16)
  }
}

/// One byte, followed by three reserved ones.
extension UInt8: STUNAttributeValue {
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> UInt8? { bytes.byte(at: 0) }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    bytes.append(bigEndian: UInt32(self) << 24)
  }
}

/// The most significant bit of a single byte.
extension Bool: STUNAttributeValue {
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> Bool? {
    bytes.byte(at: 0).map { $0 & 0x80 != 0 }
  }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) { bytes.append(self ? 0x80 : 0) }
}

extension [UInt8]: STUNAttributeValue {
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> [UInt8]? { bytes.copied }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) { bytes.append(contentsOf: self) }
}

extension String: STUNAttributeValue {
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> String? {
    String(validating: bytes.copied, as: UTF8.self)
  }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) { bytes.append(contentsOf: utf8) }
}

package enum STUNAddressFamily: UInt8, STUNAttributeValue, CaseIterable {
  case ipv4 = 1, ipv6 = 2

  package init(_ address: IPAddress) { self = address.isIPv6 ? .ipv6 : .ipv4 }

  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNAddressFamily? {
    bytes.byte(at: 0).flatMap(STUNAddressFamily.init(rawValue:))
  }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    rawValue.encode(into: &bytes, context)
  }
}

/// The attribute types that a server did not understand.
package struct STUNAttributeTypes: STUNAttributeValue, Hashable {
  package var types: [UInt16]

  package init(_ types: [UInt16]) { self.types = types }

  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNAttributeTypes? {
    guard bytes.byteCount % 2 == 0 else { return nil }
    return STUNAttributeTypes(
      stride(from: 0, to: bytes.byteCount, by: 2).compactMap { bytes.bigEndian(UInt16.self, at: $0) })
  }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    for type in types { bytes.append(bigEndian: type) }
  }
}

/// The parts of the response's source that should differ from the request's destination (RFC 5780 section 7.2).
package struct STUNChangeRequest: OptionSet, STUNAttributeValue {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }
  package static let changeIP = STUNChangeRequest(rawValue: 0x4)
  package static let changePort = STUNChangeRequest(rawValue: 0x2)

  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNChangeRequest? {
    bytes.bigEndian(UInt32.self, at: 0).map(STUNChangeRequest.init(rawValue:))
  }
  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) { bytes.append(bigEndian: rawValue) }
}

// MARK: Addresses

extension Endpoint: STUNAttributeValue {
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> Endpoint? {
    guard let family = bytes.byte(at: 1).flatMap(STUNAddressFamily.init(rawValue:)),
      let port = bytes.bigEndian(UInt16.self, at: 2)
    else { return nil }
    let wire: Endpoint
    switch (family, bytes.byteCount) {
    case (.ipv4, 8):
      guard let bits = bytes.bigEndian(UInt32.self, at: 4) else { return nil }
      wire = Endpoint(IPAddress(v4: bits), port: port)
    case (.ipv6, 20):
      guard let high = bytes.bigEndian(UInt64.self, at: 4), let low = bytes.bigEndian(UInt64.self, at: 12) else {
        return nil
      }
      wire = Endpoint(IPAddress(v6: high, low), port: port)
    default: return nil
    }
    return context.isXORed ? wire.xored(with: context.transactionID) : wire
  }

  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    let wire = context.isXORed ? xored(with: context.transactionID) : self
    bytes.append(0)
    bytes.append(STUNAddressFamily(wire.address).rawValue)
    bytes.append(bigEndian: wire.port)
    if wire.address.isIPv6 {
      bytes.append(bigEndian: wire.address.high)
      bytes.append(bigEndian: wire.address.low)
    } else {
      bytes.append(bigEndian: wire.address.v4Bits)
    }
  }

  /// Returns the XOR-ed address (RFC 8489 section 14.2), which NATs that rewrite addresses in payloads do not
  /// recognise. The function is its own inverse.
  package func xored(with id: STUNTransactionID) -> Endpoint {
    let cookie = STUNHeader.magicCookie
    let port = port ^ UInt16(truncatingIfNeeded: cookie >> 16)
    guard address.isIPv6 else { return Endpoint(IPAddress(v4: address.v4Bits ^ cookie), port: port) }
    let high = address.high ^ (UInt64(cookie) << 32 | UInt64(id.high))
    return Endpoint(IPAddress(v6: high, address.low ^ id.low), port: port)
  }
}

extension STUNAttributeContext {
  /// Whether the attribute is XOR-MAPPED-ADDRESS, XOR-PEER-ADDRESS or XOR-RELAYED-ADDRESS.
  var isXORed: Bool { type == 0x0020 || type == 0x0012 || type == 0x0016 }
}
