/// The type of an argument, a setting or a watched value: what the reader checks and the schema prints.
public enum ValueType: Sendable, Hashable {
  case count, real, flag, text
  case duration, rate, percentage, byteSize
  /// The name of a peer of the scenario.
  case peer
  /// One of a closed list.
  case choice([String])
}

/// A value of a peer that a predicate may read: `selected.local.candidateType`.
public struct ValueDeclaration: Sendable {
  public let name: String
  public let type: ValueType
  /// The unit of a number, such as `bytes`, or nil.
  public let unit: String?
  /// How it counts; nil of what is as it is now.
  package let counting: Counting?
  public let summary: String

  /// How a number counts from zero on, for as long as its connection is open.
  package enum Counting: Sendable {
    /// It does not fall.
    case upward
    /// Up and down: late and repeated packets are taken from those that were lost (RFC 3550 appendix A.3).
    case net
    /// Upward for whichever candidate pair is selected, so that it falls where another one takes over.
    case ofSelectedPair
  }

  public init(_ name: String, _ type: ValueType, unit: String? = nil, _ summary: String) {
    self.init(name, type, unit: unit, counting: nil, summary)
  }

  package init(_ name: String, _ type: ValueType, unit: String?, counting: Counting?, _ summary: String) {
    self.name = name
    self.type = type
    self.unit = unit
    self.counting = counting
    self.summary = summary
  }
}

extension ValueType {
  /// Whether a word is a value of this type: any of a text, and of a choice those that it lists.
  package func admits(_ word: String) -> Bool {
    switch self {
    case .text, .peer: true
    case .choice(let words): words.contains(word)
    case .count, .real, .flag, .duration, .rate, .percentage, .byteSize: false
    }
  }
}
