public import Vocabulary

/// A typed, resolved condition on the values of a run.
public struct Predicate: Sendable, Equatable {
  /// The operator of a predicate, with its operands.
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
    /// A predicate of `define`, inlined, with its name.
    case defined(String, Predicate)
  }

  /// The operator, with its operands.
  public var kind: Kind
  /// The location in the scenario file.
  @NotCompared public var span: SourceSpan

  /// Creates a predicate from its operator.
  public init(_ kind: Kind, at span: SourceSpan = .builtIn) {
    self.kind = kind
    self.span = span
  }

  /// Returns a predicate that is always true, or always false.
  public static func constant(_ value: Bool) -> Predicate { Predicate(.constant(value)) }

  /// The number of comparisons, including those of the definitions that it refers to.
  var comparisonCount: Int {
    switch kind {
    case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.comparisonCount }
    case .not(let part), .defined(_, let part): part.comparisonCount
    case .isIn(_, let values): values.count
    case .constant, .compare, .holds: 1
    }
  }

  /// Returns whether the current truth value is final, because counters that never fall have passed their bounds.
  ///
  /// - Parameters:
  ///   - isTrue: the current truth value.
  ///   - truth: returns the current truth value of a part.
  ///   - number: returns the current value of a counter.
  package func isSettled(_ isTrue: Bool, _ truth: (Predicate) -> Bool, _ number: (Operand) -> Double?) -> Bool {
    func isSettled(_ counter: Operand, _ comparison: Comparison, _ bound: Value) -> Bool {
      guard counter.neverFalls, let number = number(counter), let bound = bound.number else { return false }
      return comparison.isSettled(isTrue, of: number, beside: bound)
    }
    switch kind {
    case .constant, .holds: return false
    case .and(let parts), .or(let parts):
      let isAnd = if case .and = kind { true } else { false }
      // One false part makes an `and` false, and one true part an `or` true; the opposite result needs all parts.
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

  /// The watched values that the predicate reads, in order of appearance.
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

extension Comparison {
  /// The comparison with its sides exchanged.
  fileprivate var mirrored: Comparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }

  /// Returns whether the result is final for a left side that never falls.
  fileprivate func isSettled(_ isTrue: Bool, of counter: Double, beside bound: Double) -> Bool {
    switch self {
    case .greater, .greaterOrEqual: isTrue
    case .less, .lessOrEqual: !isTrue
    case .equal: !isTrue && counter > bound
    case .notEqual: isTrue && counter > bound
    }
  }
}

/// A comparison operator.
public enum Comparison: String, Sendable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
}

/// One side of a comparison.
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

/// A quantity that is counted at the network interfaces of peers, independently of their stacks.
///
/// `wire.media(from: bob)` counts media packets that leave Bob, and `wire.media(from: bob, to: alice)` those of them
/// that reach Alice, behind NATs and through relays.
public struct WireQuantity: Sendable, Equatable {
  /// The counted quantity.
  public enum Kind: String, Sendable, CaseIterable {
    case media, packets, bytes, cleartext
    case rtpBytes = "rtp_bytes"
    case rtpHeaderBytes = "rtp_header_bytes"
    case rtcpBytes = "rtcp_bytes"

    /// A one-line description for the reference.
    public var summary: String {
      switch self {
      case .media: "RTP packets that left peers, or with `to` reached one"
      case .packets: "packets that left peers, or with `to` reached one"
      case .bytes: "what they carry in UDP, or in TCP with its headers, in bytes"
      case .cleartext: "media packets that crossed it unprotected"
      case .rtpBytes: "RTP packets with their headers and SRTP tags, in bytes"
      case .rtpHeaderBytes: "the headers of RTP packets with their extensions, in bytes"
      case .rtcpBytes: "RTCP packets with their SRTP tags, in bytes"
      }
    }

    /// Whether it counts bytes.
    package var isOfBytes: Bool {
      switch self {
      case .bytes, .rtpBytes, .rtpHeaderBytes, .rtcpBytes: true
      case .media, .packets, .cleartext: false
      }
    }
  }

  /// The counted quantity.
  public var kind: Kind
  /// The name of the sending peer; nil is every peer.
  public var from: String?
  /// The name of the receiving peer; nil counts at the sender.
  public var to: String?
}

/// A value of a peer, of one of its connections or of a network: `alice.call.state`, `bob.q.mos`,
/// `alice.to.bob.ice.state`, `network/home.nat.mappings`.
///
/// The current value is the newest `value` of the trace kind `name` about `subject`.
public struct ValuePath: Sendable, Equatable {
  /// The trace subject: `alice`, `alice/to/bob`, `network/home`.
  public var subject: String
  /// The trace kind, such as `call.state`.
  public var name: String
  /// The type of the value.
  public var type: ValueType
  /// The unit of a number, such as `bytes`, or nil.
  public var unit: String?
  /// The way the value counts; nil when it is not a counter.
  package var counting: ValueDeclaration.Counting?
  /// The location in the scenario file.
  @NotCompared public var span: SourceSpan
  /// The wire quantity, when the path names one in place of a peer's value.
  public var wire: WireQuantity?

  package init(
    subject: String, name: String, type: ValueType, unit: String?, counting: ValueDeclaration.Counting? = nil,
    span: SourceSpan, wire: WireQuantity? = nil
  ) {
    self.subject = subject
    self.name = name
    self.type = type
    self.unit = unit
    self.counting = counting
    self.span = span
    self.wire = wire
  }

  /// The peer or server that has the value.
  public var owner: String { ConnectionSubject.owner(of: subject) }

  static let none = ValuePath(subject: "", name: "", type: .flag, unit: nil, span: .builtIn)

  /// Whether the value is one of the quality metrics under `q`.
  public var isOfQuality: Bool { name.hasPrefix("q.") }
}

extension ValuePath: CustomStringConvertible {
  /// The text of the path in scenarios.
  public var description: String { wire.map { Operand.wire($0).description } ?? Self.text(name, of: subject) }

  /// Returns the text of a name under a subject in scenarios: `alice.to.bob.ice.state`.
  package static func text(_ name: String, of subject: String) -> String {
    "\(ConnectionSubject.text(of: subject)).\(name)"
  }
}

extension WireQuantity {
  /// The trace subject of the running totals.
  package static let subject = "wire"

  /// The trace kind of the running total.
  package var kindName: String { "wire.\(kind.rawValue)(\(from ?? "*"),\(to ?? "*"))" }
}
