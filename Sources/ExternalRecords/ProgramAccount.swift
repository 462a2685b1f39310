/// The output and the end of a program, for the explanation of a failure.
public struct ProgramAccount: Sendable {
  /// The name of the program's peer.
  public let name: String
  /// The way in which the program ended by itself, as text.
  package let ending: String?
  /// The tails of standard output and standard error.
  public let output: [UInt8]
  /// The end of its standard error.
  public let errors: [UInt8]

  package init(name: String, ending: String?, output: [UInt8], errors: [UInt8]) {
    self.name = name
    self.ending = ending
    self.output = output
    self.errors = errors
  }

  /// A few lines for the text of a failure.
  public var lines: [String] {
    (ending.map { ["\(name)'s program \($0)"] } ?? [])
      + Self.last(6, of: errors).map { "\(name)'s program wrote to standard error: \($0)" }
      + Self.last(4, of: output).map { "\(name)'s program wrote to standard output: \($0)" }
  }

  package static func last(_ count: Int, of bytes: [UInt8]) -> [String] {
    String(decoding: bytes.suffix(8_192), as: UTF8.self).split(whereSeparator: \.isNewline).suffix(count).map {
      String($0.prefix(200))
    }
  }
}
