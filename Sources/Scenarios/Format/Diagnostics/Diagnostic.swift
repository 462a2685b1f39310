/// One thing that is wrong with a scenario file, and where.
public struct Diagnostic: Sendable, Equatable {
  public var code: DiagnosticCode
  public var message: String
  public var span: SourceSpan
  /// Stands after the caret run: `did you mean 'link.down'?`
  public var hint: String?
  /// What `callsim explain` is asked for: `fault`.
  public var explain: String?
  /// The first matrix cell it was found in, when substitution brought it about.
  public var cell: String?

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

/// Every file a scenario was read from: texts, for rendering diagnostics and failed expectations, and recordings.
public struct SourceMap: Sendable {
  public struct File: Sendable {
    public let path: String
    public let text: String
    /// Without their line ends.
    public let lines: [String]
    /// The `use` that brought the file in; nil for the scenario itself.
    public let usedFrom: SourceSpan?
  }

  public private(set) var files: [File] = []
  /// What microphones play: WAV files as they are on disk.
  public private(set) var recordings: [(path: String, bytes: [UInt8])] = []

  public init() {}

  mutating func add(path: String, text: String, usedFrom: SourceSpan?) -> Int {
    files.append(File(path: path, text: text, lines: Self.lines(of: text), usedFrom: usedFrom))
    return files.count - 1
  }

  mutating func add(recording bytes: [UInt8], path: String) { recordings.append((path, bytes)) }

  /// The path of a file that the file of a span names.
  func path(of name: String, from span: SourceSpan) -> String {
    Self.resolve(name, from: files.indices.contains(span.file) ? files[span.file].path : "")
  }

  /// `../x.yaml` relative to the file that names it, with `.` and `..` taken out.
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

  /// How a file in a folder names a path: the inverse of ``resolve(_:from:)``.
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

  /// The line a span stands on, or nil for places no file has.
  public func line(at span: SourceSpan) -> String? {
    guard files.indices.contains(span.file), files[span.file].lines.indices.contains(span.line - 1) else { return nil }
    return files[span.file].lines[span.line - 1]
  }

  /// `scenarios/hello.yaml:7:13`.
  public func location(of span: SourceSpan) -> String {
    guard files.indices.contains(span.file) else { return "built in" }
    return "\(files[span.file].path):\(span.line):\(span.column)"
  }

  /// The chain of `use` entries that leads to the file of a span, innermost first.
  public func useChain(of span: SourceSpan) -> [SourceSpan] {
    var chain: [SourceSpan] = []
    var file = span.file
    while files.indices.contains(file), let from = files[file].usedFrom, chain.count < 32 {
      chain.append(from)
      file = from.file
    }
    return chain
  }

  /// Splits as YAML does: LF, CR LF, CR, NEL, LS and PS all end a line.
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
