internal import CallCore

extension MulticastDNSMessage {
  static func addressType(_ address: IPAddress) -> UInt16 { address.isIPv6 ? RecordType.aaaa : RecordType.a }

  /// Returns a response with the address of a name, and an NSEC record that denies other types (RFC 6762 section 6.1).
  /// A lifetime of zero withdraws the name.
  static func response(_ name: String, _ address: IPAddress, lifetime: UInt32) -> [UInt8] {
    // An authoritative response with one answer and one additional record.
    var bytes: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    // The class's first bit is cache-flush: receivers forget other data for the name (section 10.2).
    appendRecord(encoded(name), addressType(address), 0x8001, lifetime, data(address), to: &bytes)
    // Section 18.14 allows a pointer for the next name too, but parsers of plain DNS refuse it.
    appendRecord(nameReference, RecordType.nsec, 0x8001, lifetime, encoded(name) + types(address), to: &bytes)
    return bytes
  }

  /// Returns a response for a client of plain DNS: it repeats the question and has a short lifetime (section 6.7).
  static func legacyResponse(to question: Query.Question, _ address: IPAddress, identifier: UInt16) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: identifier)
    bytes += [0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0]
    bytes += encoded(question.name)
    bytes.append(bigEndian: question.type)
    bytes.append(bigEndian: UInt16(1))
    appendRecord(nameReference, addressType(address), 1, 10, data(address), to: &bytes)
    return bytes
  }

  /// A pointer to the first name of the message.
  private static let nameReference: [UInt8] = [0xC0, 12]

  private static func data(_ address: IPAddress) -> [UInt8] {
    var bytes: [UInt8] = []
    if address.isIPv6 {
      bytes.append(bigEndian: address.high)
      bytes.append(bigEndian: address.low)
    } else {
      bytes.append(bigEndian: address.v4Bits)
    }
    return bytes
  }

  /// Returns the bitmap of an NSEC record (RFC 4034 section 4.1.2) with the only existing type.
  private static func types(_ address: IPAddress) -> [UInt8] {
    let type = addressType(address)
    var bitmap = [UInt8](repeating: 0, count: Int(type / 8) + 1)
    bitmap[bitmap.count - 1] = 0x80 >> UInt8(type % 8)
    return [0, UInt8(bitmap.count)] + bitmap
  }

  private static func appendRecord(
    _ owner: [UInt8], _ type: UInt16, _ kind: UInt16, _ lifetime: UInt32, _ data: [UInt8], to bytes: inout [UInt8]
  ) {
    bytes += owner
    bytes.append(bigEndian: type)
    bytes.append(bigEndian: kind)
    bytes.append(bigEndian: lifetime)
    bytes.append(bigEndian: UInt16(data.count))
    bytes += data
  }
}
