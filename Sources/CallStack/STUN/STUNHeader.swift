package import CallCore

/// Constants of the 20-byte header (RFC 8489 section 5).
package enum STUNHeader {
  package static let size = 20
  package static let magicCookie: UInt32 = 0x2112_A442
}

/// Returns whether a demultiplexer must treat a datagram as STUN (RFC 7983, RFC 8489 section 6.3).
///
/// Reads the header only; ``STUNMessage/init(parsing:)`` may still refuse the rest.
package func isSTUN(_ datagram: RawSpan) -> Bool {
  guard datagram.byteCount >= STUNHeader.size, let type = datagram.bigEndian(UInt16.self, at: 0), type < 0x4000,
    datagram.bigEndian(UInt32.self, at: 4) == STUNHeader.magicCookie,
    let length = datagram.bigEndian(UInt16.self, at: 2)
  else { return false }
  return length % 4 == 0
}

/// The 96-bit identifier that matches a response to its request.
package struct STUNTransactionID: Hashable, Sendable, BitwiseCopyable {
  package let high: UInt32
  package let low: UInt64

  package init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }

  package init(from random: inout RandomStream) {
    high = UInt32(truncatingIfNeeded: random.next())
    low = random.next()
  }
}
