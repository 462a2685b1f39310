/// The type of an argument, a setting or a watched value: the reader checks it and the schema prints it.
public enum ValueType: Sendable, Hashable {
  case count, real, flag, text
  case duration, rate, percentage, byteSize
  /// The name of a peer of the scenario, or those of several. A watched value of them is sorted, with blanks between
  /// them; it is `none` for nobody, and has the user id of a user that no peer is.
  case peer, peers
  /// A word of a closed list.
  case choice([String])
}

/// A value of a peer that a predicate may read: `selected.local.candidateType`.
public struct ValueDeclaration: Sendable {
  /// The name in scenarios.
  public let name: String
  /// Whom the value is about.
  public let scope: NameScope
  /// The type of the value.
  public let type: ValueType
  /// The unit of a number, such as `bytes`, or nil.
  public let unit: String?
  /// The way the value counts; nil if it is not a counter. `delta` and `rate` of a counter are its growth, also over the
  /// calls of a run, in each of which it begins at zero.
  public let counting: Counting?
  /// A description for the documentation.
  public let summary: String
  /// The flag that this one shows to the user, so that both are equal during a call; of a list of peers, the flag that each of
  /// them has set. Nil if it shows none.
  public let shown: String?

  /// The way a number counts, from zero, while its connection is open.
  public enum Counting: Sendable {
    /// A number that never falls but to begin anew.
    case upward
    /// A number that rises and falls: late and repeated packets are subtracted from lost ones (RFC 3550 appendix A.3).
    case net
    /// A rising number of the selected candidate pair, which falls when another pair is selected.
    case ofSelectedPair
  }

  /// Declares a value.
  public init(
    _ name: String, _ type: ValueType, of scope: NameScope = .peer, unit: String? = nil, counting: Counting? = nil,
    showing shown: String? = nil, _ summary: String
  ) {
    self.name = name
    self.scope = scope
    self.type = type
    self.unit = unit
    self.counting = counting
    self.shown = shown
    self.summary = summary
  }
}

extension ValueType {
  /// Returns whether a word is a value of this type: any word for a text, a listed one for a choice.
  package func admits(_ word: String) -> Bool {
    switch self {
    case .text, .peer, .peers: true
    case .choice(let words): words.contains(word)
    case .count, .real, .flag, .duration, .rate, .percentage, .byteSize: false
    }
  }
}
