import CallCore
import Testing

@testable import Codecs

@Suite struct G722Tests {
  /// The input of the overflow sequence T1C2 of ITU-T G.722 Appendix II, for both sub-bands, in 15 bits.
  static let overflowInput: [Int] = {
    var words = (0..<639).map { $0 % 2 == 0 ? -32_768 : 32_766 } + [0, -20_000, -16_384]
    words += (0..<126).map { $0 % 3 == 1 ? 32_766 : -32_768 }
    return words.map { $0 >> 1 }
  }()

  /// The octets of T2R2, which the encoder makes of it.
  static let overflowOctets = bytes(
    """
    04A004A004A004A004A005A106A308A408A409A509A60BA80BA90DA90DA90EAA0FAC0FAC10AB11AC10AC10AD11ED12AF
    14AE14EE13F012B114B052B054EF16B217F216F355B216F317F415F357B455B259B358F118F117F517F658F219F118F1
    18F455F516F556B61A735AB35AF35BB7187259B3D8F31CB3DAF556B5D6B956B6DAF35AF31EF31BF7D8B1D8B558F11C72
    59B456F955B8D4F418F11E725EB2DBF717FB58F5177958AF7BF21DF1DCF512DC57BC54F8D9AF77EF37EF3B7553D8579C
    579EDAF07FF93EF13978D29FDDFC16DD5D6C1E5E5BB57CF951F738771AFD5BAFDBDE1BF67FF314F1FAB71B7C54EF1CF9
    5EB65E7212F85CF819B8D2F15ABCDBB959AFD6F77CF818F410EFFFFC1BF956AF1478FCB959F151B21F3E1F7655EE167B
    7BF65BF212F37FDF177954AC54FB35F35CF051B33F5C187455AED8B87CFB59EF15733FFB3E7254EE19FA7EB7DBF212F5
    5DBB5D7413F259B85BFF59EC14F23AF27CB7D3F4129AD6FD1A7054AF73B0DBDF52F514DE1A763C6F5AF33AB7DAFC51F4
    54BF1E751C6E5AF27FB919F7D4EF5DFB3EB21B72D3FB7EB856B7162E5EBFDEF259B2D37A3C7B177556AEDEFE5EF21971
    127A7CFA16F555ED1E7E5EB259F151BA7CFA56B554EC1BDB57F815B4D0F437F1DFB21A6F5CDD197517F653FB78B6DAB1
    59ADDCDF58B453FB13FBF8B65AEE1EEF7EFC1AF84EBF52FF7CB65EEA3DAEFDFE5ABA4EFF13BEBCB7DEEB3D6F7CFE1B7B
    4FFF137E7CB7DFEB3CF0D99C5A790EFC55F539F6DDAA7EF0599E19784DFC55B679B55CE9FEF0189F18784E7C54B539F5
    1C69DF7418BE5CF54FF99AB81DFA5A6A5C745CB91EB5CD77DDF91EB957EC531C1EFB5DB0D0EBF2F73BF31B714FD5DDBE
    18F158E9F1FB3DB656F550DEFBB81804AC0404A02304A02104A00504A0043CA20504841904842204842004A02004A004
    04A0041FA60604842E04842104962004A01E04A00404A90604912504842E04B12004A02004A02E04A03404A723048405
    04A322049A2004840404A01804A01804A0610484C8048C4E04A22004922F0486C504A0A204B5A104C4C404A0A704EFA1
    """)

  static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  @Test func `the encoder makes the octets of the overflow test sequence`() {
    var encoder = G722Encoder()
    let octets = Self.overflowInput.map { encoder.encode(low: $0, high: $0) }
    #expect(octets.count == Self.overflowOctets.count)
    #expect(octets.indices.first { octets[$0] != Self.overflowOctets[$0] } == nil)
  }

  /// The check octets of the rows of T3L2.RC1 and T3H2.RC0: with them, the ASCII
  /// characters of 16 words add up to zero.
  static let lowerChecks = bytes(
    """
    45 90 61 CF 28 74 CE 87 6A 91 C4 94 AA 76 63 AE 83 8E 93 7F 67 71 B1 8D
    85 7C 96 9C 92 52 91 75 9F 95 6D 53 7E 6A A8 9C B6 CD 9C B2 08 8D 72 99
    """)
  static let higherChecks = bytes(
    """
    40 5E A2 7A B9 05 A2 11 7A 5C 71 81 85 B2 95 74 8C DE 52 D0 A2 A6 4D 0F
    6E 77 D9 A2 7E D8 6D 56 55 8A 87 D2 DD A0 AE AE 7A 2F 46 0C 6E F2 3E E8
    """)

  /// The check octets of rows of 16 words in hexadecimal digits; a word holds 15 bits, and a flag that is not set.
  static func checks(_ signal: [Int]) -> [UInt8] {
    stride(from: 0, to: signal.count, by: 16).map { row in
      signal[row..<row + 16].reduce(0) { sum, value in
        let digits = String(UInt16(truncatingIfNeeded: 2 * value), radix: 16, uppercase: true)
        // A missing digit is a zero: 0x30.
        return digits.utf8.reduce(sum &- UInt8(4 - digits.utf8.count) &* 0x30) { $0 &- $1 }
      }
    }
  }

  @Test func `the decoder makes both sub-bands of the overflow test sequence`() {
    var decoder = G722Decoder()
    let bands = Self.overflowOctets.map { decoder.bands($0) }
    #expect(bands.prefix(4).map { 2 * $0.low } == [-0x32, 0x84, -0x178, 0x40E])
    #expect(bands.prefix(4).map { 2 * $0.high } == [-4, 2, -10, 6])
    #expect(Self.checks(bands.map(\.low)) == Self.lowerChecks)
    #expect(Self.checks(bands.map(\.high)) == Self.higherChecks)
  }

  /// The decoded sound of a tone at 16 kHz, and what was encoded.
  func tone(_ frequency: Double, _ count: Int = 3_200) -> (sent: [Int16], heard: [Int16]) {
    var (encoder, decoder) = (G722Encoder(), G722Decoder())
    let sent = sine(frequency, rate: 16_000, amplitude: 8_000, count: count)
    let heard = stride(from: 0, to: count, by: 2).flatMap { index -> [Int16] in
      let (first, second) = decoder.decode(encoder.encode(sent[index], sent[index + 1]))
      return [first, second]
    }
    return (sent, heard)
  }

  @Test(arguments: [100.0, 440, 1_000, 3_000]) func `a tone of the lower band comes out with 30 dB`(frequency: Double) {
    let (sent, heard) = tone(frequency)
    #expect(bestSNR(of: heard, beside: sent, delays: 0...40) > 30)
  }

  @Test(arguments: [5_000.0, 6_500]) func `a tone of the higher band comes out with 10 dB`(frequency: Double) {
    let (sent, heard) = tone(frequency)
    #expect(bestSNR(of: heard, beside: sent, delays: 0...40) > 10)
  }

  @Test func `any octets are decoded without a trap, and the predictor recovers`() {
    var decoder = G722Decoder()
    var noise = UInt32(7)
    for _ in 0..<20_000 {
      noise = noise &* 1_664_525 &+ 1_013_904_223
      _ = decoder.decode(UInt8(noise >> 24))
    }
    var encoder = G722Encoder()
    let sent = sine(440, rate: 16_000, amplitude: 8_000, count: 16_000)
    let heard = stride(from: 0, to: sent.count, by: 2).flatMap { index -> [Int16] in
      let (first, second) = decoder.decode(encoder.encode(sent[index], sent[index + 1]))
      return [first, second]
    }
    #expect(bestSNR(of: Array(heard.suffix(3_200)), beside: Array(sent.suffix(3_200)), delays: 0...40) > 25)
  }
}
