/// A token of a predicate, with its position in the text.
struct PredicateToken: Equatable {
  enum Kind: Equatable {
    /// A name, a path or a bare word: `alice.call.state`, `connected`, `and`.
    case word
    case quoted
    /// A number, with its unit if it has one.
    case number
    /// `== != < <= > >= ( ) [ ] , :`
    case symbol
    case end
    /// A character with which no token begins.
    case invalid
  }

  var kind: Kind
  /// The word, the text between the quotes, the number with unit, or the symbol.
  var text: String
  /// The offset in Unicode scalars.
  var start: Int
  var length: Int

  /// Whether the token compares, joins or encloses values.
  var isOperator: Bool {
    switch kind {
    case .symbol, .invalid: true
    case .word: ["and", "or", "not", "in"].contains(text)
    case .quoted, .number, .end: false
    }
  }

  /// Advice for an operator of another language; nil when the meaning is unknown.
  var hint: String? {
    switch text {
    case "=": "did you mean '=='?"
    case "&": "write 'and'"
    case "|": "write 'or'"
    case "!": "write 'not'"
    default: nil
    }
  }
}

struct PredicateLexer {
  static func tokens(of text: String) -> [PredicateToken] {
    let scalars = Array(text.unicodeScalars)
    var tokens: [PredicateToken] = []
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      if scalar == " " || scalar == "\n" || scalar == "\t" {
        index += 1
        continue
      }
      let token = next(in: scalars, at: index)
      tokens.append(token)
      index = token.start + max(1, token.length)
    }
    tokens.append(PredicateToken(kind: .end, text: "", start: scalars.count, length: 1))
    return tokens
  }

  private static func next(in scalars: [Unicode.Scalar], at start: Int) -> PredicateToken {
    func token(_ kind: PredicateToken.Kind, upTo end: Int) -> PredicateToken {
      let text = String(String.UnicodeScalarView(scalars[start..<end]))
      return PredicateToken(kind: kind, text: text, start: start, length: end - start)
    }
    let first = scalars[start]
    let second = start + 1 < scalars.count ? scalars[start + 1] : nil
    switch first {
    case "=", "!", "<", ">":
      if second == "=" { return token(.symbol, upTo: start + 2) }
      return token(first == "<" || first == ">" ? .symbol : .invalid, upTo: start + 1)
    case "(", ")", "[", "]", ",", ":": return token(.symbol, upTo: start + 1)
    case "\"", "'": return quoted(in: scalars, at: start)
    default: break
    }
    let isSigned = (first == "-" || first == "+") && second.map(isDigit) == true
    if isDigit(first) || isSigned {
      var end = start + 1
      while end < scalars.count, isWord(scalars[end]) || scalars[end] == "%" { end += 1 }
      return token(.number, upTo: end)
    }
    // `.ice.state` follows a closing parenthesis.
    let isMember = first == "." && second.map(isWordStart) == true
    guard isWordStart(first) || isMember else { return token(.invalid, upTo: start + 1) }
    var end = start + 1
    while end < scalars.count, isWord(scalars[end]) { end += 1 }
    return token(.word, upTo: end)
  }

  private static func quoted(in scalars: [Unicode.Scalar], at start: Int) -> PredicateToken {
    let rest = scalars[(start + 1)...]
    guard let close = rest.firstIndex(of: scalars[start]) else {
      return PredicateToken(kind: .invalid, text: "\(scalars[start])", start: start, length: scalars.count - start)
    }
    let text = String(String.UnicodeScalarView(scalars[(start + 1)..<close]))
    return PredicateToken(kind: .quoted, text: text, start: start, length: close - start + 1)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { (0x30...0x39).contains(scalar.value) }
  private static func isWordStart(_ scalar: Unicode.Scalar) -> Bool { scalar == "_" || scalar.properties.isAlphabetic }
  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    isWordStart(scalar) || isDigit(scalar) || scalar == "-" || scalar == "." || scalar == "/"
  }
}
