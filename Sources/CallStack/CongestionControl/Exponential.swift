/// The exponential function and the natural logarithm.
///
/// Those of the C library differ between versions and processors in their last digit, and a run must have the same
/// bytes everywhere.
enum Exponential {
  private static let logarithmOfTwo = 0.693147180559945309417

  /// Returns e to the power of `x`, with a relative error below 1e-15 for magnitudes below 700.
  static func exp(_ x: Double) -> Double {
    guard x > -700 else { return 0 }
    let exponent = (min(x, 700) / logarithmOfTwo).rounded()
    let rest = min(x, 700) - exponent * logarithmOfTwo
    var (term, sum) = (1.0, 1.0)
    for index in 1...14 {
      term *= rest / Double(index)
      sum += term
    }
    return Double(sign: .plus, exponent: Int(exponent), significand: sum)
  }

  /// Returns the natural logarithm of a positive number, with a relative error below 1e-15.
  static func log(_ x: Double) -> Double {
    guard x > 0, x.isFinite else { return x > 0 ? .infinity : -.infinity }
    var (exponent, significand) = (x.exponent, x.significand)
    if significand > 1.4142135623730951 {
      exponent += 1
      significand /= 2
    }
    let ratio = (significand - 1) / (significand + 1)
    let square = ratio * ratio
    var (power, sum) = (ratio, 0.0)
    for index in stride(from: 1, through: 23, by: 2) {
      sum += power / Double(index)
      power *= square
    }
    return Double(exponent) * logarithmOfTwo + 2 * sum
  }
}
