import Testing

@testable import ScenarioSuite

/// The charts on the page of a comparison.
@Suite struct CompareChartTests {
  private static func marks(_ values: [Double]) -> Int {
    let points = values.enumerated().map { CompareChart.Point(x: Double($0), y: $1) }
    let chart = CompareChart(
      lines: [CompareChart.Line(name: "a", style: 0, points: points)], marks: [(0, "a")], text: { "\($0)" })
    return chart.svg.ranges(of: "class=\"grid\"").count
  }

  @Test(
    arguments: [
      [0.0, 0], [1e100, -1e100], [1e-100, 0], [1e100, 1e100], [4.441853841840175, 4.4418538418401745], [1, 1 + 1e-9],
      [-7e15, -7e15 + 1], [3, 5],
    ] as [[Double]])
  func `an axis has a few marks, whatever the values`(values: [Double]) {
    #expect((1...10).contains(Self.marks(values)))
  }
}
