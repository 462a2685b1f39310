internal import CallCore

/// What may wait, in bytes, on a connection between a TURN client and its server for a network that takes it slower than
/// it is sent.
///
/// Media must not wait for ever behind a network that has stopped. Nobody repeats a request or an answer on a connection
/// (RFC 8489 section 6.2.2), so these find room behind data.
package enum TURNStreamRoom {
  private static let forData = 65_536
  /// The most that waits of messages. What TLS says of itself comes on top.
  package static let limit = 98_304

  /// Whether a whole message may wait behind what waits already.
  package static func holds(_ message: RawSpan, behind waiting: Int) -> Bool {
    waiting + message.byteCount <= (carriesPeerData(message) ? forData : limit)
  }

  /// Whether it is ChannelData, or a Send or Data indication (RFC 8656 sections 11 and 12).
  private static func carriesPeerData(_ message: RawSpan) -> Bool {
    guard let type = message.bigEndian(UInt16.self, at: 0) else { return false }
    return ChannelData.formerNumbers.contains(type) || PeerIndication.method(of: message) != nil
  }
}
