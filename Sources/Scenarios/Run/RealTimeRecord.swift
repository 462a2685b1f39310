public import CallCore

/// What a run with programs outside the simulation adds to its result: it is not reproducible, and it was so late.
public struct RealTimeRecord: Hashable, Sendable {
  /// The longest time by which the machine's clock was ahead of an event.
  public var maximumLag: Interval
  /// The virtual time at which that was.
  public var latest: Instant
  /// The lag that 99 % of the events did not exceed.
  public var usualLag: Interval
  /// What could not be asked of a program that stood in for a peer: expectations as written.
  public var notJudged: [String]

  public init(maximumLag: Interval, latest: Instant, usualLag: Interval, notJudged: [String] = []) {
    self.maximumLag = maximumLag
    self.latest = latest
    self.usualLag = usualLag
    self.notJudged = notJudged
  }

  /// For people: `real time, not reproducible, lag at most 3.1 ms, 99 % within 0.4 ms`
  var text: String {
    func milliseconds(_ lag: Interval) -> String { TextStyle.decimal(lag.seconds * 1_000, places: 1) + " ms" }
    return "real time, not reproducible, lag at most \(milliseconds(maximumLag)) at "
      + "\(TextStyle.seconds(latest - .zero)), 99 % within \(milliseconds(usualLag))"
  }

  /// Of the lag that a file allows, 99 % of the events may have at most this share.
  static let usualShare: Int64 = 5

  /// Why nothing can be concluded from the run; nil when it kept up.
  func problem(limit: Interval) -> String? {
    if maximumLag > limit {
      return "an event at \(TextStyle.seconds(latest - .zero)) was \(maximumLag) late, and limits.lag allows \(limit)"
    }
    let usual = limit / Self.usualShare
    return usualLag > usual
      ? "1 % of the events were more than \(usualLag) late, and limits.lag allows them \(usual)" : nil
  }
}
