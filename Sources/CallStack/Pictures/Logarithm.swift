/// Returns the natural logarithm of a positive number, to about 2 units in the last place.
///
/// It is computed here and not by the C library, whose results differ between versions and machines in the last bit.
/// Zero gives minus infinity, a negative number NaN.
package func naturalLogarithm(_ x: Double) -> Double {
  guard x > 0 else { return x == 0 ? -.infinity : .nan }
  guard x.isFinite else { return x }
  let ln2 = 0.693147180559945309417
  var (mantissa, exponent) = (x.significand, Double(x.exponent))
  if mantissa > 1.4142135623730951 {
    mantissa /= 2
    exponent += 1
  }
  // ln m = 2 artanh z, where |z| < 0.172: the 12th term is below 2^-60.
  let z = (mantissa - 1) / (mantissa + 1)
  let square = z * z
  var sum = 0.0
  for divisor in stride(from: 23.0, through: 1, by: -2) { sum = sum * square + 1 / divisor }
  return exponent * ln2 + 2 * z * sum
}
