/// The quantizers of G.722 at 64 kbit/s (ITU-T G.722 section 6.2.1): six bits for the lower sub-band, two for the higher.
enum G722Quantizer {
  /// Q6: the decision levels of the lower band.
  private static let levels = [
    0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1_023, 1_121, 1_219,
    1_339, 1_458, 1_612, 1_765, 1_980, 2_195, 2_557, 2_919,
  ]
  /// The upper half of QM6, the output levels by the code's distance from the largest level of its sign.
  private static let outputs = [
    24_808, 21_904, 19_008, 16_704, 14_984, 13_512, 12_280, 11_192, 10_232, 9_360, 8_576, 7_856, 7_192, 6_576, 6_000,
    5_456, 4_944, 4_464, 4_008, 3_576, 3_168, 2_776, 2_400, 2_032, 1_688, 1_360, 1_040, 728, 432, 136,
  ]
  /// QM4.
  private static let coarse = [
    0, -20_456, -12_896, -8_968, -6_288, -4_240, -2_584, -1_200, 20_456, 12_896, 8_968, 6_288, 4_240, 2_584, 1_200, 0,
  ]
  /// QM2.
  private static let high = [-7_408, -1_616, 7_408, 1_616]
  /// QM6: 64 output levels. The four lowest codes do not occur.
  private static let fine: [Int] =
    Array(repeating: -136, count: 4) + outputs.prefix(28).map(-) + outputs + [-432, -136]

  /// Returns the six-bit code of a difference (QUANTL).
  static func lower(_ difference: Int, step: Int) -> Int {
    let magnitude = difference < 0 ? ~difference : difference
    var interval = 1
    while interval < 30, magnitude >= (levels[interval] * step) >> 12 { interval += 1 }
    // ILN, ILP: the codes of both signs, from the smallest difference on.
    if difference >= 0 { return 62 - interval }
    return interval < 3 ? 64 - interval : 34 - interval
  }

  /// Returns the two-bit code of a difference (QUANTH).
  static func higher(_ difference: Int, step: Int) -> Int {
    let magnitude = difference < 0 ? ~difference : difference
    let isLarge = magnitude >= (564 * step) >> 12
    return (difference < 0 ? 0 : 2) + (isLarge ? 0 : 1)
  }

  static func difference(lower code: Int, step: Int) -> Int { (step * fine[code]) >> 15 }
  static func difference(coarse code: Int, step: Int) -> Int { (step * coarse[code]) >> 15 }
  static func difference(higher code: Int, step: Int) -> Int { (step * high[code]) >> 15 }
}

/// The filter that splits 16 kHz into two sub-bands and joins them (ITU-T G.722 section 5.1): 24 taps, symmetric.
enum G722Filter {
  static let taps = [3, -11, 12, 32, -210, 951, 3_876, -805, 362, -156, 53, -11]
}

/// The encoder of G.722 at 64 kbit/s, without framing: an octet for two samples of 16 kHz.
struct G722Encoder: Sendable {
  private var lower = G722Band.lower
  private var higher = G722Band.higher
  /// The last 24 samples, the oldest first.
  private var past: InlineArray<24, Int> = .init(repeating: 0)

  /// Encodes two samples.
  mutating func encode(_ first: Int16, _ second: Int16) -> UInt8 {
    for index in 0..<22 { past[index] = past[index + 2] }
    past[22] = Int(first)
    past[23] = Int(second)
    var (odd, even) = (0, 0)
    for index in 0..<12 {
      odd += past[2 * index] * G722Filter.taps[index]
      even += past[2 * index + 1] * G722Filter.taps[11 - index]
    }
    return encode(low: (even + odd) >> 14, high: (even - odd) >> 14)
  }

  /// Encodes a sample of each sub-band, of 15 bits.
  mutating func encode(low: Int, high: Int) -> UInt8 {
    let lowCode = G722Quantizer.lower(clamped(low - lower.prediction), step: lower.step)
    let lowDifference = G722Quantizer.difference(coarse: lowCode >> 2, step: lower.step)
    lower.scaleLower(by: lowCode >> 2)
    lower.adapt(to: lowDifference)
    let highCode = G722Quantizer.higher(clamped(high - higher.prediction), step: higher.step)
    let highDifference = G722Quantizer.difference(higher: highCode, step: higher.step)
    higher.scaleHigher(by: highCode)
    higher.adapt(to: highDifference)
    return UInt8(highCode << 6 | lowCode)
  }

  private func clamped(_ value: Int) -> Int { min(max(value, -32_768), 32_767) }
}

/// The decoder of G.722 at 64 kbit/s.
struct G722Decoder: Sendable {
  private var lower = G722Band.lower
  private var higher = G722Band.higher
  /// The last 12 sums and differences of the sub-bands, the oldest first.
  private var sums: InlineArray<12, Int> = .init(repeating: 0)
  private var differences: InlineArray<12, Int> = .init(repeating: 0)

  /// Decodes an octet into two samples.
  mutating func decode(_ octet: UInt8) -> (first: Int16, second: Int16) {
    let (low, high) = bands(octet)
    for index in 0..<11 {
      sums[index] = sums[index + 1]
      differences[index] = differences[index + 1]
    }
    sums[11] = low + high
    differences[11] = low - high
    var (first, second) = (0, 0)
    for index in 0..<12 {
      first += differences[index] * G722Filter.taps[11 - index]
      second += sums[index] * G722Filter.taps[index]
    }
    return (Int16(clamping: first >> 11), Int16(clamping: second >> 11))
  }

  /// Decodes an octet into a sample of each sub-band, of 15 bits.
  mutating func bands(_ octet: UInt8) -> (low: Int, high: Int) {
    let (lowCode, highCode) = (Int(octet & 0x3F), Int(octet >> 6))
    let low = lower.prediction + G722Quantizer.difference(lower: lowCode, step: lower.step)
    let lowDifference = G722Quantizer.difference(coarse: lowCode >> 2, step: lower.step)
    lower.scaleLower(by: lowCode >> 2)
    lower.adapt(to: lowDifference)
    let highDifference = G722Quantizer.difference(higher: highCode, step: higher.step)
    let high = higher.prediction + highDifference
    higher.scaleHigher(by: highCode)
    higher.adapt(to: highDifference)
    return (limited(low), limited(high))
  }

  /// LIMIT.
  private func limited(_ value: Int) -> Int { min(max(value, -16_384), 16_383) }
}
