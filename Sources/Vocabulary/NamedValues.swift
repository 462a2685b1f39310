public import CallCore
public import Formats

/// A typed value from a scenario file: an argument of an action or fault, or a setting of a peer.
public enum ArgumentValue: Hashable, Sendable {
  case count(Int64)
  case real(Double)
  case flag(Bool)
  case text(String)
  case duration(Interval)
  case rate(DataRate)
  /// A fraction: 5 % is 0.05.
  case percentage(Double)
  /// A size in bytes.
  case byteSize(Int64)
  /// A list, in the fields of `send`, and of peers.
  case list([ArgumentValue])
}

extension ArgumentValue {
  /// The text, or those of a list.
  public var texts: [String] {
    switch self {
    case .text(let text): [text]
    case .list(let members): members.flatMap(\.texts)
    default: []
    }
  }
}

/// Named values in the order of the file.
public struct NamedValues: Hashable, Sendable {
  /// One value with its name.
  public struct Entry: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: ArgumentValue
  }

  /// The entries in order.
  public let all: [Entry]

  /// Creates named values from pairs.
  public init(_ values: [(String, ArgumentValue)]) { all = values.map { Entry(name: $0.0, value: $0.1) } }

  /// The first value of a name, or nil.
  public subscript(name: String) -> ArgumentValue? { all.first { $0.name == name }?.value }

  /// Returns the text of a name; nil if absent or of another type.
  public func text(_ name: String) -> String? { if case .text(let value) = self[name] { value } else { nil } }
  /// Returns the texts of a name: those of a list, or the only one.
  public func texts(_ name: String) -> [String] { self[name]?.texts ?? [] }
  /// Returns the rate of a name; nil if absent or of another type.
  public func rate(_ name: String) -> DataRate? { if case .rate(let value) = self[name] { value } else { nil } }
  /// Returns the flag of a name; nil if absent or of another type.
  public func flag(_ name: String) -> Bool? { if case .flag(let value) = self[name] { value } else { nil } }
  /// Returns the count of a name; nil if absent or of another type.
  public func count(_ name: String) -> Int64? { if case .count(let value) = self[name] { value } else { nil } }
  /// Returns the size in bytes of a name; nil if absent or of another type.
  public func byteSize(_ name: String) -> Int64? { if case .byteSize(let value) = self[name] { value } else { nil } }
  /// Returns the duration of a name; nil if absent or of another type.
  public func duration(_ name: String) -> Interval? { if case .duration(let value) = self[name] { value } else { nil } }
}

extension JSON {
  /// Converts a value to plain JSON: durations in milliseconds, rates in bits per second.
  public init(_ value: ArgumentValue) {
    self =
      switch value {
      case .count(let count), .byteSize(let count): .integer(count)
      case .real(let number), .percentage(let number): .number(number)
      case .flag(let flag): .bool(flag)
      case .text(let text): .string(text)
      case .duration(let interval): .integer(interval.milliseconds)
      case .rate(let rate): .integer(rate.bitsPerSecond)
      case .list(let members): .array(members.map { JSON($0) })
      }
  }
}
