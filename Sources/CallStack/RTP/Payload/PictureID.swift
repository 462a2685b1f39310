/// The number of a picture in a payload descriptor of VP8 or VP9: seven or fifteen bits (RFC 7741 section 4.2, RFC 9628
/// section 4.2).
package struct PictureID: Hashable, Sendable, BitwiseCopyable {
  package let value: UInt16
  /// The number of bits, at which the number wraps: 7 or 15.
  package let bitWidth: Int

  /// Makes a number of seven bits.
  package static func short(_ value: UInt8) -> PictureID { PictureID(value: UInt16(value & 0x7F), bitWidth: 7) }

  /// Makes a number of fifteen bits.
  package static func long(_ value: UInt16) -> PictureID { PictureID(value: value & 0x7FFF, bitWidth: 15) }

  /// The number that follows, of the same width.
  package var next: PictureID { bitWidth == 7 ? .short(UInt8(value & 0x7F) &+ 1) : .long(value &+ 1) }

  /// The size on the wire in bytes.
  var encodedSize: Int { bitWidth == 7 ? 1 : 2 }
}
