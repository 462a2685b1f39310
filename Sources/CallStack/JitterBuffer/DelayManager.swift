import CallCore

/// Decides how long packets should wait: as long as all but the latest few need.
///
/// A packet's *relative delay* is how much longer it travelled than the fastest of the last one to two seconds; no
/// clock is compared with another, and drift within that window is negligible.
struct DelayManager: Sendable {
  struct Settings: Hashable, Sendable {
    var minimumDelay = Interval.zero
    var maximumDelay = Interval.seconds(2)
    var initialDelay = Interval.milliseconds(40)
    var quantile = 0.97
    var forgetting = 0.996
  }

  static let bucketWidth = Interval.milliseconds(10)
  private static let baselinePeriod = Interval.seconds(1)

  let settings: Settings
  /// How often the device asks: a packet may have to be there that much earlier.
  var pullInterval = Interval.milliseconds(10)
  private var histogram: DelayHistogram
  private var periodStart: Instant?
  private var fastest = Int64.max
  private var fastestBefore = Int64.max
  private var highestTimestamp = Int64.min

  init(settings: Settings) {
    self.settings = settings
    histogram = DelayHistogram(bucketCount: 201, quantile: settings.quantile, forgetting: settings.forgetting)
    let prior = (settings.initialDelay - pullInterval).nanoseconds / Self.bucketWidth.nanoseconds - 1
    histogram.add(Int(min(max(prior, 0), 200)))
  }

  /// The target that the network's jitter asks for.
  var networkTarget: Interval { Self.bucketWidth * Int64(histogram.bucket + 1) + pullInterval }

  /// The delay to steer for.
  var target: Interval { max(settings.minimumDelay, min(networkTarget, settings.maximumDelay)) }

  /// Takes a packet's arrival and returns its relative delay.
  ///
  /// - Parameters:
  ///   - timestamp: unwrapped, at 48 kHz.
  ///   - isInOrder: whether its sequence number is the highest so far; late ones do not move the target, since a
  ///     retransmission says nothing about jitter.
  mutating func receive(timestamp: Int64, isInOrder: Bool, at now: Instant) -> Interval {
    // A newer packet with an older timestamp means that the sender's media clock was set back.
    if isInOrder, timestamp < highestTimestamp { forgetBaseline() }
    if isInOrder { highestTimestamp = timestamp }
    let travel = now.nanoseconds &- timestamp &* 62_500 / 3
    rollPeriod(at: now)
    fastest = min(fastest, travel)
    let relative = Interval(nanoseconds: travel &- min(fastest, fastestBefore))
    if isInOrder { histogram.add(Int(relative.nanoseconds / Self.bucketWidth.nanoseconds)) }
    return relative
  }

  /// Forgets which packet was the fastest, after a break in the stream; what is known of jitter stays.
  mutating func forgetBaseline() {
    periodStart = nil
    fastest = .max
    fastestBefore = .max
    highestTimestamp = .min
  }

  private mutating func rollPeriod(at now: Instant) {
    guard let start = periodStart else {
      periodStart = now
      return
    }
    let age = now - start
    guard age >= Self.baselinePeriod else { return }
    fastestBefore = age < Self.baselinePeriod * 2 ? fastest : .max
    fastest = .max
    periodStart = now
  }
}
