internal import CallCore
internal import STUN

/// Splits a byte stream between a TURN client and its server into messages (RFC 8656 section 3.1, RFC 8489
/// section 6.2.2): STUN messages, which have a length field, and ChannelData, padded to four bytes.
///
/// Each direction of a connection has its own framer. Pieces may begin and end anywhere; a message that lies within one
/// piece is not copied.
package struct TURNStreamFramer: Sendable {
  /// The beginning of an incomplete message.
  private var pending: [UInt8] = []
  /// Whether the stream is malformed: close the connection and ignore further data.
  package private(set) var isBroken = false

  package init() {}

  /// Takes the next bytes of the stream and passes every complete message to `message`, including padding.
  ///
  /// - Returns: false when the stream is malformed; messages before the malformed part were passed on.
  package mutating func receive(_ bytes: RawSpan, message: (RawSpan) -> Void) -> Bool {
    guard !isBroken else { return false }
    guard !pending.isEmpty else {
      let used = deliver(bytes, message)
      if !isBroken { append(bytes, from: used) }
      return !isBroken
    }
    append(bytes, from: 0)
    var buffered: [UInt8] = []
    swap(&buffered, &pending)
    buffered.removeFirst(deliver(buffered.span.bytes, message))
    if !isBroken { pending = buffered }
    return !isBroken
  }

  private mutating func append(_ bytes: RawSpan, from start: Int) {
    bytes.extracting(start..<bytes.byteCount).withUnsafeBytes { pending.append(contentsOf: $0) }
  }

  /// Passes on the complete messages at the start of `bytes` and returns their size.
  private mutating func deliver(_ bytes: RawSpan, _ message: (RawSpan) -> Void) -> Int {
    var start = 0
    while start < bytes.byteCount {
      let rest = bytes.extracting(start..<bytes.byteCount)
      switch Self.size(of: rest) {
      case .malformed:
        isBroken = true
        return start
      case .unknown: return start
      case .bytes(let size):
        guard size <= rest.byteCount else { return start }
        message(rest.extracting(0..<size))
        start += size
      }
    }
    return start
  }

  private enum Size {
    case bytes(Int)
    /// More bytes are needed to know the size.
    case unknown
    case malformed
  }

  private static func size(of bytes: RawSpan) -> Size {
    guard let type = bytes.bigEndian(UInt16.self, at: 0) else {
      // The first byte may already be invalid: STUN begins with bits 00, ChannelData with 01.
      return bytes.byte(at: 0).map { $0 < 0x80 } == false ? .malformed : .unknown
    }
    guard type <= ChannelData.formerNumbers.upperBound else { return .malformed }
    guard let length = bytes.bigEndian(UInt16.self, at: 2) else { return .unknown }
    guard type < 0x4000 else { return .bytes(ChannelData.headerSize + (Int(length) + 3) / 4 * 4) }
    guard length % 4 == 0 else { return .malformed }
    guard let cookie = bytes.bigEndian(UInt32.self, at: 4) else { return .unknown }
    return cookie == STUNHeader.magicCookie ? .bytes(STUNHeader.size + Int(length)) : .malformed
  }
}
