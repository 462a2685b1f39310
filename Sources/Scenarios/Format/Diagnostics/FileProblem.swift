/// What is wrong with a scenario file, for reports.
public struct FileProblem: Sendable {
  public var path: String
  /// The line and column, from 1; nil when it is about the file as a whole.
  public var place: (line: Int, column: Int)?
  /// `E201`; nil when it is about several files.
  public var code: String?
  public var message: String

  public init(path: String, place: (line: Int, column: Int)? = nil, code: String? = nil, message: String) {
    self.path = path
    self.place = place
    self.code = code
    self.message = message
  }

  /// `path:line:column`
  package var location: String { place.map { "\(path):\($0.line):\($0.column)" } ?? path }
}
