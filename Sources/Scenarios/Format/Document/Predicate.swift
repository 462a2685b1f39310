public import Vocabulary

/// A typed, resolved condition over what a run shows.
public struct Predicate: Sendable, Equatable {
  public indirect enum Kind: Sendable, Equatable {
    case constant(Bool)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)
    case compare(Operand, Comparison, Operand)
    /// The operand equals one of the values.
    case isIn(Operand, [Value])
    /// A flag is true.
    case holds(Operand)
    /// A predicate of `define`, in place.
    case defined(String, Predicate)
  }

  public var kind: Kind
  @NotCompared public var span: SourceSpan

  public init(_ kind: Kind, at span: SourceSpan = .builtIn) {
    self.kind = kind
    self.span = span
  }

  public static func constant(_ value: Bool) -> Predicate { Predicate(.constant(value)) }

  /// How many comparisons it makes, those of the definitions it names included.
  var comparisonCount: Int {
    switch kind {
    case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.comparisonCount }
    case .not(let part), .defined(_, let part): part.comparisonCount
    case .isIn(_, let values): values.count
    case .constant, .compare, .holds: 1
    }
  }

  /// Whether nothing can change what it is now, because counters that do not fall have come so far.
  ///
  /// - Parameters:
  ///   - isTrue: what it is.
  ///   - truth: what its parts are.
  ///   - number: what a counter is.
  package func isSettled(_ isTrue: Bool, _ truth: (Predicate) -> Bool, _ number: (Operand) -> Double?) -> Bool {
    func isSettled(_ counter: Operand, _ comparison: Comparison, _ bound: Value) -> Bool {
      guard counter.neverFalls, let number = number(counter), let bound = bound.number else { return false }
      return comparison.isSettled(isTrue, of: number, beside: bound)
    }
    switch kind {
    case .constant, .holds: return false
    case .and(let parts), .or(let parts):
      let isAnd = if case .and = kind { true } else { false }
      // One part decides that an `and` is false, or an `or` true; the others come to it only all together.
      let deciding = parts.filter { truth($0) == isTrue && $0.isSettled(isTrue, truth, number) }
      return isAnd == isTrue ? deciding.count == parts.count : !deciding.isEmpty
    case .not(let part): return part.isSettled(!isTrue, truth, number)
    case .defined(_, let part): return part.isSettled(isTrue, truth, number)
    case .compare(let counter, let comparison, .literal(let bound)): return isSettled(counter, comparison, bound)
    case .compare(.literal(let bound), let comparison, let counter):
      return isSettled(counter, comparison.mirrored, bound)
    case .compare: return false
    case .isIn(let counter, let values): return !isTrue && values.allSatisfy { isSettled(counter, .equal, $0) }
    }
  }

  /// Every watched value it reads, in order of appearance.
  public var values: [ValuePath] {
    switch kind {
    case .constant: []
    case .and(let parts), .or(let parts): parts.flatMap(\.values)
    case .not(let part), .defined(_, let part): part.values
    case .compare(let a, _, let b): [a, b].compactMap(\.path)
    case .isIn(let operand, _), .holds(let operand): [operand].compactMap(\.path)
    }
  }
}

extension ValuePath {
  /// How it counts; nil of what does not.
  package var counting: ValueDeclaration.Counting? {
    name.hasPrefix("nat.drops") ? .upward : CommonVocabulary.value(name)?.counting
  }
}

extension Comparison {
  /// The same with its sides exchanged.
  fileprivate var mirrored: Comparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }

  /// Whether a counter on its left that makes it so, and does not fall, will go on to.
  fileprivate func isSettled(_ isTrue: Bool, of counter: Double, beside bound: Double) -> Bool {
    switch self {
    case .greater, .greaterOrEqual: isTrue
    case .less, .lessOrEqual: !isTrue
    case .equal: !isTrue && counter > bound
    case .notEqual: isTrue && counter > bound
    }
  }
}

public enum Comparison: String, Sendable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
}

public enum Operand: Sendable, Equatable {
  case value(ValuePath)
  case literal(Value)
  case wire(WireQuantity)

  var path: ValuePath? {
    guard case .value(let path) = self else { return nil }
    return path
  }

  fileprivate var neverFalls: Bool {
    switch self {
    case .literal: false
    case .wire: true
    case .value(let path): path.counting == .upward
    }
  }
}

/// What the interfaces of peers carry, whatever their stacks say: `wire.media(from: bob)` counts packets of media that
/// leave Bob, `wire.media(from: bob, to: alice)` those of them that reach Alice, behind NATs and through relays.
public struct WireQuantity: Sendable, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    case media, packets, bytes, cleartext

    public var summary: String {
      switch self {
      case .media: "RTP packets that left peers, or with `to` reached one"
      case .packets: "packets that left peers, or with `to` reached one"
      case .bytes: "what they carry in UDP or TCP, in bytes"
      case .cleartext: "media packets that crossed it unprotected"
      }
    }
  }

  public var kind: Kind
  public var from: String?
  public var to: String?
}

/// A value of a peer, of one of its connections or of a network: `alice.call.state`, `bob.q.mos`,
/// `alice.to.bob.ice.state`, `network/home.nat.mappings`.
///
/// `name` is the trace kind whose newest `value` about `subject` is meant.
public struct ValuePath: Sendable, Equatable {
  /// The trace subject: `alice`, `alice/to/bob`, `network/home`.
  public var subject: String
  public var name: String
  public var type: ValueType
  /// The unit of a number, such as `bytes`, or nil.
  public var unit: String?
  @NotCompared public var span: SourceSpan
  /// What is meant when it is nothing of a peer, but of the network itself.
  public var wire: WireQuantity?

  package init(
    subject: String, name: String, type: ValueType, unit: String?, span: SourceSpan, wire: WireQuantity? = nil
  ) {
    self.subject = subject
    self.name = name
    self.type = type
    self.unit = unit
    self.span = span
    self.wire = wire
  }

  /// The peer or server that it is of.
  public var owner: String { ConnectionSubject.owner(of: subject) }

  static let none = ValuePath(subject: "", name: "", type: .flag, unit: nil, span: .builtIn)

  /// Whether it is one of the quality metrics under `q`.
  public var isOfQuality: Bool { name.hasPrefix("q.") }
}

extension ValuePath: CustomStringConvertible {
  public var description: String { wire.map { Operand.wire($0).description } ?? Self.text(name, of: subject) }

  /// How a scenario writes something of a subject: `alice.to.bob.ice.state`.
  package static func text(_ name: String, of subject: String) -> String {
    ConnectionSubject(subject).map { "\($0.owner).to.\($0.name).\(name)" } ?? "\(subject).\(name)"
  }
}

extension WireQuantity {
  /// Whose running totals they are in the trace: the wire's own.
  package static let subject = "wire"

  /// The kind of event under which its running total is written.
  package var kindName: String { "wire.\(kind.rawValue)(\(from ?? "*"),\(to ?? "*"))" }
}
