/// A TCP sequence number: 32 bits that wrap, ordered within half the space (RFC 9293 section 3.4).
package struct SequenceNumber: Hashable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32

  package init(_ rawValue: UInt32) { self.rawValue = rawValue }

  static func + (a: SequenceNumber, count: Int) -> SequenceNumber {
    SequenceNumber(a.rawValue &+ UInt32(truncatingIfNeeded: count))
  }

  /// Returns the distance of `a` after `b`; negative if it is before.
  static func - (a: SequenceNumber, b: SequenceNumber) -> Int {
    Int(Int32(bitPattern: a.rawValue &- b.rawValue))
  }

  static func < (a: SequenceNumber, b: SequenceNumber) -> Bool { a - b < 0 }
  static func > (a: SequenceNumber, b: SequenceNumber) -> Bool { a - b > 0 }
  static func <= (a: SequenceNumber, b: SequenceNumber) -> Bool { a - b <= 0 }
  static func >= (a: SequenceNumber, b: SequenceNumber) -> Bool { a - b >= 0 }

  static func later(_ a: SequenceNumber, _ b: SequenceNumber) -> SequenceNumber { a < b ? b : a }
}
