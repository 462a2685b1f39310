internal import VideoReceive

/// Numbers of a stream from which some are left out: those that remain follow each other as if there were no others.
/// A gap that was there stays.
struct Renumbering {
  /// The latest numbers that were left out.
  private var omitted = SortedSet(capacity: .max)
  /// How many were left out before those.
  private var forgottenCount = 0

  /// No number comes later than this after a higher one.
  static let memory: Int64 = 1_024

  /// Leaves out a number.
  mutating func omit(_ number: Int64) {
    omitted.insert(number)
    forgottenCount += omitted.count(below: number - Self.memory)
    omitted.removeAll(below: number - Self.memory)
  }

  /// Returns whether a number was left out.
  func isOmitted(_ number: Int64) -> Bool { omitted.contains(above: number - 1, below: number + 1) }

  /// Returns the place of a number among those that remain.
  func callAsFunction(_ number: Int64) -> Int64 {
    number - Int64(forgottenCount + omitted.count(below: number))
  }
}
