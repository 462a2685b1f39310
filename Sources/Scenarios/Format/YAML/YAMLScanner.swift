import CallCore

/// A position between two characters of a text.
struct YAMLMark: Equatable {
  /// The offset in bytes of UTF-8.
  var offset = 0
  /// The line, counted from 0; ``column`` counts Unicode scalars from 0.
  var line = 0
  var column = 0
}

/// A token of a YAML text. The starts and ends of block collections represent indentation.
struct YAMLToken {
  enum Kind {
    case blockSequenceStart, blockMappingStart, blockEnd
    case flowSequenceStart, flowSequenceEnd, flowMappingStart, flowMappingEnd
    case blockEntry, flowEntry, key, value
    case documentStart, documentEnd, streamEnd
    case tag
    case scalar(YAMLScannedScalar)
  }

  var kind: Kind
  var start: YAMLMark
  var end: YAMLMark
}

struct YAMLScannedScalar {
  var text: String
  var style: YAMLNode.Style
  /// The position of each Unicode scalar of `text`; nil when they are consecutive.
  var places: [YAMLMark]?
}

/// Splits a text into tokens of the subset of YAML 1.2 in which scenarios are written.
///
/// The rules of indentation and keys are those of libyaml, so that both accept the same texts of this subset: a key is
/// recognised by the ':' after it, on the same line and within 1024 characters.
struct YAMLScanner {
  /// A scalar or flow collection that may turn out to be a key.
  private struct PossibleKey {
    var isPossible = false
    /// Whether only a key is permitted at its position.
    var isRequired = false
    var tokenNumber = 0
    var mark = YAMLMark()
  }

  private static let longestKey = 1_024

  let bytes: [UInt8]
  var mark = YAMLMark()
  /// The column of the open block collection, or -1.
  private(set) var indent = -1
  private var indents: [Int] = []
  private(set) var flowLevel = 0
  /// Whether a key may begin at the current position.
  var allowsKey = true
  /// The possible key of each flow level.
  private var possibleKeys = [PossibleKey()]
  private var queue: [YAMLToken] = []
  private var head = 0
  /// The number of tokens taken.
  private var takenCount = 0

  /// Creates a scanner.
  ///
  /// - Parameter bytes: UTF-8 without control characters.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // MARK: - The queue

  /// Returns the next token without taking it.
  mutating func peek() throws(YAMLProblem) -> YAMLToken {
    while try needsMore() { try fetch() }
    return queue[head]
  }

  mutating func take() throws(YAMLProblem) -> YAMLToken {
    let token = try peek()
    head += 1
    takenCount += 1
    if head > 256 {
      queue.removeFirst(head)
      head = 0
    }
    return token
  }

  /// Returns whether a key or the start of a mapping may still be inserted before the next token.
  private mutating func needsMore() throws(YAMLProblem) -> Bool {
    guard head < queue.count else { return true }
    try dropStaleKeys()
    return possibleKeys.contains { $0.isPossible && $0.tokenNumber == takenCount }
  }

  mutating func append(_ kind: YAMLToken.Kind, from start: YAMLMark) {
    queue.append(YAMLToken(kind: kind, start: start, end: mark))
  }

  // MARK: - Characters

  /// Returns a byte ahead; 0 at the end of the text, which contains no 0 itself.
  func byte(_ ahead: Int = 0) -> UInt8 {
    let index = mark.offset + ahead
    return index < bytes.count ? bytes[index] : 0
  }

  func isAt(_ character: Unicode.Scalar, _ ahead: Int = 0) -> Bool { byte(ahead) == UInt8(ascii: character) }
  func isBlank(_ ahead: Int = 0) -> Bool { byte(ahead) == 0x20 || byte(ahead) == 0x09 }
  func isBreak(_ ahead: Int = 0) -> Bool { byte(ahead) == 0x0A || byte(ahead) == 0x0D }
  func isBreakOrEnd(_ ahead: Int = 0) -> Bool { isBreak(ahead) || byte(ahead) == 0 }
  func isBlankOrEnd(_ ahead: Int = 0) -> Bool { isBlank(ahead) || isBreakOrEnd(ahead) }

  /// Whether the current position is at `---` or `...`.
  var isAtDocumentIndicator: Bool {
    guard mark.column == 0, isAt("-") || isAt("."), byte(1) == byte(), byte(2) == byte() else { return false }
    return isBlankOrEnd(3)
  }

  /// Skips one character other than a line break.
  mutating func skip() {
    mark.offset += 1
    while mark.offset < bytes.count, bytes[mark.offset] & 0xC0 == 0x80 { mark.offset += 1 }
    mark.column += 1
  }

  /// Skips a line break.
  mutating func skipBreak() {
    mark.offset += byte() == 0x0D && byte(1) == 0x0A ? 2 : 1
    mark.line += 1
    mark.column = 0
  }

  // MARK: - Keys and indentation

  private mutating func dropStaleKeys() throws(YAMLProblem) {
    for index in possibleKeys.indices where possibleKeys[index].isPossible {
      let key = possibleKeys[index]
      guard key.mark.line < mark.line || key.mark.column + Self.longestKey < mark.column else { continue }
      if key.isRequired { throw YAMLProblem(.missingColon, at: mark, since: key.mark) }
      possibleKeys[index].isPossible = false
    }
  }

  /// Records that the next token may be a key.
  mutating func notePossibleKey() throws(YAMLProblem) {
    guard allowsKey else { return }
    try dropPossibleKey()
    possibleKeys[possibleKeys.count - 1] = PossibleKey(
      isPossible: true, isRequired: flowLevel == 0 && indent == mark.column,
      tokenNumber: takenCount + queue.count - head, mark: mark)
  }

  private mutating func dropPossibleKey() throws(YAMLProblem) {
    let key = possibleKeys[possibleKeys.count - 1]
    if key.isPossible, key.isRequired { throw YAMLProblem(.missingColon, at: mark, since: key.mark) }
    possibleKeys[possibleKeys.count - 1].isPossible = false
  }

  /// Opens a block collection if the column is to the right of the open one.
  ///
  /// - Parameter number: the token before which the start is inserted; nil for the end of the queue.
  private mutating func roll(to column: Int, before number: Int?, _ kind: YAMLToken.Kind, at place: YAMLMark) {
    guard flowLevel == 0, indent < column else { return }
    indents.append(indent)
    indent = column
    let token = YAMLToken(kind: kind, start: place, end: place)
    queue.insert(token, at: number.map { $0 - takenCount + head } ?? queue.count)
  }

  private mutating func unroll(to column: Int) {
    guard flowLevel == 0 else { return }
    while indent > column {
      append(.blockEnd, from: mark)
      indent = indents.removeLast()
    }
  }

  // MARK: - Tokens

  private mutating func fetch() throws(YAMLProblem) {
    try skipToToken()
    try dropStaleKeys()
    unroll(to: mark.column)
    let start = mark
    switch byte() {
    case 0: try fetchEnd()
    case UInt8(ascii: "%") where mark.column == 0: throw YAMLProblem(.directive, at: mark)
    case _ where isAtDocumentIndicator: try fetchDocumentIndicator()
    case UInt8(ascii: "["): try openFlow(.flowSequenceStart)
    case UInt8(ascii: "{"): try openFlow(.flowMappingStart)
    case UInt8(ascii: "]"): try closeFlow(.flowSequenceEnd)
    case UInt8(ascii: "}"): try closeFlow(.flowMappingEnd)
    case UInt8(ascii: ","):
      try dropPossibleKey()
      allowsKey = true
      skip()
      append(.flowEntry, from: start)
    case UInt8(ascii: "-") where isBlankOrEnd(1): try fetchBlockEntry()
    case UInt8(ascii: "?") where flowLevel > 0 || isBlankOrEnd(1):
      if flowLevel == 0, !allowsKey { throw YAMLProblem(.keyNotAllowed, at: mark) }
      throw YAMLProblem(.complexKey, at: mark)
    case UInt8(ascii: ":") where flowLevel > 0 || isBlankOrEnd(1): try fetchValue()
    case UInt8(ascii: "*"), UInt8(ascii: "&"): throw anchorProblem()
    case UInt8(ascii: "!"): try fetchTag()
    case UInt8(ascii: "|") where flowLevel == 0, UInt8(ascii: ">") where flowLevel == 0:
      try dropPossibleKey()
      allowsKey = true
      try append(.scalar(scanBlockScalar()), from: start)
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      try notePossibleKey()
      allowsKey = false
      try append(.scalar(scanQuotedScalar()), from: start)
    case _ where beginsPlain: try fetchPlain()
    default: throw YAMLProblem(.cannotBegin, at: mark)
    }
  }

  /// Whether a plain scalar may begin here; with an indicator only where it has no other meaning.
  private var beginsPlain: Bool {
    switch Unicode.Scalar(byte()) {
    case "-": !isBlank(1)
    case "?", ":": flowLevel == 0 && !isBlankOrEnd(1)
    case ",", "[", "]", "{", "}", "#", "&", "*", "!", "|", ">", "'", "\"", "%", "@", "`": false
    default: !isBlankOrEnd()
    }
  }

  /// Skips blanks, line breaks and comments. A tab does not count as indentation.
  private mutating func skipToToken() throws(YAMLProblem) {
    while true {
      while isAt(" ") || (byte() == 0x09 && (flowLevel > 0 || !allowsKey)) { skip() }
      if isAt("#") {
        while !isBreakOrEnd() { skip() }
      }
      guard isBreak() else { return }
      skipBreak()
      if flowLevel == 0 { allowsKey = true }
    }
  }

  private mutating func fetchEnd() throws(YAMLProblem) {
    if mark.column != 0 {
      mark.column = 0
      mark.line += 1
    }
    unroll(to: -1)
    try dropPossibleKey()
    allowsKey = false
    append(.streamEnd, from: mark)
  }

  private mutating func fetchDocumentIndicator() throws(YAMLProblem) {
    unroll(to: -1)
    try dropPossibleKey()
    allowsKey = false
    let start = mark
    let kind = isAt("-") ? YAMLToken.Kind.documentStart : .documentEnd
    for _ in 0..<3 { skip() }
    append(kind, from: start)
  }

  private mutating func openFlow(_ kind: YAMLToken.Kind) throws(YAMLProblem) {
    try notePossibleKey()
    possibleKeys.append(PossibleKey())
    flowLevel += 1
    allowsKey = true
    let start = mark
    skip()
    append(kind, from: start)
  }

  private mutating func closeFlow(_ kind: YAMLToken.Kind) throws(YAMLProblem) {
    try dropPossibleKey()
    if flowLevel > 0 {
      flowLevel -= 1
      possibleKeys.removeLast()
    }
    allowsKey = false
    let start = mark
    skip()
    append(kind, from: start)
  }

  private mutating func fetchBlockEntry() throws(YAMLProblem) {
    if flowLevel == 0 {
      guard allowsKey else { throw YAMLProblem(.entryNotAllowed, at: mark) }
      roll(to: mark.column, before: nil, .blockSequenceStart, at: mark)
    }
    try dropPossibleKey()
    allowsKey = true
    let start = mark
    skip()
    append(.blockEntry, from: start)
  }

  private mutating func fetchValue() throws(YAMLProblem) {
    let key = possibleKeys[possibleKeys.count - 1]
    if key.isPossible {
      let token = YAMLToken(kind: .key, start: key.mark, end: key.mark)
      queue.insert(token, at: key.tokenNumber - takenCount + head)
      roll(to: key.mark.column, before: key.tokenNumber, .blockMappingStart, at: key.mark)
      possibleKeys[possibleKeys.count - 1].isPossible = false
      allowsKey = false
    } else {
      // The key is missing. The parser reports it, because it knows the open collection.
      if flowLevel == 0 {
        guard allowsKey else { throw YAMLProblem(.valueNotAllowed, at: mark) }
        roll(to: mark.column, before: nil, .blockMappingStart, at: mark)
      }
      allowsKey = flowLevel == 0
    }
    let start = mark
    skip()
    append(.value, from: start)
  }

  private mutating func fetchPlain() throws(YAMLProblem) {
    try notePossibleKey()
    allowsKey = false
    let start = mark
    let (scalar, end) = try scanPlainScalar()
    queue.append(YAMLToken(kind: .scalar(scalar), start: start, end: end))
  }

  // MARK: - Excluded features

  private mutating func anchorProblem() -> YAMLProblem {
    let start = mark
    let isAlias = isAt("*")
    skip()
    while byte().isASCIILetter || byte().isASCIIDigit || isAt("-") || isAt("_") { skip() }
    let ends = isBlankOrEnd() || "?:,]}%@`".utf8.contains(byte())
    guard mark.column > start.column + 1, ends else { return YAMLProblem(.anchorLike, at: mark, since: start) }
    return YAMLProblem(isAlias ? .alias : .anchor, at: start, length: mark.column - start.column)
  }

  private mutating func fetchTag() throws(YAMLProblem) {
    try notePossibleKey()
    allowsKey = false
    let start = mark
    while !isBlankOrEnd(), !(flowLevel > 0 && ",[]{}".utf8.contains(byte())) { skip() }
    append(.tag, from: start)
  }
}
