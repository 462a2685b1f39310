public import CallCore

/// Something that must be true of a run.
public struct Expectation: Sendable, Equatable {
  public enum Severity: String, Sendable, CaseIterable { case fail, warn }

  /// The file's own id, or `#n` by position.
  public var id = ""
  public var kind: Kind
  public var severity = Severity.fail
  /// In how large a share of the seeds' runs it holds; nil when it holds in every run.
  public var share: [Bound]?
  public var why: String?
  @NotCompared public var span = SourceSpan.builtIn
  /// The expectation as the file has it, on one line.
  @NotCompared public var text = ""

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
  }

  /// The values one watched value takes, in order.
  public struct Sequence: Sendable, Equatable {
    public struct Step: Sendable, Equatable {
      public var value = Located("")
      /// No later than this after `of` (or the start of the run).
      public var by: Interval?
      public init() {}
    }
    public var value = ValuePath.none
    public var steps: [Step] = []
    /// When true nothing may come between the steps, before the first (but the initial value) or after the last.
    public var isStrict = false
    public var of: Anchor?
    public var between = Window()
    public init() {}
  }

  /// Values that a watched value takes, in any order.
  public struct SetOf: Sendable, Equatable {
    public var value = ValuePath.none
    public var contains: [Located<String>] = []
    /// When true no other value may be seen.
    public var isStrict = false
    public var between = Window()
    public init() {}
  }

  public struct Eventually: Sendable, Equatable {
    public var predicate = Predicate.constant(true)
    public var within: Interval?
    public var of: Anchor?
    /// How long it must then stay true.
    public var hold: Interval?
    public init() {}
  }

  /// What must hold (`always`) or must not happen (`never`) throughout a window.
  public struct Invariably: Sendable, Equatable {
    public var predicate = Predicate.constant(true)
    public var window = Window()
    public init() {}
  }

  /// Whenever `condition` becomes true, `consequence` is true within the time.
  public struct LeadsTo: Sendable, Equatable {
    public var condition = Predicate.constant(true)
    public var consequence = Predicate.constant(true)
    public var within = Interval.zero
    public init() {}
  }

  /// A peer's call ends with one of these codes.
  public struct Ends: Sendable, Equatable {
    public var peer = Located("")
    public var codes: [Located<String>] = []
    public var within: Interval?
    public var of: Anchor?
    public init() {}
  }

  /// How often an event happens, a state is entered or a predicate becomes true.
  public struct Count: Sendable, Equatable {
    public enum Subject: Sendable, Equatable {
      case anchor(Anchor)
      case predicate(Predicate)
    }
    public var subject: Subject?
    public var between = Window()
    public var bounds: [Bound] = []
    public init() {}
  }

  /// After a fault, a condition is lost, is reached again within the time and holds.
  public struct Recovers: Sendable, Equatable {
    /// How a file names ``Target/mediaBothWays``.
    static let mediaBothWays = "media-both-ways"

    public enum Target: Sendable, Equatable {
      /// Audio arrives and is played at both ends of the call.
      case mediaBothWays
      case predicate(Predicate)
    }
    /// The id of a timeline entry with a fault.
    public var fault = Located("")
    public var to = Target.mediaBothWays
    public var within = Interval.zero
    public var hold: Interval?
    public init() {}
  }

  /// A statistic of a numeric value over a window, compared with bounds.
  public struct Metric: Sendable, Equatable {
    public var value = ValuePath.none
    public var statistic = Statistic.last
    public var window = Window()
    public var across = Across.run
    public var bounds: [Bound] = []
    public init() {}
  }

  public enum Across: String, Sendable, CaseIterable { case run, seeds }

  public enum Statistic: Sendable, Hashable {
    case last, first, minimum, maximum, mean, sum, count
    /// Change per second over the window; of bytes it is a bit rate.
    case rate
    /// Change over the window.
    case delta
    /// 1…99.
    case percentile(Int)
  }

  public struct Bound: Sendable, Equatable {
    public var comparison: Comparison
    public var value: Value
    @NotCompared public var span: SourceSpan
  }
}

/// From one anchor to another; nil is the start or the end of the run.
public struct Window: Sendable, Equatable {
  public var from: Anchor?
  public var to: Anchor?
  public init(from: Anchor? = nil, to: Anchor? = nil) {
    self.from = from
    self.to = to
  }
}

extension Expectation.Statistic {
  /// Whether it is averaged over the runs of several seeds: all but `min` and `max`, which are the smallest and the
  /// largest of all runs.
  var isAveragedOverRuns: Bool { self != .minimum && self != .maximum }
}

extension Expectation {
  /// Whether single runs leave the expectation open.
  package var isJudgedAcrossSeeds: Bool {
    if share != nil { return true }
    return switch kind {
    case .sometimes: true
    case .metric(let metric): metric.across == .seeds
    case .sequence, .set, .eventually, .always, .never, .leadsTo, .ends, .count, .recovers: false
    }
  }
}
