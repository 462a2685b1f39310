/// The µ-law and the A-law of ITU-T G.711, between 16-bit samples and octets.
///
/// The laws have 14 and 13 bits; samples are scaled to 16. As in the ITU's software tools, the decision values of negative
/// samples are one step of 16 bits lower than the mirrored ones.
package enum G711 {
  // MARK: µ-law

  /// The value that makes every segment of the µ-law begin at a power of two: 33 in 14 bits.
  private static let bias = 33 << 2

  /// Returns the octet of a sample (table 2a and 2b, with all bits inverted as sent).
  package static func muLaw(_ sample: Int16) -> UInt8 {
    let value = Int(sample)
    let magnitude = min((value < 0 ? ~value : value) + bias, 0x7FFF)
    let segment = segment(of: magnitude >> 8)
    let code = UInt8(segment << 4 | (magnitude >> (segment + 3)) & 0x0F)
    return ~(value < 0 ? code | 0x80 : code)
  }

  /// Returns the sample of an octet of the µ-law.
  package static func linear(muLaw octet: UInt8) -> Int16 {
    let code = ~octet
    let magnitude = (Int(code & 0x0F) << 3 + bias) << Int((code >> 4) & 7) - bias
    return Int16(code & 0x80 != 0 ? -magnitude : magnitude)
  }

  // MARK: A-law

  /// The inversion of even bits (table 1a).
  private static let inversion: UInt8 = 0x55

  /// Returns the octet of a sample (table 1a and 1b).
  package static func aLaw(_ sample: Int16) -> UInt8 {
    let value = Int(sample)
    let magnitude = (value < 0 ? ~value : value) >> 4
    let segment = segment(of: magnitude >> 4)
    let code = UInt8(segment << 4 | (segment > 0 ? magnitude >> (segment - 1) : magnitude) & 0x0F)
    return (value < 0 ? code : code | 0x80) ^ inversion
  }

  /// Returns the sample of an octet of the A-law.
  package static func linear(aLaw octet: UInt8) -> Int16 {
    let code = octet ^ inversion
    let segment = Int((code >> 4) & 7)
    let mantissa = Int(code & 0x0F) << 4 + 8
    let magnitude = segment > 0 ? (mantissa + 0x100) << (segment - 1) : mantissa
    return Int16(code & 0x80 != 0 ? magnitude : -magnitude)
  }

  /// Returns the number of binary digits of the quotient, which is the number of a segment.
  private static func segment(of quotient: Int) -> Int { Int.bitWidth - quotient.leadingZeroBitCount }
}
