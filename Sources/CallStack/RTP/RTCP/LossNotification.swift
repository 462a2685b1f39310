import CallCore

/// A loss notification of libwebrtc (`goog-lntf`): the last frame that was received whole, and whether the one that
/// arrives can be decoded. An encoder can then refer to frames that have arrived instead of sending a key frame.
package struct LossNotification: Hashable, Sendable {
  package var senderSSRC: UInt32
  package var mediaSSRC: UInt32
  /// The sequence number of the last packet of the last decoded frame.
  package var lastDecoded: UInt16
  /// The sequence number of the last received packet, at most 32 767 after ``lastDecoded``.
  package var lastReceived: UInt16
  /// Whether the frame of the last received packet may still be decoded.
  package var isDecodable: Bool

  package init(
    senderSSRC: UInt32, mediaSSRC: UInt32, lastDecoded: UInt16, lastReceived: UInt16, isDecodable: Bool
  ) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.lastDecoded = lastDecoded
    self.lastReceived = lastReceived
    self.isDecodable = isDecodable
  }

  /// Application layer feedback (RFC 4585 section 6.4), which REMB shares.
  static let format: UInt8 = 15
  static let size = 16
  /// The identifier `LNTF`.
  private static let identifier: UInt32 = 0x4C4E_5446

  static func isHeld(by body: RawSpan) -> Bool { body.bigEndian(UInt32.self, at: 8) == identifier }

  init?(parsing body: RawSpan) {
    guard let sender = body.bigEndian(UInt32.self, at: 0), let media = body.bigEndian(UInt32.self, at: 4),
      let decoded = body.bigEndian(UInt16.self, at: 12), let word = body.bigEndian(UInt16.self, at: 14)
    else { return nil }
    self.init(
      senderSSRC: sender, mediaSSRC: media, lastDecoded: decoded, lastReceived: decoded &+ word >> 1,
      isDecodable: word & 1 == 1)
  }

  /// Whether the distance fits its fifteen bits.
  var isValid: Bool { lastReceived &- lastDecoded < 1 << 15 }

  func write(into output: inout OutputSpan<UInt8>) {
    output.append(bigEndian: senderSSRC)
    output.append(bigEndian: mediaSSRC)
    output.append(bigEndian: Self.identifier)
    output.append(bigEndian: lastDecoded)
    output.append(bigEndian: (lastReceived &- lastDecoded) << 1 | (isDecodable ? 1 : 0))
  }
}
