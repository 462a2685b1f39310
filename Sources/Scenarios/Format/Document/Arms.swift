extension Scenario {
  /// The arms of a comparison: the same scenario with some settings changed.
  public struct Arms: Sendable, Equatable {
    /// What the runs of a pair have in common.
    public enum Pairing: String, Sendable, CaseIterable {
      /// Every arm meets the identical channel: the same loss, delay and rates at the same virtual time.
      case channel
      /// Only the seed, for arms that change the network itself.
      case seed
    }

    /// The variable that names the arm of a cell, in its id and in conditions of `if`.
    public static let variable = "arm"

    /// What the runs of a pair have in common.
    public var pairing = Pairing.channel
    /// The names of all arms, in the order of the file.
    public var names: [String] = []
    /// What each arm changes, as written in the file, in the same order; empty for one that changes nothing.
    public var changes: [String] = []
    /// The dotted paths that each arm changes, such as `alice.audio.fec`, in the same order.
    package var paths: [[String]] = []
    /// The arm that the others are compared with.
    public var baseline = ""
    /// The arm of this cell.
    public var own = ""

    /// Creates a comparison without arms.
    public init() {}
  }
}

extension Expectation {
  /// A paired difference between two arms, or a number that is only shown.
  public struct Delta: Sendable, Equatable {
    /// The direction of improvement of a number.
    public enum Better: String, Sendable, CaseIterable { case higher, lower }

    /// The number of each run.
    public var metric = Metric()
    /// The two arms: the number of the first minus that of the second. Empty for a number that is only shown.
    public var arms: [Located<String>] = []
    /// The confidence of the interval, above 0 and below 1.
    public var confidence = 0.95
    /// Half the width of the interval that is enough: with it, `compare` makes no further runs. Nil makes all.
    public var precision: Value?
    /// The bounds that the whole interval must meet.
    public var bounds: [Bound] = []
    /// The direction of improvement that the file gives; nil for that of the number.
    public var better: Better?
    /// Creates a difference between no arms.
    public init() {}

    /// Whether the number is only shown.
    public var isMeasure: Bool { arms.isEmpty }
  }
}

extension Expectation.Metric {
  /// The number that is measured, whatever is expected of it.
  package var number: Self {
    var number = self
    (number.bounds, number.across) = ([], .run)
    return number
  }
}

extension Expectation {
  /// The difference between arms, or the number that is only shown; nil for any other kind.
  package var delta: Delta? {
    if case .delta(let delta) = kind { delta } else { nil }
  }

  /// Whether it is about arms: a difference, or a number that is only shown.
  package var isDelta: Bool { delta != nil }

  /// Whether it is a number that a comparison only shows, and nothing is expected of it.
  package var isMeasure: Bool { delta?.isMeasure ?? false }
}

extension Value {
  /// Reads a value as a plain scalar of YAML, such as `5%` or `20ms`.
  package init(text: String) { self.init(YAMLScalar(text: text, isPlain: true)) }

  /// Returns another number of the same type in words.
  package func text(ofNumber number: Double) -> String { Wording.quantity(number, type) }
}
