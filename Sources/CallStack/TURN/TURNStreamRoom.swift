internal import CallCore

/// The send queue limits, in bytes, of a connection between a TURN client and its server, for a network that is slower
/// than the sender.
///
/// Media must not wait indefinitely for a stalled network. Requests and responses are not retransmitted on a connection
/// (RFC 8489 section 6.2.2), so they may be queued beyond the limit of data.
package enum TURNStreamRoom {
  private static let forData = 65_536
  /// The limit of queued messages, to which TLS adds its own records.
  package static let limit = 98_304

  /// Returns whether a whole message may be queued behind `waiting` bytes.
  package static func holds(_ message: RawSpan, behind waiting: Int) -> Bool {
    waiting + message.byteCount <= (carriesPeerData(message) ? forData : limit)
  }

  /// Returns whether a message is ChannelData, or a Send or Data indication (RFC 8656 sections 11 and 12).
  private static func carriesPeerData(_ message: RawSpan) -> Bool {
    guard let type = message.bigEndian(UInt16.self, at: 0) else { return false }
    return ChannelData.formerNumbers.contains(type) || PeerIndication.method(of: message) != nil
  }
}
