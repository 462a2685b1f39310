import CallCore
import Foundation
import Testing

@Suite struct ElementaryFunctionsTests {
  @Test func `the exponential and the logarithm are those of the C library, to fifteen digits`() {
    for step in -2_000...2_000 {
      let x = Double(step) * 0.317
      if abs(x) < 600 { #expect(abs(ElementaryFunctions.exp(x) / Foundation.exp(x) - 1) < 1e-13) }
      let y = Foundation.exp(x / 4)
      #expect(abs(ElementaryFunctions.log(y) - Foundation.log(y)) <= 1e-14 * max(1, abs(Foundation.log(y))))
    }
    #expect(ElementaryFunctions.exp(0) == 1 && ElementaryFunctions.log(1) == 0)
    #expect(ElementaryFunctions.exp(-1_000) == 0)
  }

  @Test func `the exponential function and the logarithm are exact to fourteen digits`() {
    // Values by a calculator of arbitrary precision.
    let values: [(Double, Double)] = [
      (0, 1), (1, 2.718281828459045), (-1, 0.36787944117144233), (0.5, 1.6487212707001282),
      (-10, 4.5399929762484854e-05), (20, 485165195.4097903),
    ]
    for (x, y) in values {
      #expect(abs(ElementaryFunctions.exp(x) / y - 1) < 1e-14)
      #expect(abs(ElementaryFunctions.log(y) - x) < 1e-14 * max(1, abs(x)))
    }
    #expect(abs(ElementaryFunctions.power(0.9975, 6) - 0.985093438089) < 1e-11)
  }

  @Test func `the cosine and the sine are those of the C library, to fifteen digits`() {
    for step in -1_000...1_000 {
      let turns = Double(step) / 512
      let (cosine, sine) = ElementaryFunctions.cosineAndSine(turns: turns)
      #expect(abs(cosine - Foundation.cos(2 * .pi * turns)) < 2e-15)
      #expect(abs(sine - Foundation.sin(2 * .pi * turns)) < 2e-15)
    }
    #expect(ElementaryFunctions.cosineAndSine(turns: -0.25) == (0, -1))
    #expect(ElementaryFunctions.cosineAndSine(turns: 0.5) == (-1, 0))
  }

  /// Values of Python's `math.log`.
  @Test(
    arguments: [
      (1, 0), (2, 0.6931471805599453), (10, 2.302585092994046), (0.1, -2.3025850929940455),
      (1.4142135623730951, 0.3465735902799727), (0.7071067811865475, -0.34657359027997275),
      (1e-300, -690.7755278982137), (1e300, 690.7755278982137), (.leastNonzeroMagnitude, -744.4400719213812),
    ] as [(Double, Double)])
  func `the logarithm is that of mathematics`(x: Double, wanted: Double) {
    #expect(abs(ElementaryFunctions.log(x) - wanted) <= 4e-16 * max(1, abs(wanted)))
  }

  @Test func `the logarithm of what has none is not a number`() {
    #expect(ElementaryFunctions.log(0) == -.infinity)
    #expect(ElementaryFunctions.log(-1).isNaN)
    #expect(ElementaryFunctions.log(.nan).isNaN)
    #expect(ElementaryFunctions.log(.infinity) == .infinity)
  }
}
