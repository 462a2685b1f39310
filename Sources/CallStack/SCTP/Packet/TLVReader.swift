internal import CallCore

/// Iterates over parameters or error causes: a type, a length with the header of four bytes, a value, padding to four
/// bytes (RFC 9260 section 3.2.1).
struct TLVReader {
  private var offset = 0
  private let end: Int
  /// Whether the iteration ended at a wrong length.
  private(set) var isMalformed = false

  init(_ byteCount: Int) { end = byteCount }

  /// Returns the type and the range of the value of the next element, or nil. Always pass the same bytes.
  mutating func next(in bytes: RawSpan) -> (type: UInt16, value: Range<Int>)? {
    guard offset < end, !isMalformed else { return nil }
    guard let type = bytes.bigEndian(UInt16.self, at: offset),
      let length = bytes.bigEndian(UInt16.self, at: offset + 2), length >= 4, offset + Int(length) <= end
    else {
      isMalformed = true
      return nil
    }
    let value = offset + 4..<offset + Int(length)
    // The padding of the last element may be missing: the length of a chunk does not count it.
    offset = min(end, offset + (Int(length) + 3) & ~3)
    return (type, value)
  }
}

extension [UInt8] {
  /// Appends an element whose value is written by `body`, after the padding of the one before.
  ///
  /// The element itself stays without padding: the length of a chunk does not count that of its last element
  /// (RFC 9260 section 3.2).
  ///
  /// - Precondition: the array begins at a multiple of four bytes of the packet.
  mutating func appendTLV(_ type: UInt16, _ body: (inout [UInt8]) -> Void) {
    pad()
    let start = count
    append(bigEndian: type)
    append(bigEndian: UInt16(0))
    body(&self)
    setLength(from: start)
  }

  /// Writes the length of the element or chunk that begins at `start` and ends here.
  ///
  /// - Precondition: it is shorter than 65536 bytes.
  mutating func setLength(from start: Int) {
    let length = count - start
    precondition(length <= UInt16.max, "the length field has sixteen bits")
    self[start + 2] = UInt8(length >> 8)
    self[start + 3] = UInt8(truncatingIfNeeded: length)
  }

  /// Pads the bytes to a multiple of four.
  mutating func pad() {
    while count % 4 != 0 { append(0) }
  }
}
