/// The exponential function and the natural logarithm from additions and multiplications alone.
///
/// Those of the C library differ between versions and processors in their last bit, and a run must have the same bytes
/// everywhere.
package enum ElementaryFunctions {
  private static let ln2 = 0.693147180559945309417

  /// Returns e to the power of `x`, with a relative error below 1e-14.
  package static func exp(_ x: Double) -> Double {
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

  /// Returns the natural logarithm of a positive number, to about 2 units in the last place.
  ///
  /// Zero gives minus infinity, a negative number NaN.
  package static func log(_ x: Double) -> Double {
    guard x > 0 else { return x == 0 ? -.infinity : .nan }
    guard x.isFinite else { return x }
    var (significand, exponent) = (x.significand, Double(x.exponent))
    if significand > 1.4142135623730951 {
      significand /= 2
      exponent += 1
    }
    // ln m = 2 artanh z, where |z| < 0.172: the 12th term is below 2^-60.
    let z = (significand - 1) / (significand + 1)
    let square = z * z
    var sum = 0.0
    for divisor in stride(from: 23.0, through: 1, by: -2) { sum = sum * square + 1 / divisor }
    return exponent * ln2 + 2 * z * sum
  }

  /// Returns the cosine and the sine of an angle in turns, with an absolute error below 1e-15.
  package static func cosineAndSine(turns: Double) -> (cosine: Double, sine: Double) {
    // Within an eighth of a turn of a quarter, the 11th term is below 2^-60.
    let quarters = (turns * 4).rounded()
    let angle = (turns - quarters / 4) * 2 * Double.pi
    let square = angle * angle
    var (cosine, sine) = (1.0, 1.0)
    for index in stride(from: 20.0, through: 2, by: -2) {
      cosine = 1 - square / (index * (index - 1)) * cosine
      sine = 1 - square / (index * (index + 1)) * sine
    }
    sine *= angle
    switch (Int(quarters) % 4 + 4) % 4 {
    case 0: return (cosine, sine)
    case 1: return (-sine, cosine)
    case 2: return (-cosine, -sine)
    default: return (sine, -cosine)
    }
  }

  /// Returns a number in 0...1 to a power.
  package static func power(_ base: Double, _ exponent: Double) -> Double {
    base <= 0 ? 0 : exp(exponent * log(base))
  }
}
