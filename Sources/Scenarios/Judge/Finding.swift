public import CallCore

/// One thing that went wrong in a run, in words for a person.
public struct Finding: Hashable, Sendable {
  public enum Kind: String, Sendable {
    case expectation, warning, invariant, vacuous, crash, harness
  }

  public var kind: Kind
  /// What was asked for: the expectation as written, or the invariant's name.
  public var title: String
  /// Where it stands, as `path:line:column`; nil for defaults.
  public var location: String?
  public var expected: String
  public var actual: String
  /// When it was decided, in virtual time.
  public var time: Instant
  /// The states of the peers concerned, a line each: `alice: calling 1.02 > connecting 3.31`.
  public var trail: [String]
  /// The faults active at that time, a line each.
  public var faults: [String]
  /// What explains it further: NAT mappings, dropped checks, server errors; a line each.
  public var explanation: [String]
  /// The author's reason, from the file.
  public var why: String?
  /// How far it is from what was expected, to compare runs that miss one expectation: of a number the distance from its
  /// bound as a share of it, of a deadline the seconds it came too late, infinite when it never came. Nil where nothing
  /// measures it.
  public var miss: Double?
  /// What it is apart from its words: the same in all seeds that fail alike.
  public var signature: FindingSignature
  /// The part of the run that it is about; nil where there is none, or it never began.
  public var window: ClosedRange<Instant>?

  /// - Parameter signature: made of the title where there is nothing better.
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
