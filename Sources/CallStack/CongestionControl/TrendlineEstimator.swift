import CallCore

/// Detects from the slope of the one-way delay whether a queue builds up (libwebrtc `TrendlineEstimator`).
///
/// The slope is that of a line fitted to the smoothed delay of the last groups of packets. The threshold follows the
/// slopes that are usual on the path, so that a competing loss-based flow does not starve this one.
struct TrendlineEstimator: Sendable {
  private struct Point: BitwiseCopyable {
    /// The arrival in milliseconds since the first one.
    let arrived: Double
    /// The smoothed delay in milliseconds.
    let delay: Double
  }

  private(set) var usage = BandwidthUsage.normal
  /// The threshold of the scaled slope, in milliseconds.
  private(set) var threshold = 12.5
  private var points = SlidingWindow<Point>(capacity: 20)
  private var groupCount = 0
  private var firstArrival: Instant?
  private var accumulatedDelay = 0.0
  private var smoothedDelay = 0.0
  private var lastTrend = 0.0
  /// The time above the threshold in milliseconds; nil below it.
  private var timeOverusing: Double?
  private var overuseCount = 0
  private var lastThresholdUpdate: Instant?

  private static let smoothing = 0.9
  private static let gain = 4.0
  /// The number of groups until the slope has its full weight.
  private static let groupLimit = 60
  /// The minimum time above the threshold in milliseconds.
  private static let overuseTime = 10.0
  private static let thresholds = 6.0...600.0
  /// The adaptation per millisecond towards larger and smaller slopes.
  private static let (gainUp, gainDown) = (0.0087, 0.039)
  /// The maximum excess in milliseconds that adapts the threshold: larger ones are sudden drops of capacity.
  private static let maximumExcess = 15.0
  private static let maximumStep = Interval.milliseconds(100)

  mutating func update(_ delta: InterArrival.Delta, arrived: Instant) {
    groupCount = min(groupCount + 1, 1_000)
    if firstArrival == nil { firstArrival = arrived }
    accumulatedDelay += (delta.arrived - delta.sent).inMilliseconds
    smoothedDelay = Self.smoothing * smoothedDelay + (1 - Self.smoothing) * accumulatedDelay
    points.append(Point(arrived: (arrived - (firstArrival ?? arrived)).inMilliseconds, delay: smoothedDelay))
    let trend = points.isFull ? slope ?? lastTrend : lastTrend
    detect(trend, sentGap: delta.sent.inMilliseconds, at: arrived)
  }

  /// The slope of the least-squares line; nil when all arrived at once.
  private var slope: Double? {
    var (arrivals, delays) = (0.0, 0.0)
    for index in 0..<points.count {
      arrivals += points[index].arrived
      delays += points[index].delay
    }
    arrivals /= Double(points.count)
    delays /= Double(points.count)
    var (numerator, denominator) = (0.0, 0.0)
    for index in 0..<points.count {
      let distance = points[index].arrived - arrivals
      numerator += distance * (points[index].delay - delays)
      denominator += distance * distance
    }
    return denominator == 0 ? nil : numerator / denominator
  }

  private mutating func detect(_ trend: Double, sentGap: Double, at arrived: Instant) {
    guard groupCount >= 2 else {
      usage = .normal
      return
    }
    let scaled = Double(min(groupCount, Self.groupLimit)) * trend * Self.gain
    if scaled > threshold {
      // The threshold was crossed somewhere between this group and the last one.
      timeOverusing = timeOverusing.map { $0 + sentGap } ?? sentGap / 2
      overuseCount += 1
      if (timeOverusing ?? 0) > Self.overuseTime, overuseCount > 1, trend >= lastTrend {
        timeOverusing = 0
        overuseCount = 0
        usage = .overusing
      }
    } else {
      timeOverusing = nil
      overuseCount = 0
      usage = scaled < -threshold ? .underusing : .normal
    }
    lastTrend = trend
    adapt(to: abs(scaled), at: arrived)
  }

  private mutating func adapt(to slope: Double, at arrived: Instant) {
    let step = min(arrived - (lastThresholdUpdate ?? arrived), Self.maximumStep)
    lastThresholdUpdate = arrived
    guard slope <= threshold + Self.maximumExcess else { return }
    let gain = slope < threshold ? Self.gainDown : Self.gainUp
    threshold += gain * (slope - threshold) * step.inMilliseconds
    threshold = min(max(threshold, Self.thresholds.lowerBound), Self.thresholds.upperBound)
  }
}
