public import CallCore

/// Numbers of the 20-byte header (RFC 8489 section 5).
public enum STUNHeader {
  public static let size = 20
  public static let magicCookie: UInt32 = 0x2112_A442
}

/// Whether a datagram is a STUN message, as far as a demultiplexer needs to know (RFC 7983, RFC 8489 section 6.3).
///
/// Only the header is looked at; ``STUNMessage/init(parsing:)`` may still refuse the rest.
public func isSTUN(_ datagram: RawSpan) -> Bool {
  guard datagram.byteCount >= STUNHeader.size, let type = datagram.bigEndian(UInt16.self, at: 0), type < 0x4000,
    datagram.bigEndian(UInt32.self, at: 4) == STUNHeader.magicCookie,
    let length = datagram.bigEndian(UInt16.self, at: 2)
  else { return false }
  return length % 4 == 0
}

/// The 96-bit identifier that pairs a response with its request.
public struct STUNTransactionID: Hashable, Sendable, BitwiseCopyable {
  public let high: UInt32
  public let low: UInt64

  public init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }

  public init(from random: inout RandomStream) {
    high = UInt32(truncatingIfNeeded: random.next())
    low = random.next()
  }
}
