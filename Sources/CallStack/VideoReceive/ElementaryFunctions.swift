/// The exponential function and the logarithm from additions and multiplications alone, so that every platform gives
/// the same bits; C libraries differ in the last one.
enum ElementaryFunctions {
  private static let ln2 = 0.693147180559945309417

  /// Returns e to the power of `x`, with a relative error below 1e-14.
  static func exp(_ x: Double) -> Double {
    guard x.isFinite else { return x > 0 ? .infinity : x < 0 ? 0 : x }
    if x > 709 { return .infinity }
    if x < -709 { return 0 }
    let exponent = (x / ln2).rounded()
    let rest = x - exponent * ln2
    var (term, sum) = (1.0, 1.0)
    for index in 1...16 {
      term *= rest / Double(index)
      sum += term
    }
    return sum * Double(sign: .plus, exponent: Int(exponent), significand: 1)
  }

  /// Returns the natural logarithm of a positive number, with an absolute error below 1e-14 near one.
  static func log(_ x: Double) -> Double {
    guard x > 0, x.isFinite else { return x == 0 ? -.infinity : .nan }
    var (significand, exponent) = (x.significand, Double(x.exponent))
    if significand > 1.4142135623730951 { (significand, exponent) = (significand / 2, exponent + 1) }
    // The series of the inverse hyperbolic tangent.
    let ratio = (significand - 1) / (significand + 1)
    let square = ratio * ratio
    var (power, sum) = (ratio, 0.0)
    for index in 0..<16 {
      sum += power / Double(2 * index + 1)
      power *= square
    }
    return 2 * sum + exponent * ln2
  }

  /// Returns a number in 0...1 to a power.
  static func power(_ base: Double, _ exponent: Double) -> Double { base <= 0 ? 0 : exp(exponent * log(base)) }
}
