package import ScenarioJudge

/// The course of the numbers of a comparison in the runs with one seed, by arm.
package struct CompareTimeline: Sendable {
  package let seed: UInt64
  /// The courses by ``ArmComparison/Number/courseTitle``; a number that is not sampled has none.
  package var courses: [String: [String: ThinnedSeries]] = [:]
  /// The dropped packets.
  package var drops: [String: BinnedSeries] = [:]

  init(seed: UInt64) { self.seed = seed }
}
