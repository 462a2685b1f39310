package import CallCore

/// The schedule of regular RTCP compounds.
///
/// RFC 3550 section 6.2 and appendix A.7, reduced to a unicast SAVPF session: two members, so neither reconsideration
/// nor its compensation constant, and feedback may be sent at once (RFC 4585 section 3.4, T_dither_max 0).
package struct RTCPScheduler: ~Copyable {
  package struct Settings: Hashable, Sendable {
    /// The minimum mean interval: 5 s for audio; video uses 1 s.
    package var minimumInterval = Interval.seconds(5)
    /// RTCP's share of the session bandwidth; nil keeps the interval at its minimum.
    package var bandwidth: DataRate?
    /// The random variation of the interval, as a fraction of the mean in either direction.
    package var spread = 0.5

    package init() {}
  }

  package private(set) var settings: Settings
  private var random: RandomStream
  /// An exponential average of compound sizes with UDP and IP headers (RFC 3550 section 6.3.3).
  private var averageSize = 128.0

  /// The instant of the next regular report, or nil before ``start(at:)``.
  package private(set) var deadline: Instant?

  package init(settings: Settings = Settings(), random: consuming RandomStream) {
    self.settings = settings
    self.random = random
  }

  /// Changes the minimum mean interval, from the next report on.
  package mutating func setMinimumInterval(_ interval: Interval) { settings.minimumInterval = interval }

  /// Starts reporting; the first report is due after half an interval (RFC 3550 section 6.2).
  package mutating func start(at now: Instant) {
    guard deadline == nil else { return }
    deadline = now + interval() / 2
  }

  package func isDue(at now: Instant) -> Bool {
    guard let deadline else { return false }
    return now >= deadline
  }

  /// Notes that a regular compound of `byteCount` bytes was sent, and draws the next deadline.
  package mutating func sentReport(byteCount: Int, at now: Instant) {
    note(byteCount: byteCount)
    deadline = now + interval()
  }

  /// Notes a received compound, or feedback sent outside the schedule: the average size changes, the deadline does not.
  package mutating func note(byteCount: Int) {
    averageSize += (Double(byteCount + 28) - averageSize) / 16
  }

  /// Stops reporting, after a BYE.
  package mutating func stop() { deadline = nil }

  private mutating func interval() -> Interval {
    var mean = settings.minimumInterval
    if let bandwidth = settings.bandwidth, bandwidth.bitsPerSecond > 0 {
      let seconds = averageSize * 2 * 8 / Double(bandwidth.bitsPerSecond)
      mean = max(mean, Interval.seconds(1).scaled(by: seconds))
    }
    let spread = min(max(settings.spread, 0), 1)
    return mean.scaled(by: 1 - spread + 2 * spread * random.unit())
  }
}
