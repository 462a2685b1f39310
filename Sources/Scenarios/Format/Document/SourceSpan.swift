/// A location in a scenario file or in a file that it uses, to which a diagnostic or a failed expectation refers.
public struct SourceSpan: Hashable, Sendable {
  /// The index into ``SourceMap/files``.
  public var file: Int
  /// The line, counted from 1.
  public var line: Int
  /// The column in Unicode scalars, counted from 1.
  public var column: Int
  /// The number of columns to underline; at least 1.
  public var length: Int

  /// Creates a location; a length below 1 is raised to 1.
  public init(file: Int = 0, line: Int, column: Int, length: Int = 1) {
    self.file = file
    self.line = line
    self.column = column
    self.length = max(1, length)
  }

  /// The location of an item that the reader creates itself, such as a default server.
  public static let builtIn = SourceSpan(file: -1, line: 0, column: 0)
}

extension SourceSpan: Comparable {
  /// Orders locations by file, line and column.
  public static func < (a: SourceSpan, b: SourceSpan) -> Bool {
    (a.file, a.line, a.column) < (b.file, b.line, b.column)
  }
}

/// A property that is ignored when its owner is compared, such as a location: two instances are always equal.
@propertyWrapper public struct NotCompared<Value: Sendable>: Sendable, Equatable {
  /// The property's value.
  public var wrappedValue: Value

  /// Wraps a value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Returns true for all operands.
  public static func == (a: NotCompared, b: NotCompared) -> Bool { true }
}

/// A value with its location. Equality ignores the location.
public struct Located<Value> {
  /// The value.
  public var value: Value
  /// The location in the scenario file.
  public var span: SourceSpan

  /// Creates a value at a location.
  public init(_ value: Value, at span: SourceSpan = .builtIn) {
    self.value = value
    self.span = span
  }
}

extension Located: Sendable where Value: Sendable {}
extension Located: Equatable where Value: Equatable {
  /// Compares the values only.
  public static func == (a: Located, b: Located) -> Bool { a.value == b.value }
}
