/// The part of a modelled audio payload that observers of media read, who do not have the codec.
package enum SyntheticPayload {
  /// The first byte of every payload.
  package static let magic: UInt8 = 0xA5
  /// The level of digital silence (RFC 6464 section 3).
  private static let silence: UInt8 = 127

  /// Returns whether the payload that begins with these eight bytes, the first one on top, is modelled audio with sound.
  package static func hasSound(prefix: UInt64) -> Bool {
    UInt8(truncatingIfNeeded: prefix >> 56) == magic && UInt8(truncatingIfNeeded: prefix >> 40) < silence
  }
}
