internal import Foundation
package import ScenarioFormat

/// The mean of a sample with its confidence interval by Student's t distribution.
///
/// Of the differences between two arms, run by run, it is the paired t interval.
package struct MeanEstimate: Equatable, Sendable {
  /// The fewest samples for which an interval says anything.
  package static let leastCount = 3

  /// The number of samples.
  package let count: Int
  /// The mean; zero without samples.
  package let mean: Double
  /// The standard deviation of the samples.
  package let deviation: Double
  /// Half the width of the interval; nil with too few samples.
  package let halfWidth: Double?
  /// What is closer than this is equal: the rest is the rounding of floating-point numbers.
  package let tolerance: Double

  /// Estimates the mean of samples.
  ///
  /// - Parameters:
  ///   - confidence: the probability that such an interval contains the true mean.
  ///   - magnitude: that of the numbers from which the samples were computed; nil for that of the samples.
  package init(_ samples: [Double], confidence: Double = 0.95, magnitude: Double? = nil) {
    count = samples.count
    tolerance = 1e-9 * (magnitude ?? samples.map(\.magnitude).max() ?? 0)
    guard count > 0 else {
      (mean, deviation, halfWidth) = (0, 0, nil)
      return
    }
    let mean = samples.reduce(0, +) / Double(count)
    self.mean = mean.magnitude > tolerance ? mean : 0
    let squares = samples.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    let deviation = count > 1 ? (squares / Double(count - 1)).squareRoot() : 0
    self.deviation = deviation > tolerance ? deviation : 0
    guard count >= Self.leastCount else {
      halfWidth = nil
      return
    }
    let quantile = StudentT(degreesOfFreedom: Double(count - 1)).quantile(0.5 + confidence / 2)
    halfWidth = quantile * self.deviation / Double(count).squareRoot()
  }

  /// The interval; nil with too few samples.
  package var interval: ClosedRange<Double>? { halfWidth.map { (mean - $0)...(mean + $0) } }

  /// Returns whether the whole interval meets a bound; false without an interval.
  package func meets(_ bound: Expectation.Bound) -> Bool {
    guard let interval else { return false }
    return [interval.lowerBound, interval.upperBound].allSatisfy { end in
      guard let number = bound.value.number, (end - number).magnitude <= tolerance else { return bound.admits(end) }
      return bound.admits(number)
    }
  }

  /// The sign of the mean if the interval does not contain zero, or else 0.
  package var sign: Int {
    guard let interval else { return 0 }
    return interval.lowerBound > 0 ? 1 : interval.upperBound < 0 ? -1 : 0
  }

  /// The probability of a mean at least so far from zero if the true one were zero; nil with too few samples, and where
  /// all are equal: how much they scatter is unknown then.
  package var probability: Double? {
    guard count >= Self.leastCount, deviation > 0 else { return nil }
    let t = abs(mean) / (deviation / Double(count).squareRoot())
    return 2 * (1 - StudentT(degreesOfFreedom: Double(count - 1)).cumulative(t))
  }
}

/// Student's t distribution, by the incomplete beta function.
struct StudentT {
  let degreesOfFreedom: Double

  /// Returns the probability of a value up to `t`.
  func cumulative(_ t: Double) -> Double {
    let tail = Self.incompleteBeta(degreesOfFreedom / (degreesOfFreedom + t * t), degreesOfFreedom / 2, 0.5) / 2
    return t > 0 ? 1 - tail : tail
  }

  /// Returns the value up to which a probability above one half lies.
  func quantile(_ probability: Double) -> Double {
    var (low, high) = (0.0, 1.0)
    while cumulative(high) < probability, high < 1e12 { high *= 2 }
    for _ in 0..<200 where high - low > 1e-13 * high {
      let middle = (low + high) / 2
      if cumulative(middle) < probability { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }

  /// Returns the regularised incomplete beta function I_x(a, b).
  private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
    guard x > 0 else { return 0 }
    guard x < 1 else { return 1 }
    let beta: Double = lgamma(a + b) - lgamma(a) - lgamma(b)
    let front = exp(beta + a * log(x) + b * log(1 - x))
    // The continued fraction converges quickly on one side of the mean alone.
    return x < (a + 1) / (a + b + 2)
      ? front * continuedFraction(x, a, b) / a : 1 - front * continuedFraction(1 - x, b, a) / b
  }

  /// Evaluates the continued fraction of the incomplete beta function by Lentz's method.
  private static func continuedFraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
    let tiny = 1e-300
    var c = 1.0
    var d = 1 - (a + b) * x / (a + 1)
    d = 1 / (abs(d) < tiny ? tiny : d)
    var result = d
    for step in 1...500 {
      let m = Double(step)
      let end = a + 2 * m
      let even: Double = m * (b - m) * x / ((end - 1) * end)
      let odd: Double = -(a + m) * (a + b + m) * x / (end * (end + 1))
      for numerator in [even, odd] {
        d = 1 + numerator * d
        d = 1 / (abs(d) < tiny ? tiny : d)
        c = 1 + numerator / c
        if abs(c) < tiny { c = tiny }
        result *= d * c
      }
      if abs(d * c - 1) < 1e-15 { break }
    }
    return result
  }
}
