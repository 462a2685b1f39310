/// A syntax error that ends parsing, with its position.
struct YAMLProblem: Error {
  enum Kind: Equatable {
    // The structure.
    case missingColon, keyNotAllowed, valueNotAllowed, entryNotAllowed, cannotBegin
    case expectedKey, expectedEntry, expectedValue, expectedSequenceEnd, expectedMappingEnd, afterDocument
    // Texts.
    case colonInFlow, tabInText, documentInText, unclosedQuote, unknownEscape, badEscape, noIndentation
    case textAfterIndicator, anchorLike
    // Features of YAML that the format excludes.
    case anchor, alias, complexKey, directive, severalDocuments
    // Limits.
    case tooDeep, tooMany
    case emptyFile
  }

  let kind: Kind
  let mark: YAMLMark
  /// The start of the part that could not be parsed.
  let start: YAMLMark?
  let length: Int

  init(_ kind: Kind, at mark: YAMLMark, since start: YAMLMark? = nil, length: Int = 1) {
    self.kind = kind
    self.mark = mark
    self.start = start
    self.length = length
  }

  private var code: DiagnosticCode {
    switch kind {
    case .anchor, .alias: .anchorOrAlias
    case .complexKey: .keyNotScalar
    case .severalDocuments: .severalDocuments
    case .tooDeep, .tooMany: .tooLarge
    case .emptyFile: .emptyFile
    default: .syntax
    }
  }

  private var message: String {
    switch kind {
    case .missingColon: "a key without ':'"
    case .keyNotAllowed: "a '? ' is not allowed here; quote the value if it is text"
    case .valueNotAllowed: "a ': ' is not allowed here; quote the value if it is text"
    case .entryNotAllowed:
      "a '- ' is not allowed here; quote the value if it is text, or begin the list on the next line"
    case .cannotBegin: "this character cannot begin a value; quote the text"
    case .expectedKey: "a key was expected here; is the indentation right?"
    case .expectedEntry: "expected '-'; is the indentation right?"
    case .expectedValue: "expected a value"
    case .expectedSequenceEnd: "expected ',' or ']'"
    case .expectedMappingEnd: "expected ',' or '}'"
    case .afterDocument: "this belongs to nothing above it; is the indentation right?"
    case .colonInFlow: "within { } and [ ] a text with a ':' before one of , ? [ ] { } needs quotes"
    case .tabInText: "a tab cannot indent YAML"
    case .documentInText: "a '---' or '...' at the start of a line cannot stand in a quoted text; indent it"
    case .unclosedQuote: "the file ends inside a quoted text"
    case .unknownEscape: "this '\\' stands for nothing; write '\\\\', or use single quotes"
    case .badEscape: "this is not the number of a character"
    case .noIndentation: "a text is indented by 1 to 9 columns, not by 0"
    case .textAfterIndicator: "the text begins on the next line"
    case .anchorLike: "'*' and '&' mean something else to YAML here; quote the text"
    case .anchor: "anchors and aliases are not allowed"
    case .alias: "aliases are not allowed"
    case .complexKey: "a key is a plain word"
    case .directive: "directives are not allowed"
    case .severalDocuments: "a second document begins here"
    case .tooDeep: "values nest more than \(YAMLParser.maximumDepth) deep"
    case .tooMany: "the file has too many values"
    case .emptyFile: "the file holds no scenario"
    }
  }

  // MARK: - Diagnostics

  /// Converts the problem to a diagnostic, with a probable cause.
  ///
  /// - Parameter lines: the lines of the text.
  func diagnostic(file: Int, lines: [[Unicode.Scalar]]) -> Diagnostic {
    func diagnostic(
      _ code: DiagnosticCode, _ message: String, _ line: Int, _ column: Int, hint: String? = nil
    ) -> Diagnostic {
      Diagnostic(code, message, at: SourceSpan(file: file, line: line, column: column, length: length), hint: hint)
    }
    guard code == .syntax else {
      return diagnostic(
        code, message, mark.line + 1, mark.column + 1, hint: kind == .complexKey ? "write KEY: VALUE" : nil)
    }
    // A part that is missing at the end is reported after the last line with text.
    let last = max(1, lines.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 1)
    let line = min(mark.line + 1, last)
    let column = line < mark.line + 1 ? lines[line - 1].count + 1 : mark.column + 1
    if let (line, column) = Self.blankIndentation(in: lines, upTo: line) {
      return diagnostic(
        .tabIndentation, "only spaces indent YAML, and this looks like one", line, column, hint: "write it as a space")
    }
    if kind == .cannotBegin || kind == .tabInText,
      let tab = lines[line - 1].prefix(while: { $0 == " " || $0 == "\t" }).firstIndex(of: "\t")
    {
      return diagnostic(.tabIndentation, "a tab cannot indent YAML", line, tab + 1)
    }
    if let (message, hint) = unclosed(lines, foundAt: line), let start {
      return diagnostic(.syntax, message, start.line + 1, start.column + 1, hint: hint)
    }
    if kind == .valueNotAllowed, let (message, hint, column) = Self.listEntry(lines, at: line) {
      return diagnostic(.syntax, message, line, column, hint: hint)
    }
    return diagnostic(.syntax, message, line, column, hint: hint(for: lines[line - 1].prefix(column)))
  }

  /// Returns advice for the problem.
  ///
  /// - Parameter text: the line up to the position of the problem.
  private func hint(for text: ArraySlice<Unicode.Scalar>) -> String? {
    switch kind {
    case .expectedMappingEnd, .expectedSequenceEnd:
      // The parser takes the brace of `${net}` for the start of a mapping.
      text.suffix(2) == ["$", "{"]
        ? "within { } and [ ] a variable needs quotes: \"${…}\""
        : "is a ',' or a closing bracket missing before this? Values that hold any of [ ] { } , or ': ' need quotes"
    case .directive: "leave it out; a scenario is YAML 1.2"
    default: nil
    }
  }

  /// Returns the position of a no-break space or the like in an indentation, where it begins a word.
  private static func blankIndentation(in lines: [[Unicode.Scalar]], upTo line: Int) -> (line: Int, column: Int)? {
    for number in 1...line {
      let indentation = lines[number - 1].prefix { $0.properties.isWhitespace }
      if let column = indentation.firstIndex(where: { $0.value > 0x7F }) { return (number, column + 1) }
    }
    return nil
  }

  /// Returns a message about an unclosed quote or bracket, which is noticed only lines later or at the end of the file.
  private func unclosed(_ lines: [[Unicode.Scalar]], foundAt line: Int) -> (message: String, hint: String?)? {
    guard let start, lines.indices.contains(start.line), start.line + 1 < line || kind == .unclosedQuote else {
      return nil
    }
    let opening = lines[start.line].dropFirst(start.column).first.map(String.init) ?? ""
    return switch kind {
    case .unclosedQuote: ("this quote is not closed", nil)
    case .expectedSequenceEnd, .expectedMappingEnd: ("this '\(opening)' is not closed", nil)
    case .missingColon: (message, "a space follows the ':' of a key")
    default: nil
    }
  }

  /// Returns a message about a line that is taken for text: it does not begin a list entry, or is indented too far, so
  /// that its ': ' is unexpected.
  private static func listEntry(
    _ lines: [[Unicode.Scalar]], at line: Int
  ) -> (message: String, hint: String?, column: Int)? {
    let text = lines[line - 1]
    guard let start = text.firstIndex(where: { $0 != " " }) else { return nil }
    switch text[start] {
    case "-" where start + 1 < text.count && text[start + 1] != " ":
      return ("a space is missing after this '-'", nil, start + 1)
    case "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}", "\u{2212}", "\u{2022}":
      return ("'\(text[start])' begins no list entry", "write '-', the minus of the keyboard", start + 1)
    default:
      let above = lines[..<(line - 1)].last { !$0.allSatisfy { $0 == " " } && $0.first { $0 != " " } != "#" } ?? []
      let indent = above.firstIndex { $0 != " " && $0 != "-" } ?? 0
      // The line above has a key with a value, and this one is deeper.
      guard indent < start, above.contains(":"), above.last != ":" else { return nil }
      let message = "this key stands further to the right than the one above it, which has its value already"
      return (message, "begin it in column \(indent + 1)", start + 1)
    }
  }
}
