package import CallCore

/// Counts freezes and pauses of shown video (W3C webrtc-stats `freezeCount`).
///
/// An interval between frames is a freeze when it is at least three times the mean of the last 30, and at least 150 ms
/// longer than it. An interval in which the stream was paused is none.
package struct FreezeDetector: Sendable {
  private static let windowSize = 30
  private static let minimumSamples = 5
  private static let minimumIncrease = Interval.milliseconds(150)

  private var intervals: [Interval] = []
  private var next = 0
  private var last: Instant?
  private var isPaused = false
  package private(set) var freezeCount = 0
  package private(set) var totalFreezesDuration = Interval.zero
  package private(set) var pauseCount = 0
  package private(set) var totalPausesDuration = Interval.zero
  /// The number of frames shown.
  package private(set) var renderedCount = 0
  /// The sum of all intervals and that of their squares in seconds: `totalInterFrameDelay` and
  /// `totalSquaredInterFrameDelay`.
  package private(set) var totalInterFrameDelay = 0.0
  package private(set) var totalSquaredInterFrameDelay = 0.0

  package init() { intervals.reserveCapacity(Self.windowSize) }

  /// Takes the time at which a frame is shown.
  package mutating func frameRendered(at now: Instant) {
    defer {
      last = max(last ?? now, now)
      isPaused = false
      renderedCount += 1
    }
    guard let last, now >= last else { return }
    let interval = now - last
    totalInterFrameDelay += interval.seconds
    totalSquaredInterFrameDelay += interval.seconds * interval.seconds
    guard !isPaused else {
      pauseCount += 1
      totalPausesDuration += interval
      return
    }
    append(interval)
    guard intervals.count >= Self.minimumSamples else { return }
    let sum = intervals.reduce(Interval.zero, +)
    // Whole milliseconds, as libwebrtc counts.
    let mean = Interval.milliseconds((sum / Int64(intervals.count)).milliseconds)
    if interval >= max(mean * 3, mean + Self.minimumIncrease) {
      freezeCount += 1
      totalFreezesDuration += interval
    }
  }

  /// Notes that nothing is received, so that the interval until the next frame is a pause.
  package mutating func streamPaused() { isPaused = true }

  private mutating func append(_ interval: Interval) {
    if intervals.count < Self.windowSize {
      intervals.append(interval)
    } else {
      intervals[next] = interval
      next = (next + 1) % Self.windowSize
    }
  }
}
