import CallCore

extension YAMLScanner {
  /// The text of a scalar during scanning, with the position of every character.
  private struct Draft {
    var text = String.UnicodeScalarView()
    /// The positions; nil while the characters are consecutive.
    var places: [YAMLMark]?

    init(isSimple: Bool) { places = isSimple ? nil : [] }

    mutating func append(_ scalar: Unicode.Scalar, at place: YAMLMark) {
      text.append(scalar)
      places?.append(place)
    }

    mutating func append(_ breaks: [(scalar: Unicode.Scalar, place: YAMLMark)]) {
      for one in breaks { append(one.scalar, at: one.place) }
    }

    /// Starts to record positions, since characters are no longer consecutive.
    mutating func breakLine(of start: YAMLMark) {
      guard places == nil else { return }
      places = (0..<text.count).map { YAMLMark(offset: 0, line: start.line, column: start.column + $0) }
    }

    func scanned(_ style: YAMLNode.Style) -> YAMLScannedScalar {
      YAMLScannedScalar(text: String(text), style: style, places: places)
    }
  }

  /// Reads one character.
  private mutating func read() -> (scalar: Unicode.Scalar, place: YAMLMark) {
    let start = mark
    skip()
    var decoder = UTF8()
    var iterator = bytes[start.offset..<mark.offset].makeIterator()
    if case .scalarValue(let scalar) = decoder.decode(&iterator) { return (scalar, start) }
    return ("\u{FFFD}", start)
  }

  private mutating func read(into draft: inout Draft) {
    let (scalar, place) = read()
    draft.append(scalar, at: place)
  }

  /// Reads a line break of any form as LF.
  private mutating func readBreak() -> (scalar: Unicode.Scalar, place: YAMLMark) {
    let place = mark
    skipBreak()
    return ("\n", place)
  }

  // MARK: - Plain

  /// Scans a plain scalar; its end is before trailing blanks, line breaks and comments.
  mutating func scanPlainScalar() throws(YAMLProblem) -> (YAMLScannedScalar, end: YAMLMark) {
    let start = mark
    var end = mark
    var draft = Draft(isSimple: true)
    var blanks: [(scalar: Unicode.Scalar, place: YAMLMark)] = []
    var breaks: [(scalar: Unicode.Scalar, place: YAMLMark)] = []
    while !isAtDocumentIndicator, !isAt("#") {
      while !isBlankOrEnd() {
        if flowLevel > 0, isAt(":"), ",?[]{}".utf8.contains(byte(1)) { throw YAMLProblem(.colonInFlow, at: mark) }
        if isAt(":"), isBlankOrEnd(1) { break }
        if flowLevel > 0, ",[]{}".utf8.contains(byte()) { break }
        if !breaks.isEmpty {
          draft.breakLine(of: start)
          Self.fold(&breaks, into: &draft)
        } else {
          draft.append(blanks)
          blanks.removeAll(keepingCapacity: true)
        }
        read(into: &draft)
        end = mark
      }
      guard isBlank() || isBreak() else { break }
      while isBlank() || isBreak() {
        if isBreak() {
          blanks.removeAll(keepingCapacity: true)
          breaks.append(readBreak())
        } else if breaks.isEmpty {
          blanks.append(read())
        } else {
          if byte() == 0x09, mark.column < indent + 1 { throw YAMLProblem(.tabInText, at: mark, since: start) }
          skip()
        }
      }
      if flowLevel == 0, mark.column < indent + 1 { break }
    }
    if !breaks.isEmpty { allowsKey = true }
    return (draft.scanned(.plain), end)
  }

  /// Folds line breaks: one becomes a space, of several all but the first stay.
  private static func fold(_ breaks: inout [(scalar: Unicode.Scalar, place: YAMLMark)], into draft: inout Draft) {
    if breaks.count == 1 {
      draft.append(" ", at: breaks[0].place)
    } else {
      draft.append(Array(breaks.dropFirst()))
    }
    breaks.removeAll(keepingCapacity: true)
  }

  // MARK: - Quoted

  mutating func scanQuotedScalar() throws(YAMLProblem) -> YAMLScannedScalar {
    let start = mark
    let isSingle = isAt("'")
    let quote: Unicode.Scalar = isSingle ? "'" : "\""
    var draft = Draft(isSimple: false)
    skip()
    while true {
      if isAtDocumentIndicator { throw YAMLProblem(.documentInText, at: mark, since: start) }
      if byte() == 0 { throw YAMLProblem(.unclosedQuote, at: mark, since: start) }
      var isJoined = false
      while !isBlankOrEnd() {
        if isSingle, isAt("'"), isAt("'", 1) {
          draft.append("'", at: mark)
          skip()
          skip()
        } else if isAt(quote) {
          break
        } else if !isSingle, isAt("\\"), isBreak(1) {
          skip()
          skipBreak()
          isJoined = true
          break
        } else if !isSingle, isAt("\\") {
          let place = mark
          draft.append(try escaped(since: start), at: place)
        } else {
          read(into: &draft)
        }
      }
      if isAt(quote) { break }
      readBlanks(into: &draft, isJoined: isJoined)
    }
    skip()
    return draft.scanned(isSingle ? .singleQuoted : .doubleQuoted)
  }

  /// Reads blanks and line breaks within quotes; blanks around line breaks are dropped.
  ///
  /// - Parameter isJoined: whether a line break with a `\` before it was skipped.
  private mutating func readBlanks(into draft: inout Draft, isJoined: Bool) {
    var blanks: [(scalar: Unicode.Scalar, place: YAMLMark)] = []
    var breaks: [(scalar: Unicode.Scalar, place: YAMLMark)] = []
    while isBlank() || isBreak() {
      if isBreak() {
        blanks.removeAll()
        breaks.append(readBreak())
      } else if breaks.isEmpty, !isJoined {
        blanks.append(read())
      } else {
        skip()
      }
    }
    if isJoined {
      draft.append(breaks)
    } else if breaks.isEmpty {
      draft.append(blanks)
    } else {
      Self.fold(&breaks, into: &draft)
    }
  }

  private static let escapes: [UInt8: Unicode.Scalar] = [
    UInt8(ascii: "0"): "\u{0}", UInt8(ascii: "a"): "\u{7}", UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "t"): "\t",
    0x09: "\t", UInt8(ascii: "n"): "\n", UInt8(ascii: "v"): "\u{B}", UInt8(ascii: "f"): "\u{C}",
    UInt8(ascii: "r"): "\r", UInt8(ascii: "e"): "\u{1B}", UInt8(ascii: " "): " ", UInt8(ascii: "\""): "\"",
    UInt8(ascii: "/"): "/", UInt8(ascii: "\\"): "\\", UInt8(ascii: "N"): "\u{85}", UInt8(ascii: "_"): "\u{A0}",
    UInt8(ascii: "L"): "\u{2028}", UInt8(ascii: "P"): "\u{2029}",
  ]

  private mutating func escaped(since start: YAMLMark) throws(YAMLProblem) -> Unicode.Scalar {
    let place = mark
    if let known = Self.escapes[byte(1)] {
      skip()
      skip()
      return known
    }
    let length =
      switch Unicode.Scalar(byte(1)) {
      case "x": 2
      case "u": 4
      case "U": 8
      default: 0
      }
    guard length > 0 else { throw YAMLProblem(.unknownEscape, at: place, since: start) }
    skip()
    skip()
    var value: UInt32 = 0
    for _ in 0..<length {
      guard let digit = Character(Unicode.Scalar(byte())).hexDigitValue else {
        throw YAMLProblem(.badEscape, at: place, since: start)
      }
      value = value << 4 | UInt32(digit)
      skip()
    }
    guard let scalar = Unicode.Scalar(value) else { throw YAMLProblem(.badEscape, at: place, since: start) }
    return scalar
  }

  // MARK: - Block

  mutating func scanBlockScalar() throws(YAMLProblem) -> YAMLScannedScalar {
    enum Chomping { case strip, clip, keep }
    let start = mark
    let isLiteral = isAt("|")
    skip()
    var chomping = Chomping.clip
    var increment: Int?
    for _ in 0..<2 {
      if chomping == .clip, isAt("+") || isAt("-") {
        chomping = isAt("+") ? .keep : .strip
        skip()
      } else if increment == nil, byte().isASCIIDigit {
        guard !isAt("0") else { throw YAMLProblem(.noIndentation, at: mark, since: start) }
        increment = Int(byte() - UInt8(ascii: "0"))
        skip()
      }
    }
    while isBlank() { skip() }
    if isAt("#") {
      while !isBreakOrEnd() { skip() }
    }
    guard isBreakOrEnd() else { throw YAMLProblem(.textAfterIndicator, at: mark, since: start) }
    if isBreak() { skipBreak() }

    var draft = Draft(isSimple: false)
    var width = increment.map { max(indent, 0) + $0 }
    var leading: [(scalar: Unicode.Scalar, place: YAMLMark)] = []
    var trailing = try blockBreaks(&width, since: start)
    var wasBlank = false
    while mark.column == width, byte() != 0 {
      let isIndented = isBlank()
      if !isLiteral, !leading.isEmpty, !wasBlank, !isIndented {
        if trailing.isEmpty { draft.append(" ", at: leading[0].place) }
      } else {
        draft.append(leading)
      }
      draft.append(trailing)
      wasBlank = isIndented
      while !isBreakOrEnd() { read(into: &draft) }
      leading = isBreak() ? [readBreak()] : []
      trailing = try blockBreaks(&width, since: start)
    }
    if chomping != .strip { draft.append(leading) }
    if chomping == .keep { draft.append(trailing) }
    return draft.scanned(isLiteral ? .literal : .folded)
  }

  /// Skips indentation and returns the breaks of empty lines; the first text determines the width of the indentation.
  private mutating func blockBreaks(
    _ width: inout Int?, since start: YAMLMark
  ) throws(YAMLProblem) -> [(scalar: Unicode.Scalar, place: YAMLMark)] {
    var breaks: [(scalar: Unicode.Scalar, place: YAMLMark)] = []
    var widest = 0
    while true {
      while width.map({ mark.column < $0 }) ?? true, isAt(" ") { skip() }
      widest = max(widest, mark.column)
      if width.map({ mark.column < $0 }) ?? true, byte() == 0x09 {
        throw YAMLProblem(.tabInText, at: mark, since: start)
      }
      guard isBreak() else { break }
      breaks.append(readBreak())
    }
    if width == nil { width = max(widest, indent + 1, 1) }
    return breaks
  }
}
