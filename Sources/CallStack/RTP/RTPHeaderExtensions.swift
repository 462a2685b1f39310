import CallCore

/// The header extension elements of one outgoing packet, stored inline to avoid an allocation per packet (RFC 8285).
///
/// The one-byte form is used unless an element needs the two-byte form.
package struct RTPHeaderExtensions: Sendable {
  static let oneByteProfile: UInt16 = 0xBEDE
  static let twoByteProfile: UInt16 = 0x1000
  /// The capacity in bytes for all elements, each with a header of two bytes.
  package static let capacity = 64

  private var storage = InlineArray<64, UInt8>(repeating: 0)
  private var used = 0
  private var elementCount = 0
  private var needsTwoByteForm = false

  package init() {}

  package var isEmpty: Bool { elementCount == 0 }

  /// Adds an element of one byte. Returns false when `id` is zero or there is no room.
  @discardableResult
  package mutating func append(id: UInt8, byte: UInt8) -> Bool {
    guard begin(id: id, length: 1) else { return false }
    put(byte)
    return true
  }

  /// Adds an element of two bytes. Returns false when `id` is zero or there is no room.
  @discardableResult
  package mutating func append(id: UInt8, word: UInt16) -> Bool {
    guard begin(id: id, length: 2) else { return false }
    put(UInt8(truncatingIfNeeded: word >> 8))
    put(UInt8(truncatingIfNeeded: word))
    return true
  }

  /// Adds an element of any length that fits. Returns false when `id` is zero or there is no room.
  @discardableResult
  package mutating func append(id: UInt8, bytes: RawSpan) -> Bool {
    guard begin(id: id, length: bytes.byteCount) else { return false }
    for offset in 0..<bytes.byteCount { put(bytes.byte(at: offset) ?? 0) }
    return true
  }

  /// The place of an element whose bytes are known only when the packet is sent.
  package struct Slot: Hashable, Sendable, BitwiseCopyable {
    /// The offset of its bytes among all elements in the two-byte form.
    let position: Int
    /// The number of elements up to and including it.
    let elements: Int
  }

  /// Adds an element of zeros that is overwritten when the packet is sent. Returns nil when `id` is zero or there is no
  /// room.
  package mutating func reserve(id: UInt8, length: Int) -> Slot? {
    guard begin(id: id, length: length) else { return nil }
    let slot = Slot(position: used, elements: elementCount)
    for _ in 0..<length { put(0) }
    return slot
  }

  /// Writes an audio level (RFC 6464) into a reserved element of one byte: `level` is −dBov, clamped to 127.
  package mutating func setAudioLevel(_ level: UInt8, voiceActivity: Bool, at slot: Slot) {
    storage[slot.position] = (voiceActivity ? 0x80 : 0) | min(level, 127)
  }

  /// Returns the offset of a reserved element's bytes in a packet written with these extensions.
  package func offset(of slot: Slot, contributingSourceCount: Int = 0) -> Int {
    let inside = needsTwoByteForm ? slot.position : slot.position - slot.elements
    return RTPHeader.fixedSize + 4 * contributingSourceCount + 4 + inside
  }

  /// The size on the wire in bytes with preamble and padding; zero when there is no element.
  package var encodedSize: Int {
    guard !isEmpty else { return 0 }
    return 4 + (dataSize + 3) / 4 * 4
  }

  private var dataSize: Int { needsTwoByteForm ? used : used - elementCount }

  func write(into output: inout OutputSpan<UInt8>) {
    guard !isEmpty else { return }
    output.append(bigEndian: needsTwoByteForm ? Self.twoByteProfile : Self.oneByteProfile)
    let words = (dataSize + 3) / 4
    output.append(bigEndian: UInt16(words))
    var offset = 0
    while offset < used {
      let (id, length) = (storage[offset], Int(storage[offset + 1]))
      if needsTwoByteForm {
        output.append(id)
        output.append(UInt8(length))
      } else {
        output.append(id << 4 | UInt8(length - 1))
      }
      for index in 0..<length { output.append(storage[offset + 2 + index]) }
      offset += 2 + length
    }
    for _ in dataSize..<4 * words { output.append(0) }
  }

  private mutating func begin(id: UInt8, length: Int) -> Bool {
    guard id > 0, used + 2 + length <= Self.capacity else { return false }
    if id > 14 || length == 0 || length > 16 { needsTwoByteForm = true }
    elementCount += 1
    put(id)
    put(UInt8(length))
    return true
  }

  private mutating func put(_ byte: UInt8) {
    storage[used] = byte
    used += 1
  }
}
