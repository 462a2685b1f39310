public import ScenarioJudge

/// The exit status of the process.
public enum ExitStatus: Int32, Sendable, CaseIterable {
  case pass = 0
  case expectationFailed = 1
  case badUsage = 2
  case badScenario = 3
  /// The harness itself failed, so nothing was judged.
  case inconclusive = 4
  case broken = 5
  case nondeterministic = 6
  /// Nothing ran, or something was never put to the test.
  case vacuous = 7
  case wallLimit = 8
  case interrupted = 130

  /// Returns the exit status for a run's verdict.
  public init(_ verdict: Verdict) {
    self =
      switch verdict {
      case .pass, .skipped: .pass
      case .fail: .expectationFailed
      case .broken: .broken
      case .vacuous: .vacuous
      case .inconclusive: .inconclusive
      case .timeout: .wallLimit
      case .nondeterministic: .nondeterministic
      }
  }

  /// The outcomes of runs, the worst first: known failures precede unknown results. Bad usage, bad scenarios and
  /// interruption are not included: they end a command on their own.
  public static let order: [ExitStatus] = [
    .nondeterministic, .broken, .expectationFailed, .inconclusive, .wallLimit, .vacuous, .pass,
  ]

  /// The codes of outcomes worse than a pass, the worst first: `6, 5, 1`.
  public static let orderText = order.filter { $0 != .pass }.map { "\($0.rawValue)" }.joined(separator: ", ")

  /// The severity as the outcome of a run: a higher number is worse.
  var severity: Int { Self.order.firstIndex(of: self).map { Self.order.count - $0 } ?? 0 }

  /// Returns the worse of two outcomes of runs.
  public func worse(_ other: ExitStatus) -> ExitStatus {
    Self.order.first { $0 == self || $0 == other } ?? self
  }
}
