/// One sub-band of G.722: the adaptive predictor and the adaptive quantizer, with 16-bit arithmetic as in ITU-T G.722
/// section 6.2. Values are named after the signals of the Recommendation.
struct G722Band: Sendable {
  private var a1 = 0
  private var a2 = 0
  private var b: InlineArray<6, Int> = .init(repeating: 0)
  /// The last quantized differences, the latest first.
  private var differences: InlineArray<6, Int> = .init(repeating: 0)
  private var r1 = 0
  private var p1 = 0
  private var p2 = 0
  private var zeroPart = 0
  /// The logarithmic scale factor of the quantizer.
  private var scale = 0
  /// The predicted signal.
  private(set) var prediction = 0
  /// The scale factor of the quantizer.
  private(set) var step: Int

  static let lower = G722Band(step: 32)
  static let higher = G722Band(step: 8)

  private init(step: Int) { self.step = step }

  // MARK: Quantizer

  /// Adapts the scale factor of the lower band to a code of four bits (LOGSCL, SCALEL).
  mutating func scaleLower(by code: Int) {
    scale = min(max((scale * 127) >> 7 + Self.lowerWeights[Self.lowerClasses[code]], 0), 18_432)
    step = Self.linear(scale, 8)
  }

  /// Adapts the scale factor of the higher band to a code of two bits (LOGSCH, SCALEH).
  mutating func scaleHigher(by code: Int) {
    scale = min(max((scale * 127) >> 7 + Self.higherWeights[code & 1], 0), 22_528)
    step = Self.linear(scale, 10)
  }

  private static func linear(_ scale: Int, _ exponent: Int) -> Int {
    let shift = exponent - scale >> 11
    let mantissa = inverseLogarithms[(scale >> 6) & 31]
    return (shift < 0 ? mantissa << -shift : mantissa >> shift) << 2
  }

  // MARK: Predictor

  /// Adapts the predictor to a quantized difference, and predicts the next signal.
  mutating func adapt(to difference: Int) {
    let reconstructed = saturate(prediction + difference)
    let partial = saturate(zeroPart + difference)
    adaptPoles(partial)
    adaptZeros(difference)
    let pole = (a1 * saturate(2 * reconstructed)) >> 15 + (a2 * saturate(2 * r1)) >> 15
    r1 = reconstructed
    p2 = p1
    p1 = partial
    var sum = 0
    for index in 0..<6 { sum += (b[index] * saturate(2 * differences[index])) >> 15 }
    zeroPart = saturate(sum)
    prediction = saturate(saturate(pole) + zeroPart)
  }

  /// UPPOL2, UPPOL1.
  private mutating func adaptPoles(_ partial: Int) {
    let same1 = (partial < 0) == (p1 < 0)
    let same2 = (partial < 0) == (p2 < 0)
    let slope = saturate(4 * a1)
    var second = min(same1 ? -slope : slope, 32_767) >> 7
    second += same2 ? 128 : -128
    second += (a2 * 32_512) >> 15
    a2 = min(max(second, -12_288), 12_288)
    let first = saturate((same1 ? 192 : -192) + (a1 * 32_640) >> 15)
    let bound = saturate(15_360 - a2)
    a1 = min(max(first, -bound), bound)
  }

  /// UPZERO, DELAYA.
  private mutating func adaptZeros(_ difference: Int) {
    let gain = difference == 0 ? 0 : 128
    for index in 0..<6 {
      let same = (difference < 0) == (differences[index] < 0)
      b[index] = saturate((same ? gain : -gain) + (b[index] * 32_640) >> 15)
    }
    for index in stride(from: 5, to: 0, by: -1) { differences[index] = differences[index - 1] }
    differences[0] = difference
  }

  private func saturate(_ value: Int) -> Int { min(max(value, -32_768), 32_767) }

  // MARK: Tables

  /// WL, and its index by code: RL42.
  private static let lowerWeights = [-60, -30, 58, 172, 334, 538, 1_198, 3_042]
  private static let lowerClasses = [0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0]
  /// WH by the lower bit of a code.
  private static let higherWeights = [798, -214]
  /// ILB.
  private static let inverseLogarithms = [
    2_048, 2_093, 2_139, 2_186, 2_233, 2_282, 2_332, 2_383, 2_435, 2_489, 2_543, 2_599, 2_656, 2_714, 2_774, 2_834,
    2_896, 2_960, 3_025, 3_091, 3_158, 3_228, 3_298, 3_371, 3_444, 3_520, 3_597, 3_676, 3_756, 3_838, 3_922, 4_008,
  ]
}
