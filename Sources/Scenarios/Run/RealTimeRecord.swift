public import CallCore
public import ExternalRecords
import ScenarioFormat

/// What a run with programs outside the simulation adds to its result: it is not reproducible, and it was so late.
public struct RealTimeRecord: Hashable, Sendable {
  /// The longest time by which the machine's clock was ahead of an event.
  public var maximumLag: Interval
  /// The virtual time at which that was.
  public var latest: Instant
  /// The lag that 99 % of the events did not exceed.
  public var usualLag: Interval
  /// How long the programs waited for a processor, each by the name of its peer, and whether they were stopped.
  public var waits: [WaitRecord.Entry]
  /// What could not be asked of a program that stood in for a peer: expectations as written.
  public var notJudged: [String]

  public init(
    maximumLag: Interval, latest: Instant, usualLag: Interval, waits: [WaitRecord.Entry] = [], notJudged: [String] = []
  ) {
    self.maximumLag = maximumLag
    self.latest = latest
    self.usualLag = usualLag
    self.waits = waits
    self.notJudged = notJudged
  }

  /// For people: `real time, not reproducible, lag at most 3.1 ms at 4.00 s, 99 % within 0.4 ms, programs waited at most
  /// 2.0 ms for a processor`
  package var text: String {
    func milliseconds(_ lag: Interval) -> String { TextStyle.decimal(lag.seconds * 1_000, places: 1) + " ms" }
    let waited = waits.filter { $0.program != WaitRecord.machine }.map(\.longest).max()
    return "real time, not reproducible, lag at most \(milliseconds(maximumLag)) at "
      + "\(TextStyle.seconds(latest - .zero)), 99 % within \(milliseconds(usualLag)), "
      + (waited.map { "programs waited at most \(milliseconds($0)) for a processor" }
        ?? "how long programs waited for a processor is unknown")
  }

  /// Of the lag that a file allows, 99 % of the events may have at most this share.
  static let usualShare: Int64 = 5
  /// A program may wait for at most this share of it within ``WaitRecord/window``. With the default that is 125 ms, which
  /// leaves a gap in what is heard: jitter buffers hold less.
  static let waitingShare: Int64 = 2

  /// Why nothing can be concluded from the run; nil when it kept up.
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
