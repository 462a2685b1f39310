/// The calls of all runs of the process. Only a planted defect counts them, in one run at a time.
enum CallsOfProcess {
  nonisolated(unsafe) private static var count = 0

  /// Returns the number of the next call, in whichever run.
  static func next() -> Int {
    count += 1
    return count
  }
}
