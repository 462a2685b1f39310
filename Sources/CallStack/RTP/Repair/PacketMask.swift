/// The packets that a repair packet protects, as offsets from its SN base.
package struct PacketMask: Hashable, Sendable, BitwiseCopyable {
  /// The number of packets that the longest mask spans (RFC 8627 section 4.2.2.1).
  package static let capacity = 110

  /// The mask with the offset 0 in the lowest bit.
  package private(set) var bits: UInt128 = 0

  package init() {}

  /// Makes a mask from offsets; those outside the capacity are left out.
  package init(_ offsets: some Sequence<Int>) {
    for offset in offsets { insert(offset) }
  }

  package var isEmpty: Bool { bits == 0 }
  package var count: Int { bits.nonzeroBitCount }
  /// The lowest offset; nil when the mask is empty.
  package var first: Int? { isEmpty ? nil : bits.trailingZeroBitCount }
  /// The highest offset; nil when the mask is empty.
  package var last: Int? { isEmpty ? nil : UInt128.bitWidth - 1 - bits.leadingZeroBitCount }

  package func contains(_ offset: Int) -> Bool {
    (0..<Self.capacity).contains(offset) && bits >> UInt128(offset) & 1 == 1
  }

  package mutating func insert(_ offset: Int) {
    guard (0..<Self.capacity).contains(offset) else { return }
    bits |= 1 << UInt128(offset)
  }

  package mutating func remove(_ offset: Int) {
    guard (0..<Self.capacity).contains(offset) else { return }
    bits &= ~(1 << UInt128(offset))
  }

  /// Returns `width` bits from an offset on as they stand in a header: the lowest offset in the highest bit.
  func field(from offset: Int, width: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<width { value = value << 1 | (contains(offset + index) ? 1 : 0) }
    return value
  }

  /// Inserts the offsets of a header's field, see ``field(from:width:)``.
  mutating func insert(field value: UInt64, from offset: Int, width: Int) {
    for index in 0..<width where value >> UInt64(width - 1 - index) & 1 == 1 { insert(offset + index) }
  }
}
