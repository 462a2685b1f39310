public import CallCore

/// One failure or warning of a run, as text for the user.
public struct Finding: Hashable, Sendable {
  /// The type of the broken check.
  public enum Kind: String, Sendable {
    case expectation, warning, invariant, vacuous, crash, harness
  }

  /// The type of the broken check.
  public var kind: Kind
  /// The check: the expectation as written, or the invariant's name.
  public var title: String
  /// The location of the check, as `path:line:column`; nil for defaults.
  public var location: String?
  /// The expected course, in words.
  public var expected: String
  /// The actual course, in words.
  public var actual: String
  /// The virtual time of the decision.
  public var time: Instant
  /// The states of the peers concerned, one line each: `alice: calling 1.02 > connecting 3.31`.
  public var trail: [String]
  /// The faults active at that time, one line each.
  public var faults: [String]
  /// Further explanations: NAT mappings, dropped checks, server errors; one line each.
  public var explanation: [String]
  /// The author's reason, from the file.
  public var why: String?
  /// The distance from the expectation, to compare runs that miss it: for a number the distance from its bound as a
  /// share of the bound, for a deadline the delay in seconds, infinite when the condition never came true. Nil where it
  /// cannot be measured.
  public var miss: Double?
  /// The identity of the finding apart from its words: equal in all seeds that fail alike.
  public var signature: FindingSignature
  /// The part of the run that was judged; nil if there is none, or it never began.
  public var window: ClosedRange<Instant>?

  /// Makes a finding.
  ///
  /// - Parameter signature: by default made from the title.
  public init(
    _ kind: Kind, _ title: String, location: String? = nil, expected: String, actual: String, time: Instant,
    trail: [String] = [], faults: [String] = [], explanation: [String] = [], why: String? = nil,
    signature: FindingSignature? = nil
  ) {
    self.signature = signature ?? FindingSignature(title)
    self.kind = kind
    self.title = title
    self.location = location
    self.expected = expected
    self.actual = actual
    self.time = time
    self.trail = trail
    self.faults = faults
    self.explanation = explanation
    self.why = why
  }
}
