/// Where something stands in a scenario file or in a file it uses: the place a diagnostic or a failed expectation names.
public struct SourceSpan: Hashable, Sendable {
  /// Index into ``SourceMap/files``.
  public var file: Int
  /// Line and column count from 1; columns count Unicode scalars.
  public var line: Int
  public var column: Int
  /// How many columns a caret run covers; at least 1.
  public var length: Int

  public init(file: Int = 0, line: Int, column: Int, length: Int = 1) {
    self.file = file
    self.line = line
    self.column = column
    self.length = max(1, length)
  }

  /// The place of something the reader made up itself, such as a default server.
  public static let builtIn = SourceSpan(file: -1, line: 0, column: 0)
}

extension SourceSpan: Comparable {
  public static func < (a: SourceSpan, b: SourceSpan) -> Bool {
    (a.file, a.line, a.column) < (b.file, b.line, b.column)
  }
}

/// What is no part of what its owner says, such as where that is written: two are equal whatever they hold.
@propertyWrapper public struct NotCompared<Value: Sendable>: Sendable, Equatable {
  public var wrappedValue: Value

  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  public static func == (a: NotCompared, b: NotCompared) -> Bool { true }
}

/// A value together with where it was written. Two are equal when their values are.
public struct Located<Value> {
  public var value: Value
  public var span: SourceSpan

  public init(_ value: Value, at span: SourceSpan = .builtIn) {
    self.value = value
    self.span = span
  }
}

extension Located: Sendable where Value: Sendable {}
extension Located: Equatable where Value: Equatable {
  public static func == (a: Located, b: Located) -> Bool { a.value == b.value }
}
