import Testing

@testable import ScenarioSuite

/// Figures of `scipy.stats.spearmanr` and `kendalltau` 1.17.
@Suite struct RankCorrelationTests {
  private static let pairs: [(Double, Double)] = [
    (1.2, 3), (2.5, 1), (2.5, 4), (4.1, 4), (5, 9), (6.6, 2), (7, 8), (0.3, 2.5),
  ]

  @Test func `ties have their mean rank`() throws {
    let spearman = try #require(RankCorrelation.spearman(Self.pairs))
    #expect(abs(spearman - 0.4156626506024096) < 1e-12)
    let kendall = try #require(RankCorrelation.kendall(Self.pairs))
    #expect(abs(kendall - 0.37037037037037035) < 1e-12)
  }

  @Test func `any growing function keeps every rank`() {
    let pairs = [0.1, 0.4, 2, 3, 11].map { ($0, $0 * $0 * $0) }
    #expect(RankCorrelation.spearman(pairs) == 1)
    #expect(RankCorrelation.kendall(pairs) == 1)
    let falling = pairs.map { ($0.0, -$0.1) }
    #expect(RankCorrelation.spearman(falling) == -1)
    #expect(RankCorrelation.kendall(falling) == -1)
  }

  @Test func `what never changes has no rank to agree with`() {
    let pairs = [1.0, 2, 3].map { ($0, 4.0) }
    #expect(RankCorrelation.spearman(pairs) == nil)
    #expect(RankCorrelation.kendall(pairs) == nil)
    #expect(RankCorrelation.spearman([]) == nil)
  }
}
