internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The course of a number over the whole run, for charts: its samples, or of a counter its growth in each second.
struct NumberCourse {
  private let isCounter: Bool
  /// The last sample of a counter.
  private var last: (value: Double, time: Instant)?
  private(set) var points = ThinnedSeries()

  init(_ metric: Expectation.Metric) { isCounter = metric.value.counting != nil }

  mutating func add(_ value: Double, at time: Instant) {
    guard isCounter else { return points.add(value, at: time) }
    // A counter that fell is another one.
    guard let last, value >= last.value else { return self.last = (value, time) }
    guard time - last.time >= .seconds(1) else { return }
    points.add((value - last.value) / (time - last.time).seconds, at: time)
    self.last = (value, time)
  }
}
