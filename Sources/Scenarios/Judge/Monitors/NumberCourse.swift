internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The course of a number over the whole run, for charts: its samples, or of a counter its growth per second.
struct NumberCourse {
  private let isCounter: Bool
  /// The last sample of a counter.
  private var last: (value: Double, time: Instant)?
  private(set) var points = ThinnedSeries()

  init(_ metric: Expectation.Metric) { isCounter = metric.value.counting != nil }

  mutating func add(_ value: Double, at time: Instant) {
    guard isCounter else { return points.add(value, at: time) }
    defer { last = (value, time) }
    // A counter that fell is another one.
    guard let last, time > last.time, value >= last.value else { return }
    points.add((value - last.value) / (time - last.time).seconds, at: time)
  }
}
