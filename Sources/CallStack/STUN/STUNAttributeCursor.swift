internal import CallCore

/// The location of an attribute in a message.
package struct STUNAttributeSlot: Hashable, Sendable, BitwiseCopyable {
  package let type: UInt16
  /// The offset of the attribute's header.
  package let offset: Int
  /// The size of the value, without padding.
  package let length: Int

  /// The byte range of the value.
  package var value: Range<Int> { offset + 4..<offset + 4 + length }
  /// The offset of the next attribute, after the value and its padding to four bytes.
  package var end: Int { offset + 4 + (length + 3) & ~3 }

  init(type: UInt16, offset: Int, length: Int) {
    self.type = type
    self.offset = offset
    self.length = length
  }
}

/// Iterates over the attributes of a message without a copy.
package struct STUNAttributeCursor {
  var offset = STUNHeader.size

  package init() {}

  /// Returns the next attribute of `message`, or nil at its end.
  package mutating func next(in message: RawSpan) throws(STUNMalformation) -> STUNAttributeSlot? {
    guard offset < message.byteCount else { return nil }
    guard let type = message.bigEndian(UInt16.self, at: offset),
      let length = message.bigEndian(UInt16.self, at: offset + 2)
    else { throw .truncatedAttribute }
    let slot = STUNAttributeSlot(type: type, offset: offset, length: Int(length))
    guard slot.end <= message.byteCount else { throw .truncatedAttribute }
    offset = slot.end
    return slot
  }
}
