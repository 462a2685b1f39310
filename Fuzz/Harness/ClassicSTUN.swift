internal import CallCore

/// Whether the bytes are a whole answer of RFC 3489 to a Binding request: with 128 bits of transaction, and no magic
/// cookie. Servers give them to clients that ask so (RFC 8489 section 11); ``STUNMessage`` does not read them.
package func isClassicBindingAnswer(_ datagram: RawSpan) -> Bool {
  guard let type = datagram.bigEndian(UInt16.self, at: 0), type == 0x0101 || type == 0x0111,
    let length = datagram.bigEndian(UInt16.self, at: 2), length % 4 == 0,
    datagram.byteCount == 20 + Int(length)
  else { return false }
  // The attributes fill the body exactly.
  var offset = 20
  while let size = datagram.bigEndian(UInt16.self, at: offset + 2) { offset += 4 + (Int(size) + 3) / 4 * 4 }
  return offset == datagram.byteCount
}
