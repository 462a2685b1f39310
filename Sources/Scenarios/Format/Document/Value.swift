public import CallCore

/// A typed scalar of a scenario: an argument, a setting, or a literal in a predicate.
public enum Value: Hashable, Sendable {
  case flag(Bool)
  case count(Int)
  case real(Double)
  case duration(Interval)
  case rate(DataRate)
  /// A fraction: `5%` is 0.05 and `120ppm` is 0.00012.
  case percentage(Double)
  case byteSize(Int)
  /// Text, a choice, or the name of a peer, link, network or server.
  case text(String)
  case list([Value])
}

extension Value {
  /// The value as a plain number in its base unit (seconds, bits per second, fraction, bytes); nil for text and lists.
  public var number: Double? {
    switch self {
    case .flag(let value): value ? 1 : 0
    case .count(let value): Double(value)
    case .real(let value): value
    case .duration(let value): value.seconds
    case .rate(let value): Double(value.bitsPerSecond)
    case .percentage(let value): value
    case .byteSize(let value): Double(value)
    case .text, .list: nil
    }
  }
}

extension Value: CustomStringConvertible {
  /// The text of the value in scenario files.
  public var description: String {
    switch self {
    case .flag(let value): "\(value)"
    case .count(let value): "\(value)"
    case .real(let value): "\(value)"
    case .duration(let value): "\(value)"
    case .rate(let value): "\(value)"
    case .percentage(let value): Quantity.percentText(value)
    case .byteSize(let value): "\(value)B"
    case .text(let value): value
    case .list(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    }
  }
}

/// Named, typed arguments in the order they were written.
public struct Arguments: Sendable, Hashable {
  /// The arguments, each name once.
  public var entries: [(name: String, value: Located<Value>)] = []

  /// Creates an empty list of arguments.
  public init() {}

  /// Compares names, values and order; locations are ignored.
  public static func == (a: Arguments, b: Arguments) -> Bool {
    a.entries.elementsEqual(b.entries) { $0.name == $1.name && $0.value == $1.value }
  }

  /// Hashes names, values and order.
  public func hash(into hasher: inout Hasher) {
    for entry in entries {
      hasher.combine(entry.name)
      hasher.combine(entry.value.value)
    }
  }

  /// The value of an argument; nil when it is missing.
  public subscript(_ name: String) -> Value? { entries.first { $0.name == name }?.value.value }
  /// Returns the location of an argument; nil when it is missing.
  public func span(of name: String) -> SourceSpan? { entries.first { $0.name == name }?.value.span }
  /// The arguments that are texts.
  package var texts: [String] {
    entries.compactMap { if case .text(let text) = $0.value.value { text } else { nil } }
  }
  /// Whether there are no arguments.
  public var isEmpty: Bool { entries.isEmpty }

  /// Returns a text; nil when the argument is missing or of another type.
  public func text(_ name: String) -> String? {
    guard case .text(let text) = self[name] else { return nil }
    return text
  }
  /// Returns a time; nil when the argument is missing or of another type.
  public func duration(_ name: String) -> Interval? {
    guard case .duration(let interval) = self[name] else { return nil }
    return interval
  }
  /// Returns a data rate; nil when the argument is missing or of another type.
  public func rate(_ name: String) -> DataRate? {
    guard case .rate(let rate) = self[name] else { return nil }
    return rate
  }
  /// Returns a whole number; nil when the argument is missing or of another type.
  public func count(_ name: String) -> Int? {
    guard case .count(let count) = self[name] else { return nil }
    return count
  }
  /// Returns a flag; nil when the argument is missing or of another type.
  public func flag(_ name: String) -> Bool? {
    guard case .flag(let flag) = self[name] else { return nil }
    return flag
  }
  /// Returns a percentage as a fraction, or a real; nil when the argument is missing or of another type.
  public func fraction(_ name: String) -> Double? {
    switch self[name] {
    case .percentage(let fraction), .real(let fraction): fraction
    default: nil
    }
  }
  /// Returns the texts of a list, or a single text as a list; nil when the argument is missing or of another type.
  public func texts(_ name: String) -> [String]? {
    guard case .list(let values) = self[name] else { return text(name).map { [$0] } }
    return values.map(\.description)
  }
}
