import Testing

@testable import ScenarioFormat
@testable import ScenarioSuite

@Suite struct MeanEstimateTests {
  /// Quantiles from the tables of Student's t distribution.
  @Test(
    arguments: [
      (1, 0.975, 12.7062), (2, 0.975, 4.30265), (5, 0.95, 2.01505), (9, 0.975, 2.26216), (30, 0.975, 2.04227),
      (19, 0.995, 2.86093), (1000, 0.975, 1.96234),
    ] as [(Double, Double, Double)])
  func `quantiles are those of the tables`(degrees: Double, probability: Double, expected: Double) {
    let t = StudentT(degreesOfFreedom: degrees)
    #expect(abs(t.quantile(probability) - expected) < 1e-4)
    #expect(abs(t.cumulative(expected) - probability) < 1e-6)
    #expect(abs(t.cumulative(-expected) - (1 - probability)) < 1e-6)
  }

  @Test func `the interval is that of a textbook`() throws {
    // Mean 3, standard deviation sqrt(2.5), 2.77645 * sqrt(2.5 / 5).
    let estimate = MeanEstimate([1, 2, 3, 4, 5])
    #expect(estimate.mean == 3)
    #expect(abs(try #require(estimate.halfWidth) - 1.96324) < 1e-4)
    #expect(estimate.sign == 1)
    // scipy.stats.ttest_1samp([1, 2, 3, 4, 5], 0).pvalue
    #expect(abs(try #require(estimate.probability) - 0.0132368) < 1e-5)
  }

  @Test func `equal differences have an interval without width`() {
    #expect(MeanEstimate([0, 0, 0]).interval == 0...0)
    #expect(MeanEstimate([2, 2, 2]).sign == 1)
    // How much they scatter is unknown, so that nothing can be said of chance.
    #expect(MeanEstimate([0, 0, 0]).probability == nil)
    #expect(MeanEstimate([2, 2, 2]).probability == nil)
  }

  @Test func `the rounding of numbers is no difference between them`() throws {
    let noise = [34_000.00000000001, 34_000, 33_999.99999999999]
    let estimate = MeanEstimate(noise)
    #expect(estimate.deviation == 0 && estimate.halfWidth == 0 && estimate.probability == nil)
    for comparison in [Comparison.equal, .lessOrEqual, .greaterOrEqual] {
      #expect(estimate.meets(.init(comparison: comparison, value: .count(34_000), span: .builtIn)))
    }
    for comparison in [Comparison.less, .greater, .notEqual] {
      #expect(!estimate.meets(.init(comparison: comparison, value: .count(34_000), span: .builtIn)))
    }
    #expect(!estimate.meets(.init(comparison: .equal, value: .count(34_001), span: .builtIn)))
    // Differences of large numbers are rounded as these are.
    let differences = MeanEstimate([1e-11, -2e-11, 3e-11], magnitude: 34_000)
    #expect(differences.mean == 0 && differences.sign == 0 && differences.probability == nil)
    // A spread of a millionth is one.
    #expect(MeanEstimate([1, 1.000001, 1.000002]).deviation > 0)
  }

  @Test(arguments: [[], [1], [1, 2]] as [[Double]])
  func `too few samples have no interval`(samples: [Double]) {
    let estimate = MeanEstimate(samples)
    #expect(estimate.interval == nil)
    #expect(estimate.probability == nil)
    #expect(estimate.sign == 0)
  }
}
