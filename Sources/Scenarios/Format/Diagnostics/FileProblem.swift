/// A problem of a scenario file in a report.
public struct FileProblem: Sendable {
  /// The path of the file.
  public var path: String
  /// The line and column, counted from 1; nil for a problem of the whole file.
  public var place: (line: Int, column: Int)?
  /// The diagnostic code, such as `E201`; nil for a problem of several files.
  public var code: String?
  /// The description of the problem.
  public var message: String

  /// Creates a problem.
  public init(path: String, place: (line: Int, column: Int)? = nil, code: String? = nil, message: String) {
    self.path = path
    self.place = place
    self.code = code
    self.message = message
  }

  /// The location as `path:line:column`.
  package var location: String { place.map { "\(path):\($0.line):\($0.column)" } ?? path }
}
