public import CallCore

/// A condition that a run must meet.
public struct Expectation: Sendable, Equatable {
  /// The effect of a violation on the verdict.
  public enum Severity: String, Sendable, CaseIterable { case fail, warn }

  /// The file's own id, or `#n` by position.
  public var id = ""
  /// The condition with its parameters.
  public var kind: Kind
  /// The effect of a violation on the verdict.
  public var severity = Severity.fail
  /// Bounds on the share of seeds whose runs meet the expectation; nil when every run must meet it.
  public var share: [Bound]?
  /// The reason that the file gives.
  public var why: String?
  /// The location in the scenario file.
  @NotCompared public var span = SourceSpan.builtIn
  /// The source text of the expectation, on one line.
  @NotCompared public var text = ""

  /// The kinds of expectation, each with its parameters.
  public enum Kind: Sendable, Equatable {
    case sequence(Sequence)
    case set(SetOf)
    case eventually(Eventually)
    case always(Invariably)
    case never(Invariably)
    case leadsTo(LeadsTo)
    case ends(Ends)
    case count(Count)
    case recovers(Recovers)
    case metric(Metric)
    /// Over all seeds, the predicate was true at least once in at least one run.
    case sometimes(Predicate)
    /// Over all seeds, the difference of a number between two arms.
    case delta(Delta)
  }

  /// The values that a watched value takes, in order.
  public struct Sequence: Sendable, Equatable {
    /// One value of the sequence.
    public struct Step: Sendable, Equatable {
      /// The expected value.
      public var value = Located("")
      /// The latest time at which the value is taken, counted from `of` or from the start of the run.
      public var by: Interval?
      /// Creates a step without a deadline.
      public init() {}
    }
    /// The watched value.
    public var value = ValuePath.none
    /// The expected values, in order.
    public var steps: [Step] = []
    /// Whether other values are refused between and after the steps, and before them except the initial value.
    public var isStrict = false
    /// The origin of the deadlines; nil is the start of the run.
    public var of: Anchor?
    /// The window in which values are observed.
    public var between = Window()
    /// Creates a sequence without steps.
    public init() {}
  }

  /// Values that a watched value takes, in any order.
  public struct SetOf: Sendable, Equatable {
    /// The watched value.
    public var value = ValuePath.none
    /// The values that must be taken.
    public var contains: [Located<String>] = []
    /// Whether other values are refused, also at the opening of the window.
    public var isStrict = false
    /// The window in which values are observed.
    public var between = Window()
    /// Creates a set without values.
    public init() {}
  }

  /// A predicate becomes true within a time.
  public struct Eventually: Sendable, Equatable {
    /// The predicate that must become true.
    public var predicate = Predicate.constant(true)
    /// The time limit, counted from `of`; nil is the end of the run.
    public var within: Interval?
    /// The origin of the time limit; nil is the start of the run.
    public var of: Anchor?
    /// The time for which the predicate must then stay true.
    public var hold: Interval?
    /// Creates an expectation that always holds.
    public init() {}
  }

  /// A predicate that must hold (`always`) or must not hold (`never`) throughout a window.
  public struct Invariably: Sendable, Equatable {
    /// The predicate that is checked.
    public var predicate = Predicate.constant(true)
    /// The window in which it is checked.
    public var window = Window()
    /// Creates an expectation over the whole run.
    public init() {}
  }

  /// Whenever `condition` becomes true, `consequence` must be true within a time.
  public struct LeadsTo: Sendable, Equatable {
    /// The predicate that starts the time limit.
    public var condition = Predicate.constant(true)
    /// The predicate that must become true.
    public var consequence = Predicate.constant(true)
    /// The time limit for the consequence.
    public var within = Interval.zero
    /// Creates an expectation that always holds.
    public init() {}
  }

  /// A peer's call ends with one of these codes.
  public struct Ends: Sendable, Equatable {
    /// The name of the peer.
    public var peer = Located("")
    /// The accepted end codes.
    public var codes: [Located<String>] = []
    /// The time limit, counted from `of`; nil is the end of the run.
    public var within: Interval?
    /// The origin of the time limit; nil is the start of the run.
    public var of: Anchor?
    /// Creates an expectation without codes.
    public init() {}
  }

  /// The number of times that an event happens, a state is entered or a predicate becomes true.
  public struct Count: Sendable, Equatable {
    /// The occurrence that is counted.
    public enum Subject: Sendable, Equatable {
      case anchor(Anchor)
      case predicate(Predicate)
    }
    /// The occurrence that is counted; nil until it is read.
    public var subject: Subject?
    /// The window in which occurrences are counted.
    public var between = Window()
    /// The bounds on the number; all must hold.
    public var bounds: [Bound] = []
    /// Creates a count without bounds.
    public init() {}
  }

  /// After a fault, a condition that was lost is reached again within a time and holds.
  public struct Recovers: Sendable, Equatable {
    /// The text of ``Target/mediaBothWays`` in a file.
    static let mediaBothWays = "media-both-ways"

    /// The condition that must be reached again.
    public enum Target: Sendable, Equatable {
      /// Audio arrives and is played at both ends of the call.
      case mediaBothWays
      case predicate(Predicate)
    }
    /// The id of a timeline entry with a fault.
    public var fault = Located("")
    /// The condition that must be reached again.
    public var to = Target.mediaBothWays
    /// The time limit for the recovery.
    public var within = Interval.zero
    /// The time for which the condition must then hold.
    public var hold: Interval?
    /// Creates a recovery of media in both directions.
    public init() {}
  }

  /// A statistic of a numeric value over a window, compared with bounds.
  public struct Metric: Sendable, Equatable {
    /// The numeric value.
    public var value = ValuePath.none
    /// The statistic of the value over the window.
    public var statistic = Statistic.last
    /// The window over which the statistic is taken.
    public var window = Window()
    /// The runs over which the statistic is taken.
    public var across = Across.run
    /// The bounds on the statistic; all must hold.
    public var bounds: [Bound] = []
    /// Creates a metric without bounds.
    public init() {}
  }

  /// The runs that a metric covers: each run by itself, or all seeds together.
  public enum Across: String, Sendable, CaseIterable { case run, seeds }

  /// A statistic of a numeric value.
  public enum Statistic: Sendable, Hashable {
    case last, first, minimum, maximum, mean, sum, count
    /// Change per second over the window; for bytes, a bit rate.
    case rate
    /// Change over the window.
    case delta
    /// A percentile from 1 to 99.
    case percentile(Int)
  }

  /// A comparison with a constant.
  public struct Bound: Sendable, Equatable {
    /// The comparison of the measured value with ``value``.
    public var comparison: Comparison
    /// The constant on the right side.
    public var value: Value
    /// The location in the scenario file.
    @NotCompared public var span: SourceSpan
  }
}

/// The time from one anchor to another.
public struct Window: Sendable, Equatable {
  /// The start; nil is the start of the run.
  public var from: Anchor?
  /// The end; nil is the end of the run.
  public var to: Anchor?
  /// Creates a window; without anchors it covers the whole run.
  public init(from: Anchor? = nil, to: Anchor? = nil) {
    self.from = from
    self.to = to
  }
}

extension Expectation.Statistic {
  /// Whether the statistic is averaged over the runs of several seeds; `min` and `max` are the extremes of all runs.
  var isAveragedOverRuns: Bool { self != .minimum && self != .maximum }
}

extension Expectation {
  /// Whether the expectation is judged over all seeds together, not in each run.
  package var isJudgedAcrossSeeds: Bool {
    if share != nil { return true }
    return switch kind {
    case .sometimes, .delta: true
    case .metric(let metric): metric.across == .seeds
    case .sequence, .set, .eventually, .always, .never, .leadsTo, .ends, .count, .recovers: false
    }
  }
}
