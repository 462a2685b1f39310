/// A problem of a scenario file, with its location.
public struct Diagnostic: Sendable, Equatable {
  /// The stable code of the problem.
  public var code: DiagnosticCode
  /// The description of the problem, without the remedy.
  public var message: String
  /// The location of the problem.
  public var span: SourceSpan
  /// The advice after the carets: `did you mean 'link.down'?`
  public var hint: String?
  /// The topic of `callsim explain` that helps: `fault`.
  public var explain: String?
  /// The first matrix cell with the problem, when it depends on substitution.
  public var cell: String?

  /// Creates a diagnostic.
  public init(
    _ code: DiagnosticCode, _ message: String, at span: SourceSpan, hint: String? = nil, explain: String? = nil
  ) {
    self.code = code
    self.message = message
    self.span = span
    self.hint = hint
    self.explain = explain
  }
}

/// The files from which a scenario was read: texts, for rendering diagnostics and failed expectations, and recordings.
public struct SourceMap: Sendable {
  /// A text file.
  public struct File: Sendable {
    /// The path under which the file was read.
    public let path: String
    /// The whole text.
    public let text: String
    /// The lines without line ends.
    public let lines: [String]
    /// The location of the `use` entry that names the file; nil for the scenario itself.
    public let usedFrom: SourceSpan?
  }

  /// The text files; ``SourceSpan/file`` is an index into them.
  public private(set) var files: [File] = []
  /// The recordings that microphones play: the bytes of WAV files.
  public private(set) var recordings: [(path: String, bytes: [UInt8])] = []

  /// Creates an empty source map.
  public init() {}

  mutating func add(path: String, text: String, usedFrom: SourceSpan?) -> Int {
    files.append(File(path: path, text: text, lines: Self.lines(of: text), usedFrom: usedFrom))
    return files.count - 1
  }

  mutating func add(recording bytes: [UInt8], path: String) { recordings.append((path, bytes)) }

  /// Returns the path of a file that the file at a location names.
  func path(of name: String, from span: SourceSpan) -> String {
    Self.resolve(name, from: files.indices.contains(span.file) ? files[span.file].path : "")
  }

  /// Resolves `../x.yaml` relative to the file that names it, and removes `.` and `..`.
  static func resolve(_ name: String, from path: String) -> String {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let joined = name.hasPrefix("/") ? name : folder + name
    var parts: [Substring] = []
    for part in joined.split(separator: "/", omittingEmptySubsequences: true) {
      if part == "." { continue }
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else {
        parts.append(part)
      }
    }
    return (joined.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }

  /// Returns the name of a path in a file of a folder: the inverse of ``resolve(_:from:)``.
  static func relative(_ path: String, to folder: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    var own = path.split(separator: "/")
    var base = folder.split(separator: "/").filter { $0 != "." }
    while own.count > 1, let first = base.first, first == own[0] {
      own.removeFirst()
      base.removeFirst()
    }
    return (base.map { _ in ".." } + own).joined(separator: "/")
  }

  /// Returns the line of a location; nil for locations outside files.
  public func line(at span: SourceSpan) -> String? {
    guard files.indices.contains(span.file), files[span.file].lines.indices.contains(span.line - 1) else { return nil }
    return files[span.file].lines[span.line - 1]
  }

  /// Returns the text of a location: `scenarios/hello.yaml:7:13`.
  public func location(of span: SourceSpan) -> String {
    guard files.indices.contains(span.file) else { return "built in" }
    return "\(files[span.file].path):\(span.line):\(span.column)"
  }

  /// Returns the chain of `use` entries that leads to the file of a location, innermost first.
  public func useChain(of span: SourceSpan) -> [SourceSpan] {
    var chain: [SourceSpan] = []
    var file = span.file
    while files.indices.contains(file), let from = files[file].usedFrom, chain.count < 32 {
      chain.append(from)
      file = from.file
    }
    return chain
  }

  /// Splits a text at the line breaks LF, CR LF, CR, NEL, LS and PS.
  static func lines(of text: String) -> [String] {
    var lines: [String] = []
    var line = String.UnicodeScalarView()
    var afterReturn = false
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n" where afterReturn: afterReturn = false
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
        lines.append(String(line))
        line = String.UnicodeScalarView()
        afterReturn = scalar == "\r"
      default:
        line.append(scalar)
        afterReturn = false
      }
    }
    lines.append(String(line))
    return lines
  }
}
