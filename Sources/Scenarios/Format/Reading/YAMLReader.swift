import Yams

/// Reads the bytes of one file into a tree of nodes with places, and reports what YAML itself forbids here.
struct YAMLReader {
  static let maximumByteCount = 1 << 20
  static let maximumDepth = 64
  static let maximumNodeCount = 100_000
  /// How much text is read again for the sake of duplicate keys.
  private static let rereadByteCount = 1 << 20

  private let file: Int
  private let lines: [[Unicode.Scalar]]
  private(set) var diagnostics: [Diagnostic] = []
  private var nodeCount = 0
  /// Duplicate keys that were renamed so that the library accepts them, by their stand-ins.
  private var renamed: [String: String] = [:]
  private var isStopped = false

  /// Reads `bytes` as the file `path`, which is added to `sources`.
  static func read(
    _ bytes: [UInt8], path: String, usedFrom: SourceSpan?, into sources: inout SourceMap,
    diagnostics: inout [Diagnostic]
  ) -> YAMLNode? {
    let text = String(validating: bytes, as: UTF8.self)
    let shown = bytes.count > maximumByteCount ? "" : text ?? String(decoding: bytes, as: UTF8.self)
    let withoutMark = shown.unicodeScalars.first == "\u{FEFF}" ? String(shown.unicodeScalars.dropFirst()) : shown
    let file = sources.add(path: path, text: withoutMark, usedFrom: usedFrom)
    guard bytes.count <= maximumByteCount else {
      let size = SourceSpan(file: file, line: 1, column: 1)
      diagnostics.append(Diagnostic(.tooLarge, "the file is larger than 1 MiB", at: size))
      return nil
    }
    guard text != nil else {
      let (line, column) = firstReplacement(in: sources.files[file].lines)
      let place = SourceSpan(file: file, line: line, column: column)
      diagnostics.append(Diagnostic(.notUTF8, "the file is not UTF-8", at: place))
      return nil
    }
    var reader = YAMLReader(file: file, lines: sources.files[file].lines.map { Array($0.unicodeScalars) })
    let node = reader.parse(withoutMark)
    diagnostics += reader.diagnostics
    return node
  }

  private init(file: Int, lines: [[Unicode.Scalar]]) {
    self.file = file
    self.lines = lines
  }

  private static func firstReplacement(in lines: [String]) -> (Int, Int) {
    for (number, line) in lines.enumerated() {
      for (column, scalar) in line.unicodeScalars.enumerated() where scalar == "\u{FFFD}" {
        return (number + 1, column + 1)
      }
    }
    return (1, 1)
  }

  private func span(_ line: Int, _ column: Int, length: Int = 1) -> SourceSpan {
    SourceSpan(file: file, line: line, column: column, length: length)
  }

  private func span(_ mark: Mark?) -> SourceSpan { span(mark?.line ?? 1, mark?.column ?? 1) }

  // MARK: - The library

  private mutating func parse(_ text: String) -> YAMLNode? {
    guard !refusesManyAliases() else { return nil }
    var lines = self.lines
    // Every round renames one duplicate key, so that one mistake does not hide all others. A round reads all of the
    // text, so a long one has fewer.
    let rounds = max(1, min(64, Self.rereadByteCount / max(1, text.utf8.count)))
    for round in 0..<rounds {
      // The padding keeps short texts out of the inline string form, whose bytes move while the library holds them.
      let source = round == 0 ? text : lines.map { String(String.UnicodeScalarView($0)) }.joined(separator: "\n")
      do throws(YamlFailure) {
        return try compose(source + String(repeating: "\n", count: 32))
      } catch {
        guard case .duplicatedKeysInMapping(let names, let context) = error.error, round < rounds - 1,
          rename(names.first ?? "", at: context.mark, in: &lines)
        else {
          report(error.error)
          return nil
        }
      }
    }
    return nil
  }

  private struct YamlFailure: Error { let error: YamlError }

  private mutating func compose(_ text: String) throws(YamlFailure) -> YAMLNode? {
    do {
      let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
      guard let root = try parser.nextRoot() else {
        diagnostics.append(Diagnostic(.emptyFile, "the file holds no scenario", at: span(1, 1)))
        return nil
      }
      let node = convert(root, depth: 0)
      if let second = try parser.nextRoot() {
        let line = documentStart(before: second.mark?.line ?? 1)
        diagnostics.append(Diagnostic(.severalDocuments, "a second document begins here", at: span(line, 1, length: 3)))
        return nil
      }
      return isStopped ? nil : withoutNothing(node)
    } catch let error as YamlError {
      diagnostics.removeAll()
      isStopped = false
      nodeCount = 0
      throw YamlFailure(error: error)
    } catch {
      throw YamlFailure(error: .no)
    }
  }

  /// A document that is only `~`, or only comments, is an empty file.
  private mutating func withoutNothing(_ node: YAMLNode) -> YAMLNode? {
    guard node.scalar?.coreType == .null else { return node }
    diagnostics.append(Diagnostic(.emptyFile, "the file holds no scenario", at: span(1, 1)))
    return nil
  }

  private func documentStart(before line: Int) -> Int {
    var number = min(line, lines.count)
    while number > 1 {
      if lines[number - 1].starts(with: "---".unicodeScalars) { return number }
      number -= 1
    }
    return line
  }

  /// Aliases in keys would be compared before they can be refused, which takes exponential time for nested ones.
  private mutating func refusesManyAliases() -> Bool {
    var count = 0
    for (number, line) in lines.enumerated() {
      for column in line.indices where line[column] == "*" {
        let opens = column == 0 || " \t[{,:?-".unicodeScalars.contains(line[column - 1])
        guard opens, column + 1 < line.count, line[column + 1].properties.isAlphabetic || line[column + 1] == "_" else {
          continue
        }
        count += 1
        if count > 32 {
          diagnostics.append(
            Diagnostic(.anchorOrAlias, "aliases are not allowed", at: span(number + 1, column + 1)))
          return true
        }
      }
    }
    return false
  }

  /// Replaces one letter of a key by a private-use one of the same width, so that all places stay right.
  private mutating func rename(_ name: String, at mark: Mark, in lines: inout [[Unicode.Scalar]]) -> Bool {
    guard lines.indices.contains(mark.line - 1), let first = name.unicodeScalars.first,
      let standIn = Unicode.Scalar(0xE000 + UInt32(renamed.count))
    else { return false }
    var column = mark.column - 1
    let line = lines[mark.line - 1]
    if line.indices.contains(column), line[column] == "\"" || line[column] == "'" { column += 1 }
    guard line.indices.contains(column), line[column] == first else { return false }
    lines[mark.line - 1][column] = standIn
    renamed[String(String.UnicodeScalarView([standIn] + name.unicodeScalars.dropFirst()))] = name
    return true
  }

  private mutating func report(_ error: YamlError) {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      reportSyntax(problem, at: mark, begunAt: context?.mark)
    case .reader(let problem, let offset, _, let yaml):
      let before = SourceMap.lines(of: String(yaml.prefix(offset ?? 0)))
      let place = span(before.count, (before.last?.unicodeScalars.count ?? 0) + 1)
      diagnostics.append(Diagnostic(.syntax, Self.inOurWords(problem), at: place))
    case .duplicatedKeysInMapping(let names, let context):
      let name = YAMLNode.abbreviated(names.first ?? "")
      diagnostics.append(Diagnostic(.duplicateKey, "the key '\(name)' is given twice", at: span(context.mark)))
    default:
      diagnostics.append(Diagnostic(.syntax, "the file is not valid YAML", at: span(1, 1)))
    }
  }

  /// - Parameter start: where what could not be read begins.
  private mutating func reportSyntax(_ problem: String, at mark: Mark, begunAt start: Mark?) {
    // The mark of a missing end lies behind the padding.
    let last = max(1, lines.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 1)
    let line = min(mark.line, last)
    let column = line < mark.line ? lines[line - 1].count + 1 : mark.column
    if let blank = blankIndentation(upTo: line) {
      diagnostics.append(
        Diagnostic(
          .tabIndentation, "only spaces indent YAML, and this looks like one", at: blank, hint: "write it as a space"))
      return
    }
    let isTab = lines[line - 1].prefix(while: { $0 == " " || $0 == "\t" }).contains("\t")
    if isTab, problem.contains("cannot start any token") || problem.contains("tab") {
      let tab = lines[line - 1].firstIndex(of: "\t") ?? 0
      diagnostics.append(Diagnostic(.tabIndentation, "a tab cannot indent YAML", at: span(line, tab + 1)))
      return
    }
    if problem.contains("undefined alias") {
      diagnostics.append(Diagnostic(.anchorOrAlias, "aliases are not allowed", at: span(line, column)))
      return
    }
    if problem.contains("nesting level") {
      diagnostics.append(
        Diagnostic(.tooLarge, "values nest more than \(Self.maximumDepth) deep", at: span(line, column)))
      return
    }
    if let start, reportUnclosed(problem, begunAt: start, foundAt: line) { return }
    if problem.contains("mapping values are not allowed"), reportListEntry(at: line) { return }
    guard problem.contains("did not find expected ','") else {
      diagnostics.append(Diagnostic(.syntax, Self.inOurWords(problem), at: span(line, column)))
      return
    }
    // Of `${net}` the brace is what the reader stumbles over.
    let isVariable = lines[line - 1].prefix(column).suffix(2) == ["$", "{"]
    let hint =
      isVariable
      ? "within { } and [ ] a variable needs quotes: \"${…}\""
      : "is a ',' or a closing bracket missing before this? Values that hold any of [ ] { } , or ': ' need quotes"
    diagnostics.append(Diagnostic(.syntax, Self.inOurWords(problem), at: span(line, column), hint: hint))
  }

  /// A no-break space or its like before the text of a line: it begins a word, and what follows is misread.
  private func blankIndentation(upTo line: Int) -> SourceSpan? {
    for number in 1...line {
      let indentation = lines[number - 1].prefix { $0.properties.isWhitespace }
      if let column = indentation.firstIndex(where: { $0.value > 0x7F }) { return span(number, column + 1) }
    }
    return nil
  }

  /// What is opened and never closed is noticed where something else begins: at the end of the file, or lines later.
  private mutating func reportUnclosed(_ problem: String, begunAt start: Mark, foundAt line: Int) -> Bool {
    guard lines.indices.contains(start.line - 1), start.line < line || problem.contains("end of stream") else {
      return false
    }
    let opening = lines[start.line - 1].dropFirst(start.column - 1).first.map(String.init) ?? ""
    let place = span(start.line, start.column)
    switch problem {
    case "found unexpected end of stream":
      diagnostics.append(Diagnostic(.syntax, "this quote is not closed", at: place))
    case "did not find expected ',' or ']'", "did not find expected ',' or '}'":
      diagnostics.append(Diagnostic(.syntax, "this '\(opening)' is not closed", at: place))
    case "could not find expected ':'":
      diagnostics.append(
        Diagnostic(.syntax, Self.inOurWords(problem), at: place, hint: "a space follows the ':' of a key"))
    default: return false
    }
    return true
  }

  /// What is read as text because it does not begin a list entry, or stands too far to the right, has a ': ' too many.
  private mutating func reportListEntry(at line: Int) -> Bool {
    let text = lines[line - 1]
    guard let start = text.firstIndex(where: { $0 != " " }) else { return false }
    let place = span(line, start + 1)
    switch text[start] {
    case "-" where start + 1 < text.count && text[start + 1] != " ":
      diagnostics.append(Diagnostic(.syntax, "a space is missing after this '-'", at: place))
    case "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}", "\u{2212}", "\u{2022}":
      diagnostics.append(
        Diagnostic(
          .syntax, "'\(text[start])' begins no list entry", at: place, hint: "write '-', the minus of the keyboard"))
    default:
      let above = lines[..<(line - 1)].last { !$0.allSatisfy { $0 == " " } && $0.first { $0 != " " } != "#" } ?? []
      let indent = above.firstIndex { $0 != " " && $0 != "-" } ?? 0
      // A key of the entry above, and deeper than it.
      guard indent < start, above.contains(":"), above.last != ":" else { return false }
      let message = "this key stands further to the right than the one above it, which has its value already"
      diagnostics.append(Diagnostic(.syntax, message, at: place, hint: "begin it in column \(indent + 1)"))
    }
    return true
  }

  private static func inOurWords(_ problem: String) -> String {
    switch problem {
    case "mapping values are not allowed in this context": "a ': ' is not allowed here; quote the value if it is text"
    case "could not find expected ':'": "a key without ':'"
    case "did not find expected key": "a key was expected here; is the indentation right?"
    case "did not find expected ',' or ']'": "expected ',' or ']'"
    case "did not find expected ',' or '}'": "expected ',' or '}'"
    case "did not find expected '-' indicator": "expected '-'; is the indentation right?"
    case "found unexpected end of stream": "the file ends inside a quoted text"
    case "did not find expected alphabetic or numeric character":
      "'*' and '&' mean something else to YAML here; quote the text"
    case "block sequence entries are not allowed in this context":
      "a '- ' is not allowed here; quote the value if it is text, or begin the list on the next line"
    case "found character that cannot start any token": "this character cannot begin a value; quote the text"
    default: problem
    }
  }

  // MARK: - Our own tree

  private mutating func convert(_ node: Node, depth: Int, isKey: Bool = false) -> YAMLNode {
    let place = span(node.mark)
    nodeCount += 1
    let nothing = YAMLNode(content: .scalar(YAMLScalar(text: "", isPlain: true)), span: place)
    guard !isStopped else { return nothing }
    guard depth <= Self.maximumDepth, nodeCount <= Self.maximumNodeCount else {
      let what =
        depth > Self.maximumDepth ? "values nest more than \(Self.maximumDepth) deep" : "the file has too many values"
      diagnostics.append(Diagnostic(.tooLarge, what, at: place))
      isStopped = true
      return nothing
    }
    guard node.anchor == nil else {
      // What follows could be aliases of this; nothing after it is read.
      diagnostics.append(
        Diagnostic(.anchorOrAlias, "anchors and aliases are not allowed", at: anchorPlace(near: place)))
      isStopped = true
      return nothing
    }
    switch node {
    case .scalar(let scalar):
      return convert(scalar, at: place, isKey: isKey)
    case .sequence(let sequence):
      refuse(tag: sequence.tag, at: place)
      return YAMLNode(content: .sequence(sequence.map { convert($0, depth: depth + 1) }), span: place)
    case .mapping(let mapping):
      refuse(tag: mapping.tag, at: place)
      return YAMLNode(content: .mapping(entries(of: mapping, depth: depth)), span: place)
    case .alias:
      diagnostics.append(Diagnostic(.anchorOrAlias, "aliases are not allowed", at: place))
      isStopped = true
      return nothing
    }
  }

  private mutating func refuse(tag: Tag, at place: SourceSpan) {
    guard tag.rawValue != Tag.Name.implicit.rawValue else { return }
    diagnostics.append(Diagnostic(.tag, "tags are not allowed", at: place, hint: "write not for !, or quote the text"))
  }

  /// The mark of an anchored node is where its anchor stands, or its content; either is a fair place.
  private func anchorPlace(near place: SourceSpan) -> SourceSpan {
    guard lines.indices.contains(place.line - 1) else { return place }
    let line = lines[place.line - 1]
    let start = min(max(0, place.column - 1), line.count)
    guard let at = line[..<min(line.count, start + 1)].lastIndex(where: { $0 == "&" || $0 == "*" }) else {
      return place
    }
    let length = line[at...].prefix { $0 != " " && $0 != "," && $0 != "]" && $0 != "}" }.count
    return span(place.line, at + 1, length: length)
  }

  private mutating func entries(of mapping: Node.Mapping, depth: Int) -> [YAMLNode.Entry] {
    var entries: [YAMLNode.Entry] = []
    for (key, value) in mapping {
      guard !isStopped else { break }
      guard case .scalar(let scalar) = key else {
        diagnostics.append(Diagnostic(.keyNotScalar, "a key is a plain word", at: span(key.mark)))
        continue
      }
      let converted = convert(key, depth: depth + 1, isKey: true)
      let name = renamed[scalar.string] ?? scalar.string
      var keySpan = converted.span
      keySpan.length = max(keySpan.length, name.unicodeScalars.count)
      if let first = entries.first(where: { $0.key == name }) {
        let message =
          "the key '\(YAMLNode.abbreviated(name))' was given already at \(first.keySpan.line):\(first.keySpan.column)"
        diagnostics.append(Diagnostic(.duplicateKey, message, at: keySpan))
        _ = convert(value, depth: depth + 1)
        continue
      }
      if converted.scalar?.isPlain == true, Self.yaml11Words.contains(name.lowercased()) {
        let hint = "if it is a name, write \"\(name)\", in quotes"
        diagnostics.append(Diagnostic(.yaml11Key, "no key is spelled '\(name)'", at: keySpan, hint: hint))
      }
      entries.append(YAMLNode.Entry(key: name, keySpan: keySpan, value: convert(value, depth: depth + 1)))
    }
    return entries
  }

  private static let yaml11Words = ["yes", "no", "on", "off"]

  private mutating func convert(_ scalar: Node.Scalar, at place: SourceSpan, isKey: Bool) -> YAMLNode {
    let isPlain = scalar.style == .plain || scalar.style == .any
    // The library itself tags quoted scalars, and keys when it compares them.
    if scalar.tag.rawValue != Tag.Name.str.rawValue || (isPlain && !isKey) { refuse(tag: scalar.tag, at: place) }
    let text = scalar.string
    let extent = ScalarExtent(text: text, lines: lines, line: place.line, column: place.column)
    var value = YAMLScalar(text: text, isPlain: isPlain)
    if !extent.isSimple {
      value.positions = extent.places.map { span($0.line, $0.column) }
    }
    return YAMLNode(content: .scalar(value), span: span(place.line, place.column, length: extent.length))
  }
}

/// Where the letters of a scalar's value stand in the file, found by walking along the source text.
private struct ScalarExtent {
  /// Whether letter n simply stands n columns after the scalar's place.
  let isSimple: Bool
  let places: [(line: Int, column: Int)]
  /// Columns of the whole scalar on its first line, quotes included.
  let length: Int

  init(text: String, lines: [[Unicode.Scalar]], line: Int, column: Int) {
    let letters = Array(text.unicodeScalars)
    guard lines.indices.contains(line - 1), column >= 1, column - 1 < lines[line - 1].count else {
      (isSimple, places, length) = (true, [], 1)
      return
    }
    let first = lines[line - 1]
    if first[(column - 1)...].starts(with: letters) {
      (isSimple, places, length) = (true, [], max(1, letters.count))
      return
    }
    let opening = first[column - 1]
    let isQuoted = opening == "\"" || opening == "'"
    let isBlock = opening == "|" || opening == ">"
    var walk = Walk(lines: lines, line: line - 1, column: isBlock ? first.count : column - (isQuoted ? 0 : 1))
    var found: [(line: Int, column: Int)] = []
    for letter in letters { found.append(walk.find(letter, isSingleQuoted: opening == "'")) }
    isSimple = false
    places = found
    length = Self.firstLineLength(
      first, from: column - 1, quoted: isQuoted, endsOnFirst: walk.line == line - 1, end: walk.column)
  }

  private static func firstLineLength(
    _ line: [Unicode.Scalar], from start: Int, quoted: Bool, endsOnFirst: Bool, end: Int
  ) -> Int {
    guard endsOnFirst else {
      let last = line.lastIndex { $0 != " " } ?? start
      return max(1, last - start + 1)
    }
    return max(1, end - start + (quoted ? 1 : 0))
  }

  private struct Walk {
    let lines: [[Unicode.Scalar]]
    var line: Int
    var column: Int

    private var current: Unicode.Scalar? { column < lines[line].count ? lines[line][column] : nil }

    /// The place of the next letter of the value; folding, indentation, and escapes are stepped over.
    mutating func find(_ letter: Unicode.Scalar, isSingleQuoted: Bool) -> (line: Int, column: Int) {
      if letter == " " || letter == "\n" || letter == "\t" {
        let place = (line: line + 1, column: column + 1)
        if current == letter { column += 1 } else if current == nil { nextLine() }
        return place
      }
      while current != letter, current == nil || current == " " || current == "\t" {
        if current == nil {
          guard line + 1 < lines.count else { break }
          nextLine()
        } else {
          column += 1
        }
      }
      let place = (line: line + 1, column: column + 1)
      if current == "\\", letter != "\\" {
        column += Self.escapeLength(at: column, in: lines[line])
      } else if current != nil {
        column += current == "\\" || (isSingleQuoted && letter == "'") ? 2 : 1
      }
      column = min(column, lines[line].count)
      return place
    }

    private mutating func nextLine() {
      guard line + 1 < lines.count else { return }
      line += 1
      column = 0
    }

    private static func escapeLength(at column: Int, in line: [Unicode.Scalar]) -> Int {
      guard column + 1 < line.count else { return 1 }
      return switch line[column + 1] {
      case "x": 4
      case "u": 6
      case "U": 10
      default: 2
      }
    }
  }
}
