/// Builds a tree of nodes from the tokens of a text.
struct YAMLParser {
  static let maximumDepth = 64
  static let maximumNodeCount = 100_000
  /// The limit of reported duplicate keys.
  private static let maximumDuplicateCount = 64

  private let file: Int
  private var scanner: YAMLScanner
  private(set) var diagnostics: [Diagnostic] = []
  private var nodeCount = 0
  private var duplicateCount = 0

  /// Creates a parser.
  ///
  /// - Parameter bytes: UTF-8 without control characters.
  init(_ bytes: [UInt8], file: Int) {
    self.file = file
    scanner = YAMLScanner(bytes)
  }

  private func span(_ mark: YAMLMark, length: Int = 1) -> SourceSpan {
    SourceSpan(file: file, line: mark.line + 1, column: mark.column + 1, length: length)
  }

  /// Parses the single document of a text.
  mutating func document() throws(YAMLProblem) -> YAMLNode {
    let first = try scanner.peek()
    if case .streamEnd = first.kind { throw YAMLProblem(.emptyFile, at: YAMLMark()) }
    var root = empty(at: first.end)
    if case .documentStart = first.kind {
      let start = try scanner.take()
      root = empty(at: start.end)
    }
    switch try scanner.peek().kind {
    case .documentStart, .documentEnd, .streamEnd: break
    default: root = try node(isBlock: true, depth: 0)
    }
    while case .documentEnd = try scanner.peek().kind { _ = try scanner.take() }
    let next = try scanner.peek()
    switch next.kind {
    case .streamEnd: break
    case .documentStart: throw YAMLProblem(.severalDocuments, at: next.start, length: 3)
    default: throw YAMLProblem(.afterDocument, at: next.start)
    }
    // A document that contains only `~` is as empty as one with comments only.
    if root.scalar?.coreType == .null { throw YAMLProblem(.emptyFile, at: YAMLMark()) }
    return root
  }

  // MARK: - Nodes

  /// Parses a node.
  ///
  /// - Parameters:
  ///   - isBlock: whether a block collection is permitted.
  ///   - isValue: whether it is the value of a key, so that the '-' of a list may be in the column of the key.
  private mutating func node(
    isBlock: Bool, isValue: Bool = false, depth: Int
  ) throws(YAMLProblem) -> YAMLNode {
    let isTagged = try refuseTags()
    let token = try scanner.peek()
    try count(at: token.start, depth: depth)
    switch token.kind {
    case .scalar(let scalar):
      _ = try scanner.take()
      return self.scalar(scalar, token)
    case .flowSequenceStart: return try flowSequence(depth: depth)
    case .flowMappingStart: return try flowMapping(depth: depth)
    case .blockSequenceStart where isBlock:
      _ = try scanner.take()
      return try blockSequence(from: token.start, depth: depth)
    case .blockEntry where isValue: return try indentlessSequence(from: token.start, depth: depth)
    case .blockMappingStart where isBlock: return try blockMapping(depth: depth)
    default:
      guard isTagged else { throw YAMLProblem(.expectedValue, at: token.start) }
      return empty(at: token.start)
    }
  }

  private mutating func refuseTags() throws(YAMLProblem) -> Bool {
    var isTagged = false
    while case .tag = try scanner.peek().kind {
      let token = try scanner.take()
      let place = span(token.start, length: token.end.column - token.start.column)
      diagnostics.append(
        Diagnostic(.tag, "tags are not allowed", at: place, hint: "write not for !, or quote the text"))
      isTagged = true
    }
    return isTagged
  }

  private mutating func count(at mark: YAMLMark, depth: Int) throws(YAMLProblem) {
    nodeCount += 1
    guard depth <= Self.maximumDepth else { throw YAMLProblem(.tooDeep, at: mark) }
    guard nodeCount <= Self.maximumNodeCount else { throw YAMLProblem(.tooMany, at: mark) }
  }

  /// Returns the node of an omitted value, as in `key:`.
  private func empty(at mark: YAMLMark) -> YAMLNode {
    YAMLNode(
      content: .scalar(YAMLScalar(text: "", isPlain: true)), span: span(mark), range: mark.offset..<mark.offset)
  }

  private func scalar(_ scanned: YAMLScannedScalar, _ token: YAMLToken) -> YAMLNode {
    var value = YAMLScalar(text: scanned.text, isPlain: scanned.style == .plain)
    value.positions = scanned.places?.map { span($0) }
    let isOneLine = token.end.line == token.start.line
    let length = isOneLine ? token.end.column - token.start.column : lengthOfLine(from: token.start)
    return YAMLNode(
      content: .scalar(value), span: span(token.start, length: length), style: scanned.style,
      range: token.start.offset..<trimmed(token.end.offset, from: token.start.offset))
  }

  /// Returns the columns from a position to the last character of its line other than a space.
  private func lengthOfLine(from mark: YAMLMark) -> Int {
    var (length, column) = (1, 0)
    for byte in scanner.bytes[mark.offset...] where byte & 0xC0 != 0x80 {
      if byte == 0x0A || byte == 0x0D { break }
      column += 1
      if byte != 0x20 { length = column }
    }
    return length
  }

  /// Returns the end of a scalar without trailing blanks and line breaks.
  private func trimmed(_ end: Int, from start: Int) -> Int {
    var end = end
    while end > start + 1, [0x20, 0x09, 0x0A, 0x0D].contains(scanner.bytes[end - 1]) { end -= 1 }
    return end
  }

  private func collection(_ content: YAMLNode.Content, _ style: YAMLNode.Style, from start: YAMLMark, to end: Int)
    -> YAMLNode
  {
    YAMLNode(content: content, span: span(start), style: style, range: start.offset..<max(start.offset, end))
  }

  // MARK: - Lists

  private mutating func blockSequence(from start: YAMLMark, depth: Int) throws(YAMLProblem) -> YAMLNode {
    var items: [YAMLNode] = []
    while true {
      let token = try scanner.take()
      switch token.kind {
      case .blockEntry: items.append(try item(after: token, depth: depth))
      case .blockEnd: return collection(.sequence(items), .block, from: start, to: items.last?.range.upperBound ?? 0)
      default: throw YAMLProblem(.expectedEntry, at: token.start, since: start)
      }
    }
  }

  private mutating func indentlessSequence(from start: YAMLMark, depth: Int) throws(YAMLProblem) -> YAMLNode {
    var items: [YAMLNode] = []
    while case .blockEntry = try scanner.peek().kind {
      let token = try scanner.take()
      items.append(try item(after: token, depth: depth))
    }
    return collection(.sequence(items), .block, from: start, to: items.last?.range.upperBound ?? 0)
  }

  private mutating func item(after dash: YAMLToken, depth: Int) throws(YAMLProblem) -> YAMLNode {
    switch try scanner.peek().kind {
    case .blockEntry, .blockEnd, .key, .value: return empty(at: dash.end)
    default: return try node(isBlock: true, depth: depth + 1)
    }
  }

  private mutating func flowSequence(depth: Int) throws(YAMLProblem) -> YAMLNode {
    let start = try scanner.take().start
    var items: [YAMLNode] = []
    while true {
      if case .flowSequenceEnd = try scanner.peek().kind { break }
      if !items.isEmpty {
        let token = try scanner.peek()
        guard case .flowEntry = token.kind else {
          throw YAMLProblem(.expectedSequenceEnd, at: token.start, since: start)
        }
        _ = try scanner.take()
        if case .flowSequenceEnd = try scanner.peek().kind { break }
      }
      if case .key = try scanner.peek().kind {
        items.append(try pair(depth: depth + 1))
      } else {
        items.append(try node(isBlock: false, depth: depth + 1))
      }
    }
    return collection(.sequence(items), .flow, from: start, to: try scanner.take().end.offset)
  }

  // MARK: - Mappings

  /// The entries of a mapping during parsing, each key once.
  private struct Entries {
    var entries: [YAMLNode.Entry] = []
    private var places: [String: SourceSpan] = [:]

    /// Records a key; returns the location of an earlier entry with the same key.
    mutating func note(_ key: String, at span: SourceSpan) -> SourceSpan? {
      if let first = places[key] { return first }
      places[key] = span
      return nil
    }
  }

  static let yaml11Words = ["yes", "no", "on", "off"]

  /// Returns the name of a key; nil after reporting that the entry is invalid.
  private mutating func name(of key: YAMLNode, in entries: inout Entries) -> (name: String, span: SourceSpan)? {
    guard let scalar = key.scalar else {
      diagnostics.append(Diagnostic(.keyNotScalar, "a key is a plain word", at: key.span))
      return nil
    }
    let name = scalar.text
    var place = key.span
    place.length = max(place.length, name.unicodeScalars.count)
    if let first = entries.note(name, at: place) {
      duplicateCount += 1
      if duplicateCount <= Self.maximumDuplicateCount {
        let message = "the key '\(YAMLNode.abbreviated(name))' was given already at \(first.line):\(first.column)"
        diagnostics.append(Diagnostic(.duplicateKey, message, at: place))
      }
      return nil
    }
    if scalar.isPlain, Self.yaml11Words.contains(name.lowercased()) {
      let hint = "if it is a name, write \"\(name)\", in quotes"
      diagnostics.append(Diagnostic(.yaml11Key, "no key is spelled '\(name)'", at: place, hint: hint))
    }
    return (name, place)
  }

  private mutating func blockMapping(depth: Int) throws(YAMLProblem) -> YAMLNode {
    let start = try scanner.take().start
    var entries = Entries()
    var end = start.offset
    while true {
      let token = try scanner.take()
      if case .blockEnd = token.kind { break }
      guard case .key = token.kind else { throw YAMLProblem(.expectedKey, at: token.start, since: start) }
      let key = try node(isBlock: true, isValue: true, depth: depth + 1)
      let named = name(of: key, in: &entries)
      let value = try blockValue(depth: depth + 1)
      end = max(key.range.upperBound, value.range.upperBound)
      guard let (name, place) = named else { continue }
      entries.entries.append(YAMLNode.Entry(key: name, keySpan: place, keyRange: key.range, value: value))
    }
    return collection(.mapping(entries.entries), .block, from: start, to: end)
  }

  private mutating func blockValue(depth: Int) throws(YAMLProblem) -> YAMLNode {
    let token = try scanner.peek()
    guard case .value = token.kind else { return empty(at: token.start) }
    _ = try scanner.take()
    switch try scanner.peek().kind {
    case .key, .value, .blockEnd: return empty(at: token.end)
    default: return try node(isBlock: true, isValue: true, depth: depth)
    }
  }

  private mutating func flowMapping(depth: Int) throws(YAMLProblem) -> YAMLNode {
    let start = try scanner.take().start
    var entries = Entries()
    var isFirst = true
    while true {
      if case .flowMappingEnd = try scanner.peek().kind { break }
      if !isFirst {
        let token = try scanner.peek()
        guard case .flowEntry = token.kind else {
          throw YAMLProblem(.expectedMappingEnd, at: token.start, since: start)
        }
        _ = try scanner.take()
        if case .flowMappingEnd = try scanner.peek().kind { break }
      }
      isFirst = false
      try flowEntry(into: &entries, depth: depth)
    }
    return collection(.mapping(entries.entries), .flow, from: start, to: try scanner.take().end.offset)
  }

  /// Parses `key: value`, `key:` or `key`.
  private mutating func flowEntry(into entries: inout Entries, depth: Int) throws(YAMLProblem) {
    let hasSign = if case .key = try scanner.peek().kind { true } else { false }
    if hasSign { _ = try scanner.take() }
    let key = try node(isBlock: false, depth: depth + 1)
    let named = name(of: key, in: &entries)
    var value = empty(at: try scanner.peek().start)
    value.range = key.range.upperBound..<key.range.upperBound
    if hasSign, case .value = try scanner.peek().kind {
      let sign = try scanner.take().end.offset
      switch try scanner.peek().kind {
      case .flowEntry, .flowMappingEnd, .flowSequenceEnd:
        value = empty(at: try scanner.peek().start)
        value.range = sign..<sign
      default: value = try node(isBlock: false, depth: depth + 1)
      }
    }
    guard let (name, place) = named else { return }
    entries.entries.append(YAMLNode.Entry(key: name, keySpan: place, keyRange: key.range, value: value))
  }

  private mutating func pair(depth: Int) throws(YAMLProblem) -> YAMLNode {
    let start = try scanner.peek().start
    try count(at: start, depth: depth)
    var entries = Entries()
    try flowEntry(into: &entries, depth: depth)
    let end = entries.entries.last?.value.range.upperBound ?? start.offset
    return collection(.mapping(entries.entries), .pair, from: start, to: end)
  }
}
