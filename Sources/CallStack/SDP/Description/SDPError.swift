/// Why a session description could not be read, and where.
public struct SDPError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    case tooLarge
    case lineTooLong
    case tooManyLines
    case tooManyMediaSections
    /// A line that is not `letter=value`.
    case notTypeEqualsValue
    /// NUL, a bare carriage return, or bytes that are not UTF-8.
    case invalidCharacter
    /// A line type that is unknown, or known but not allowed here (RFC 8866 §5).
    case unexpectedLine(Unicode.Scalar)
    case missingLine(Unicode.Scalar)
    /// The field or attribute of this name does not follow its grammar.
    case malformed(String)
  }

  /// The line, counted from 1.
  public let line: Int
  public let reason: Reason

  public init(line: Int, reason: Reason) {
    self.line = line
    self.reason = reason
  }

  public var description: String { "SDP line \(line): \(reason)" }
}

/// What a description may cost at most, so that hostile input stays cheap.
public struct SDPLimits: Hashable, Sendable {
  public var bytes = 1 << 20
  public var bytesPerLine = 8_192
  public var mediaSections = 256
  /// Lines in one section, the session section included.
  public var linesPerSection = 2_048

  public init() {}
}
