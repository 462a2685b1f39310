internal import Formats

/// A sorted list of diagnostics that can be rendered in several styles.
public struct DiagnosticReport: Sendable {
  /// An output format.
  public enum Style: Sendable {
    /// Text for a terminal: each problem with its line and carets.
    case text(color: Bool)
    /// One JSON array.
    case json
    /// Workflow commands of GitHub, which become annotations of lines.
    case github
  }

  /// The diagnostics without duplicates, sorted by location.
  public let diagnostics: [Diagnostic]
  /// The files to which locations refer.
  public let sources: SourceMap
  /// The number of diagnostics that are shown; the rest is counted.
  public var limit = 20

  /// Sorts the diagnostics by location and drops duplicates.
  public init(_ diagnostics: [Diagnostic], sources: SourceMap) {
    var seen: Set<String> = []
    var cells: [String: String?] = [:]
    // A diagnostic that several cells share is reported once, for the first of them.
    let distinct = diagnostics.filter { item in
      let place = "\(item.code.rawValue) \(item.span.file) \(item.span.line) \(item.span.column)"
      if let cell = cells[place], cell != item.cell { return false }
      cells[place] = item.cell
      return seen.insert(
        "\(item.code.rawValue) \(item.span.file) \(item.span.line) \(item.span.column) \(item.message)"
      )
      .inserted
    }
    self.diagnostics = distinct.enumerated()
      .sorted { ($0.element.span, $0.offset) < ($1.element.span, $1.offset) }
      .map(\.element)
    self.sources = sources
  }

  /// Renders the report in a style.
  public func rendered(as style: Style) -> String {
    switch style {
    case .text(let color): text(color: color)
    case .json: json
    case .github: github
    }
  }

  /// The errors, for reports of a suite.
  public var errors: [FileProblem] {
    diagnostics.filter { $0.code.severity == .error }.map { item in
      FileProblem(
        path: path(of: item), place: (item.span.line, item.span.column), code: item.code.rawValue,
        message: Self.sentence(item))
    }
  }

  private func path(of item: Diagnostic) -> String {
    sources.files.indices.contains(item.span.file) ? sources.files[item.span.file].path : ""
  }

  /// Returns the message with its cell and its hint, for reports without an excerpt.
  private static func sentence(_ item: Diagnostic) -> String {
    item.message + cell(item) + (item.hint.map { "; \($0)" } ?? "")
  }

  private var shown: ArraySlice<Diagnostic> { diagnostics.prefix(limit) }
  private var hidden: Int { max(0, diagnostics.count - limit) }

  private func text(color: Bool) -> String {
    let paint = { (text: String, code: String) in color ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
    let folded = folded
    var out = ""
    for (item, others) in folded.prefix(limit) {
      let isError = item.code.severity == .error
      let label = paint("\(item.code.severity.rawValue)[\(item.code.rawValue)]", isError ? "1;31" : "1;33")
      out +=
        "\(Self.printable(sources.location(of: item.span))): \(label): \(Self.printable(item.message))\(Self.cell(item))\n"
      out += excerpt(item, paint: paint)
      if !others.isEmpty { out += "   = and at \(Self.places(others))\n" }
      for use in sources.useChain(of: item.span) {
        out += "   = used from \(Self.printable(sources.location(of: use)))\n"
      }
    }
    let hidden = folded.count - limit
    if hidden > 0 { out += "and \(hidden) more, once these are mended or with --format json\n" }
    return out
  }

  /// The diagnostics, each message once, with further locations of the same message in the same file.
  private var folded: [(item: Diagnostic, others: [SourceSpan])] {
    var folded: [(item: Diagnostic, others: [SourceSpan])] = []
    var places: [String: Int] = [:]
    for item in diagnostics {
      let words = "\(item.span.file) \(item.code.rawValue) \(item.message) \(item.hint ?? "")"
      if let place = places[words] {
        folded[place].others.append(item.span)
      } else {
        places[words] = folded.count
        folded.append((item, []))
      }
    }
    return folded
  }

  private static func places(_ spans: [SourceSpan]) -> String {
    let places = spans.prefix(8).map { "\($0.line):\($0.column)" } + (spans.count > 8 ? ["…"] : [])
    return places.joined(separator: ", ")
  }

  private func excerpt(_ item: Diagnostic, paint: (String, String) -> String) -> String {
    let help = Self.help(item)
    guard let line = sources.line(at: item.span) else { return help.isEmpty ? "" : "   = \(help)\n" }
    let number = "\(item.span.line)"
    let gutter = String(repeating: " ", count: number.count)
    let scalars = Array(line.unicodeScalars)
    let start = min(max(0, item.span.column - 1), scalars.count)
    // Long lines are cut to the part around the location.
    let from = start > 100 ? start - 60 : 0
    let upTo = min(scalars.count, from + 160)
    let piece = String(String.UnicodeScalarView(scalars[from..<upTo]))
    let ellipsis = from > 0 ? "…" : ""
    let shift = String(scalars[from..<start].map { $0 == "\t" ? "\t" : " " }) + (from > 0 ? " " : "")
    let run = max(1, min(item.span.length, max(1, upTo - start)))
    let carets = paint(String(repeating: "^", count: run), "1;32")
    var out = " \(number) | \(ellipsis)\(Self.printable(piece))\n"
    out += " \(gutter) | \(shift)\(carets)\(help.isEmpty ? "" : " " + help)\n"
    return out
  }

  private static func help(_ item: Diagnostic) -> String {
    let explain = item.explain.map { "(\(ProgramName.current) explain \($0))" }
    return [item.hint.map(printable), explain].compactMap(\.self).joined(separator: "  ")
  }

  private static func cell(_ item: Diagnostic) -> String { item.cell.map { " (in cell \($0))" } ?? "" }

  private static func printable(_ text: String) -> String { TextStyle.printable(text) }

  private var json: String {
    // Programs need all diagnostics, so the limit does not apply.
    let items = diagnostics.map { item in
      var fields = [
        ("code", item.code.rawValue), ("severity", item.code.severity.rawValue), ("message", item.message),
        ("path", path(of: item)),
      ]
      if let hint = item.hint { fields.append(("hint", hint)) }
      if let explain = item.explain { fields.append(("explain", explain)) }
      if let cell = item.cell { fields.append(("cell", cell)) }
      let texts = fields.map { "\(JSON.string($0.0).description):\(JSON.string($0.1).description)" }
      let chain = sources.useChain(of: item.span).map { JSON.string(sources.location(of: $0)).description }
      let place = "\"line\":\(item.span.line),\"column\":\(item.span.column),\"length\":\(item.span.length)"
      return "{" + (texts + [place, "\"usedFrom\":[\(chain.joined(separator: ","))]"]).joined(separator: ",") + "}"
    }
    return "[" + items.joined(separator: ",\n ") + "]\n"
  }

  private var github: String {
    let escape = WorkflowCommand.escape
    var out = ""
    for item in shown {
      let place = "file=\(escape(path(of: item), true)),line=\(item.span.line),col=\(item.span.column)"
      out += "::\(item.code.severity.rawValue) \(place),endColumn=\(item.span.column + item.span.length),"
      out += "title=\(item.code.rawValue)::\(escape(Self.sentence(item), false))\n"
    }
    if hidden > 0 { out += "::notice::and \(hidden) more\n" }
    return out
  }
}
