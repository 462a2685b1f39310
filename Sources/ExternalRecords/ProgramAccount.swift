/// What a program has said and how it ended, for whoever looks why something failed.
public struct ProgramAccount: Sendable {
  public let name: String
  /// How it ended of its own accord, in words.
  package let ending: String?
  /// The ends of what it wrote.
  public let output: [UInt8]
  public let errors: [UInt8]

  package init(name: String, ending: String?, output: [UInt8], errors: [UInt8]) {
    self.name = name
    self.ending = ending
    self.output = output
    self.errors = errors
  }

  /// A few lines for a failure's text.
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
