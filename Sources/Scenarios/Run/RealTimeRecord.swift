public import CallCore
public import ExternalRecords
import ScenarioFormat

/// The timing of a run with programs outside the simulation: such a run is not reproducible, and may lag behind the
/// clock.
public struct RealTimeRecord: Hashable, Sendable {
  /// The longest time by which the machine's clock was ahead of an event.
  public var maximumLag: Interval
  /// The virtual time of the longest lag.
  public var latest: Instant
  /// The lag that 99 % of the events did not exceed.
  public var usualLag: Interval
  /// The time that each program waited for a processor, by the name of its peer, and whether it was stopped.
  public var waits: [WaitRecord.Entry]
  /// The expectations, as written, that could not be judged of a program in place of a peer.
  public var notJudged: [String]

  /// Makes a record.
  public init(
    maximumLag: Interval, latest: Instant, usualLag: Interval, waits: [WaitRecord.Entry] = [], notJudged: [String] = []
  ) {
    self.maximumLag = maximumLag
    self.latest = latest
    self.usualLag = usualLag
    self.waits = waits
    self.notJudged = notJudged
  }

  /// The record as text: `real time, not reproducible, lag at most 3.1 ms at 4.00 s, 99 % within 0.4 ms, programs
  /// waited at most 2.0 ms for a processor`
  package var text: String {
    func milliseconds(_ lag: Interval) -> String { TextStyle.decimal(lag.seconds * 1_000, places: 1) + " ms" }
    let waited = waits.filter { $0.program != WaitRecord.machine }.map(\.longest).max()
    return "real time, not reproducible, lag at most \(milliseconds(maximumLag)) at "
      + "\(TextStyle.seconds(latest - .zero)), 99 % within \(milliseconds(usualLag)), "
      + (waited.map { "programs waited at most \(milliseconds($0)) for a processor" }
        ?? "how long programs waited for a processor is unknown")
  }

  /// The divisor of the lag limit that 99 % of the events must observe.
  static let usualShare: Int64 = 5
  /// The divisor of the lag limit for the time that a program may wait within ``WaitRecord/window``. The default allows
  /// 125 ms: that is an audible gap, because jitter buffers hold less.
  static let waitingShare: Int64 = 2

  /// Returns why the run is inconclusive; nil when it kept up with the clock.
  func problem(limit: Interval) -> String? {
    if maximumLag > limit {
      return "an event at \(TextStyle.seconds(latest - .zero)) was \(maximumLag) late, and limits.lag allows \(limit)"
    }
    let usual = limit / Self.usualShare
    if usualLag > usual {
      return "1 % of the events were more than \(usualLag) late, and limits.lag allows them \(usual)"
    }
    return waits.lazy.compactMap { $0.problem(limit: limit / Self.waitingShare) }.first
  }
}

extension WaitRecord.Entry {
  fileprivate func problem(limit: Interval) -> String? {
    if let stopped { return "\(whose) was stopped by a signal at \(TextStyle.seconds(stopped - .zero))" }
    guard longest > limit else { return nil }
    return "\(whose) waited \(Self.text(longest)) for a processor until \(TextStyle.seconds(latest - .zero)), and "
      + "limits.lag allows it \(Self.text(limit)) in \(Self.text(WaitRecord.window))"
  }

  private static func text(_ wait: Interval) -> String { TextStyle.decimal(wait.seconds * 1_000, places: 0) + " ms" }

  private var whose: String { program == WaitRecord.machine ? program : "\(program)'s program" }
}
