import CallCore
import Vocabulary

/// Parses, resolves and type checks one predicate.
///
///     predicate  = conjunction *( "or" conjunction )
///     conjunction = term *( "and" term )
///     term       = "not" term / "(" predicate ")" / operand [ comparison operand / ["not"] "in" list ]
///     operand    = path / name / word / number / quoted / "wire." name "(" [ "from:" peer ] [ "to:" peer ] ")"
///                / ("any" / "all") "(" peer ".connections" ")" "." name
///
/// Every problem is reported at its token; the parser stops at the first one that prevents further parsing.
struct PredicateParser {
  static let maximumDepth = 50
  /// The limit of comparisons, since each is evaluated at every change of one of its values.
  static let maximumComparisonCount = 256

  private let tokens: [PredicateToken]
  private let node: YAMLNode
  private var index = 0
  private var depth = 0
  /// The matrix variables of a guard; nil in predicates about a run.
  private let variables: [(name: String, value: Value)]?

  /// Parses a predicate; nil after reporting a problem.
  static func parse(
    _ node: YAMLNode, _ reading: inout Reading, variables: [(name: String, value: Value)]? = nil
  ) -> Predicate? {
    guard let scalar = node.scalar, !scalar.text.isEmpty, scalar.coreType == .text || scalar.coreType == .flag else {
      reading.report(
        .wrongType, "expected a predicate, found \(node.description)", at: node.span, explain: "predicates")
      return nil
    }
    var parser = PredicateParser(node: node, text: scalar.text, variables: variables)
    guard let predicate = parser.disjunction(&reading) else { return nil }
    let rest = parser.current
    guard rest.kind == .end else {
      parser.report(.predicateSyntax, "'\(rest.text)' does not belong here", at: rest, hint: rest.hint, &reading)
      return nil
    }
    guard predicate.comparisonCount <= maximumComparisonCount else {
      let message = "the predicate makes \(predicate.comparisonCount) comparisons, more than \(maximumComparisonCount)"
      reading.report(.tooLarge, message, at: node.span)
      return nil
    }
    return predicate
  }

  /// Parses a wire quantity outside a predicate; nil after reporting a problem.
  static func wireQuantity(_ node: YAMLNode, _ reading: inout Reading) -> WireQuantity? {
    var parser = PredicateParser(node: node, text: node.scalar?.text ?? "", variables: nil)
    guard case .term(.wire(let quantity), _)? = parser.operand(&reading) else { return nil }
    guard parser.current.kind == .end else {
      let text = parser.current.text
      parser.report(.predicateSyntax, "'\(text)' does not belong here", at: parser.current, &reading)
      return nil
    }
    return quantity
  }

  private init(node: YAMLNode, text: String, variables: [(name: String, value: Value)]?) {
    self.node = node
    self.variables = variables
    tokens = PredicateLexer.tokens(of: text)
  }

  private var current: PredicateToken { tokens[min(index, tokens.count - 1)] }
  private var following: PredicateToken { tokens[min(index + 1, tokens.count - 1)] }

  private mutating func take() -> PredicateToken {
    defer { index = min(index + 1, tokens.count - 1) }
    return current
  }

  private func isSymbol(_ text: String) -> Bool { current.kind == .symbol && current.text == text }
  private func isKeyword(_ text: String) -> Bool { current.kind == .word && current.text == text }

  private mutating func skip(_ symbol: String) -> Bool {
    guard isSymbol(symbol) else { return false }
    index += 1
    return true
  }

  private func report(
    _ code: DiagnosticCode, _ message: String, at token: PredicateToken, hint: String? = nil, _ reading: inout Reading
  ) {
    let span = node.span(ofLetters: token.start, length: token.length)
    reading.report(code, message, at: span, hint: hint, explain: code == .predicateSyntax ? "predicates" : nil)
  }

  private func span(from start: PredicateToken) -> SourceSpan {
    let last = tokens[max(0, index - 1)]
    return node.span(ofLetters: start.start, length: max(1, last.start + last.length - start.start))
  }

  // MARK: - Grammar

  private mutating func disjunction(_ reading: inout Reading) -> Predicate? {
    let conjunction = { (parser: inout PredicateParser, reading: inout Reading) in
      parser.chain("and", &reading, of: { $0.term(&$1) }, as: Predicate.Kind.and)
    }
    return chain("or", &reading, of: conjunction, as: Predicate.Kind.or)
  }

  private mutating func chain(
    _ keyword: String, _ reading: inout Reading, of part: (inout PredicateParser, inout Reading) -> Predicate?,
    as combine: ([Predicate]) -> Predicate.Kind
  ) -> Predicate? {
    let start = current
    guard let first = part(&self, &reading) else { return nil }
    var parts = [first]
    while isKeyword(keyword) {
      index += 1
      guard let next = part(&self, &reading) else { return nil }
      parts.append(next)
    }
    return parts.count == 1 ? first : Predicate(combine(parts), at: span(from: start))
  }

  private mutating func term(_ reading: inout Reading) -> Predicate? {
    depth += 1
    defer { depth -= 1 }
    let start = current
    guard depth <= Self.maximumDepth else {
      report(.predicateSyntax, "this nests too deep", at: start, &reading)
      return nil
    }
    if isKeyword("not") {
      index += 1
      guard let part = term(&reading) else { return nil }
      return Predicate(.not(part), at: span(from: start))
    }
    if skip("(") {
      guard let inner = disjunction(&reading) else { return nil }
      guard skip(")") else {
        report(.predicateSyntax, "expected ')'", at: current, &reading)
        return nil
      }
      return inner
    }
    return comparison(&reading)
  }

  private mutating func comparison(_ reading: inout Reading) -> Predicate? {
    let start = current
    guard let left = operand(&reading) else { return nil }
    if isKeyword("in") || (isKeyword("not") && following.text == "in") {
      let isNegated = isKeyword("not")
      index += isNegated ? 2 : 1
      guard let values = list(matching: left.first, &reading) else { return nil }
      if case .several(let operands, _, let isAny) = left {
        let parts = operands.map { Predicate(.isIn($0, values), at: span(from: start)) }
        let inner = joined(parts.map { isNegated ? Predicate(.not($0), at: $0.span) : $0 }, isAny: isAny, from: start)
        return inner
      }
      if case .term(.literal(let value), _) = left {
        let isIn = values.contains { Self.evaluate(value, .equal, $0) == true }
        return Predicate(.constant(isIn != isNegated), at: span(from: start))
      }
      guard case .term(let operand, _) = left else {
        report(.predicateType, "a word is not compared with a list; the value comes first", at: start, &reading)
        return nil
      }
      let inner = Predicate(.isIn(operand, values), at: span(from: start))
      return isNegated ? Predicate(.not(inner), at: inner.span) : inner
    }
    guard current.kind == .symbol, let comparison = Comparison(rawValue: current.text) else {
      if current.text == "=" {
        report(.predicateSyntax, "'=' does not compare", at: current, hint: "did you mean '=='?", &reading)
        return nil
      }
      return holds(left, start: start, &reading)
    }
    let sign = take()
    let rightStart = current
    guard let right = operand(&reading) else { return nil }
    if variables != nil { return compareFixed(left, start, comparison, sign, right, &reading) }
    if case .several(let operands, let type, let isAny) = left {
      var parts: [Predicate] = []
      for operand in operands {
        let one = Parsed.term(operand, type)
        guard let part = compare(one, start, comparison, sign, right, rightStart, &reading) else { return nil }
        parts.append(part)
      }
      return joined(parts, isAny: isAny, from: start)
    }
    return compare(left, start, comparison, sign, right, rightStart, &reading)
  }

  /// Joins the predicates of several connections into one.
  private func joined(_ parts: [Predicate], isAny: Bool, from start: PredicateToken) -> Predicate {
    parts.count == 1 ? parts[0] : Predicate(isAny ? .or(parts) : .and(parts), at: span(from: start))
  }

  /// Evaluates a comparison in a guard, which compares a variable with a constant.
  private mutating func compareFixed(
    _ left: Parsed, _ leftToken: PredicateToken, _ comparison: Comparison, _ sign: PredicateToken, _ right: Parsed,
    _ reading: inout Reading
  ) -> Predicate? {
    guard case .term(.literal(let value), _) = left else {
      return holds(left, start: leftToken, &reading)
    }
    let other: Value
    switch right {
    case .word(let word): other = .text(word)
    case .term(.literal(let literal), _): other = literal
    case .term, .several: other = .list([])
    }
    guard let isTrue = Self.evaluate(value, comparison, other) else {
      let message = "'\(leftToken.text)' is \(value) here, which cannot be compared so"
      report(.predicateType, message, at: sign, &reading)
      return nil
    }
    return Predicate(.constant(isTrue), at: span(from: leftToken))
  }

  /// Returns the predicate of a single operand, which must be a flag, true, false, or a defined predicate.
  private mutating func holds(_ operand: Parsed, start: PredicateToken, _ reading: inout Reading) -> Predicate? {
    switch operand {
    case .term(.literal(.flag(let flag)), _): return Predicate(.constant(flag), at: span(from: start))
    case .term(let term, .flag): return Predicate(.holds(term), at: span(from: start))
    case .several(let terms, .flag, let isAny):
      return joined(terms.map { Predicate(.holds($0), at: span(from: start)) }, isAny: isAny, from: start)
    case .several:
      let hint = "compare it, for example with '=='"
      report(.predicateType, "'\(start.text)' is neither true nor false", at: start, hint: hint, &reading)
      return nil
    case .term(let term, _):
      let hint = if case .value = term { "compare it, for example with '=='" } else { nil as String? }
      report(.predicateType, "'\(start.text)' is neither true nor false", at: start, hint: hint, &reading)
      return nil
    case .word(let word) where variables != nil:
      let names = variables?.map(\.name) ?? []
      let hint = Suggestion.hint(for: word, among: names, noun: "variables")
      report(.unknownVariable, "unknown variable '\(YAMLNode.abbreviated(word))'", at: start, hint: hint, &reading)
      return nil
    case .word(let word):
      if let definition = reading.scope.definitions.first(where: { $0.name == word }) {
        reading.scope.used.insert("definition \(word)")
        return Predicate(.defined(word, definition.predicate), at: span(from: start))
      }
      if reading.scope.definitionNames.contains(word) {
        // A definition with problems has been reported already.
        if reading.scope.used.contains("broken \(word)") { return nil }
        let isLoop = reading.scope.isLoop(from: word)
        let message = isLoop ? "'\(word)' is defined by way of itself" : "'\(word)' is defined further down"
        let hint = isLoop ? "say what it is without this" : "define it before it is used"
        report(.unknownName, message, at: start, hint: hint, &reading)
        return nil
      }
      let isTarget = word == Expectation.Recovers.mediaBothWays
      let problem = isTarget ? "is what 'recovers' waits for, and no predicate" : "stands for nothing"
      let message = "'\(YAMLNode.abbreviated(word))' \(problem)"
      report(.unknownName, message, at: start, hint: meaning(of: word, isTarget: isTarget, reading.scope), &reading)
      return nil
    }
  }

  /// Returns advice for a word that is not the name of a definition.
  private func meaning(of word: String, isTarget: Bool, _ scope: Scope) -> String {
    let peers = scope.peers.map(\.name)
    if let peer = scope.peer(word) {
      let example = peer.vocabulary.values.first.map { ", such as \(word).\($0.name)" } ?? ""
      return "write \(word) with one of its values\(example)"
    }
    if isTarget {
      let hearing = scope.peers.filter { $0.vocabulary.value("audible") != nil }.map { "\($0.name).audible" }
      return "write recovers: ENTRY, or as a predicate \(hearing.joined(separator: " and "))"
    }
    if let hint = Suggestion.hint(for: word, among: scope.definitionNames, noun: "defined") { return hint }
    let isFree =
      Reading.isName(word) && ReservedName.anchor(word, peers: peers) == nil
      && !scope.entries.contains { $0.id == word }
    return isFree ? "write PEER.value, or give it a meaning under define" : "write PEER.value"
  }

  // MARK: - Operands

  private enum Parsed {
    /// An operand, with the type of a watched value.
    case term(Operand, ValueType?)
    /// The same value of each connection of a peer, quantified by any or all.
    case several([Operand], ValueType, isAny: Bool)
    /// A bare word: a state, a choice, or the name of a definition.
    case word(String)

    /// One operand of several, of the same type as the others.
    var first: Parsed {
      if case .several(let operands, let type, _) = self { .term(operands[0], type) } else { self }
    }
  }

  private mutating func operand(_ reading: inout Reading) -> Parsed? {
    let token = take()
    switch token.kind {
    case .number: return number(token, &reading).map { .term(.literal($0), nil) }
    case .quoted: return .term(.literal(.text(token.text)), nil)
    case .word where ["and", "or", "not", "in"].contains(token.text):
      report(.predicateSyntax, "expected a value before '\(token.text)'", at: token, &reading)
      return nil
    case .word where token.text == "true" || token.text == "false":
      return .term(.literal(.flag(token.text == "true")), .flag)
    case .word where variables?.contains { $0.name == token.text } == true:
      guard let variable = variables?.first(where: { $0.name == token.text }) else { return nil }
      // A guard selects expectations and does not change the run.
      reading.scope.used.insert("asked variable \(variable.name)")
      return .term(.literal(variable.value), variable.value.type)
    case .word where variables != nil: return .word(token.text)
    case .word where ["any", "all"].contains(token.text) && isSymbol("("): return connections(token, &reading)
    case .word where token.text.hasPrefix("wire."): return wire(token, &reading)
    case .word where token.text.contains("."):
      let span = node.span(ofLetters: token.start, length: token.length)
      return ValuePath.resolve(token.text, at: span, in: node, from: token.start, &reading).map { path in
        .term(.value(path), path.type)
      }
    case .word: return .word(token.text)
    case .symbol, .invalid:
      report(.predicateSyntax, "'\(token.text)' does not belong here", at: token, hint: token.hint, &reading)
      return nil
    case .end:
      report(.predicateSyntax, "something is missing here", at: token, &reading)
      return nil
    }
  }

  private mutating func number(_ token: PredicateToken, _ reading: inout Reading) -> Value? {
    switch Quantity.read(token.text) {
    case .value(let value): return value
    case .bare(let number):
      return token.text.contains(".") ? .real(number) : Int(token.text).map { .count($0) } ?? .real(number)
    case .unknownUnit(let unit):
      let hint = Suggestion.hint(for: unit, among: Quantity.units, noun: "units")
      report(.unknownUnit, "there is no unit '\(unit)'", at: token, hint: hint, &reading)
    case .tooLarge(let reason):
      report(.outOfRange, "\(YAMLNode.abbreviated(token.text)) is too large: \(reason)", at: token, &reading)
    case nil:
      let hint = "text that begins with a digit is quoted: \"\(YAMLNode.abbreviated(token.text))\""
      report(.predicateSyntax, "'\(token.text)' is not a number", at: token, hint: hint, &reading)
    }
    return nil
  }

  /// Parses `any(alice.connections).ice.state` from the parenthesis on.
  private mutating func connections(_ quantifier: PredicateToken, _ reading: inout Reading) -> Parsed? {
    _ = skip("(")
    let start = take()
    let suffix = ".connections"
    guard start.kind == .word, start.text.hasSuffix(suffix), skip(")"), current.kind == .word,
      current.text.hasPrefix(".")
    else {
      let hint = "write \(quantifier.text)(PEER.connections).ice.state"
      report(.predicateSyntax, "expected the connections of a peer", at: start, hint: hint, &reading)
      return nil
    }
    let member = take()
    let name = String(start.text.dropLast(suffix.count))
    guard let owner = reading.scope.owner(name) else {
      let hint = Suggestion.hint(for: name, among: reading.scope.owners, noun: "there are")
      report(.unknownPeer, "unknown peer '\(YAMLNode.abbreviated(name))'", at: start, hint: hint, &reading)
      return nil
    }
    // A peer without connection names has a single connection.
    let names = reading.scope.quantifiedConnections(of: owner)
    let paths = names.map { $0.map { "\(name).to.\($0)\(member.text)" } } ?? ["\(name)\(member.text)"]
    guard !paths.isEmpty else {
      report(.unknownConnection, "\(name) has nobody to connect to", at: start, &reading)
      return nil
    }
    let span = node.span(ofLetters: start.start, length: member.start + member.length - start.start)
    var operands: [Operand] = []
    var type: ValueType?
    for text in paths {
      let place = YAMLNode(standingFor: text, at: span)
      guard let path = ValuePath.resolve(text, at: span, in: place, from: 0, &reading) else { return nil }
      operands.append(.value(path))
      type = path.type
    }
    return type.map { .several(operands, $0, isAny: quantifier.text == "any") }
  }

  /// Parses `wire.media(from: bob, to: alice)`.
  private mutating func wire(_ token: PredicateToken, _ reading: inout Reading) -> Parsed? {
    let name = String(token.text.dropFirst("wire.".count))
    guard let kind = WireQuantity.Kind(rawValue: name) else {
      let hint = Suggestion.hint(for: name, among: WireQuantity.Kind.allCases.map(\.rawValue))
      report(.unknownMember, "the wire has no '\(name)'", at: token, hint: hint, &reading)
      return nil
    }
    var quantity = WireQuantity(kind: kind)
    guard skip("(") else { return .term(.wire(quantity), .count) }
    while !skip(")") {
      let end = take()
      guard end.kind == .word, end.text == "from" || end.text == "to", skip(":"), current.kind == .word else {
        report(.predicateSyntax, "expected 'from: peer' or 'to: peer'", at: end, &reading)
        return nil
      }
      let peer = take()
      guard let known = reading.scope.peer(peer.text) else {
        let names = reading.scope.peers.map(\.name)
        let hint = Suggestion.hint(for: peer.text, among: names, noun: "there are")
        report(.unknownPeer, "unknown peer '\(peer.text)'", at: peer, hint: hint, &reading)
        return nil
      }
      guard known.stack != .puppet else {
        let hint = "it only sends signalling; name a peer with a network"
        report(.unknownPeer, "the puppet '\(peer.text)' is on no wire", at: peer, hint: hint, &reading)
        return nil
      }
      if end.text == "from" { quantity.from = peer.text } else { quantity.to = peer.text }
      _ = skip(",")
      guard quantity.from == nil || quantity.from != quantity.to else {
        let message = "nothing that \(peer.text) sends reaches \(peer.text), so that this is always 0"
        report(.conflictingKeys, message, at: peer, hint: "name the other peer, or one end alone", &reading)
        return nil
      }
      if let from = quantity.from, let to = quantity.to, let server = reading.scope.forwarder(from, to) {
        let message =
          "this is always 0: what \(from) sends ends at the server '\(server)', which sends packets of its own to \(to)"
        report(.conflictingKeys, message, at: peer, hint: "name one end alone", &reading)
        return nil
      }
    }
    return .term(.wire(quantity), .count)
  }

  private mutating func list(matching left: Parsed, _ reading: inout Reading) -> [Value]? {
    guard skip("[") else {
      report(.predicateSyntax, "expected '[' and a list of values", at: current, &reading)
      return nil
    }
    var values: [Value] = []
    while !skip("]") {
      let start = current
      guard let member = operand(&reading) else { return nil }
      if variables != nil {
        guard case .term(.literal, _) = left else { return holds(left, start: start, &reading).map { _ in [] } }
        switch member {
        case .word(let word): values.append(.text(word))
        case .term(.literal(let value), _): values.append(value)
        case .term, .several: break
        }
        _ = skip(",")
        if current.kind == .end { break }
        continue
      }
      guard case .term(let subject, let type) = left,
        let value = literal(member, for: subject, type, at: start, &reading)
      else { return nil }
      if values.contains(value) { report(.duplicateKey, "'\(value)' is listed twice", at: start, &reading) }
      values.append(value)
      guard skip(",") || isSymbol("]") else {
        report(.predicateSyntax, "expected ',' or ']'", at: current, &reading)
        return nil
      }
    }
    guard !values.isEmpty else {
      report(.predicateSyntax, "an empty list contains nothing", at: tokens[index - 1], &reading)
      return nil
    }
    return values
  }

  // MARK: - Types

  private mutating func compare(
    _ left: Parsed, _ leftToken: PredicateToken, _ comparison: Comparison, _ sign: PredicateToken, _ right: Parsed,
    _ rightToken: PredicateToken, _ reading: inout Reading
  ) -> Predicate? {
    switch (left, right) {
    case (.term(let a, let type?), .term(let b, let other?)) where !b.isLiteral:
      guard ValueFamily(type) == ValueFamily(other), comparison.suits(ValueFamily(type)) else {
        report(.predicateType, "these two cannot be compared with '\(sign.text)'", at: sign, &reading)
        return nil
      }
      return Predicate(.compare(a, comparison, b), at: span(from: leftToken))
    case (.term(let a, let type?), _) where !a.isLiteral:
      guard let value = literal(right, for: a, type, at: rightToken, &reading) else { return nil }
      guard comparison.suits(ValueFamily(type)) else {
        report(.predicateType, "'\(leftToken.text)' has no order; use '==', '!=' or 'in'", at: sign, &reading)
        return nil
      }
      return Predicate(.compare(a, comparison, .literal(value)), at: span(from: leftToken))
    case (_, .term(let b, _?)) where !b.isLiteral:
      report(.predicateType, "the watched value comes first", at: leftToken, hint: "swap the two sides", &reading)
    case (.word(let word), _):
      _ = holds(.word(word), start: leftToken, &reading)
    default:
      report(.predicateType, "this compares two fixed values", at: leftToken, &reading)
    }
    return nil
  }

  /// Converts a word, number or text to the type with which it is compared.
  private mutating func literal(
    _ parsed: Parsed, for subject: Operand, _ type: ValueType?, at token: PredicateToken, _ reading: inout Reading
  ) -> Value? {
    guard let type else { return nil }
    let value: Value
    switch parsed {
    case .word(let word): value = .text(word)
    case .term(.literal(let literal), _): value = literal
    case .term, .several:
      report(.predicateType, "only fixed values stand here", at: token, &reading)
      return nil
    }
    if case .choice(let legal) = type {
      guard case .text(let text) = value, legal.contains(text) else {
        let isState = if case .value(let path) = subject { reading.isMachine(path) } else { false }
        // A choice that looks like a number or a flag is a text all the same.
        let isUnquoted = legal.contains(token.text)
        let noun =
          isState
          ? "unknown state '\(token.text)'"
          : isUnquoted ? "\(token.text) is no text" : "'\(token.text)' is not one of the choices"
        let hint =
          isUnquoted ? "write \"\(token.text)\"" : Suggestion.hint(for: token.text, among: legal, noun: "there are")
        report(isState ? .unknownState : .notAChoice, noun, at: token, hint: hint, &reading)
        return nil
      }
      return value
    }
    let unit: String? = if case .value(let path) = subject { path.unit } else { nil }
    switch type.check(value, unit: unit) {
    case .fits:
      checkPeers(in: value, of: type, at: token, &reading)
      return value
    case .needsUnit(let example):
      report(
        .missingUnit, "'\(token.text)' has no unit", at: token,
        hint: Quantity.hint(token.text, unit: example), &reading)
    case .differs(let wanted):
      let hint = type == .flag ? ValueFormat<Bool>.hint(for: token.text) : nil
      report(.predicateType, "expected \(wanted), found '\(token.text)'", at: token, hint: hint, &reading)
    }
    return nil
  }
}

// MARK: - Names of peers

extension PredicateParser {
  /// Reports words that a value which names peers does not have, or hardly.
  private func checkPeers(
    in value: Value, of type: ValueType, at token: PredicateToken, _ reading: inout Reading
  ) {
    guard type == .peer || type == .peers, case .text(let text) = value, text != CommonVocabulary.nobody else { return }
    let (peers, words) = (reading.scope.peers, text.split(separator: " ").map(String.init))
    guard !peers.isEmpty else { return }
    for word in words {
      let isSetting = peers.contains { $0.identities.settings.contains(word) }
      if let peer = peers.first(where: { $0.name == word }) {
        guard let shown = peer.identities.shown, shown != word, !isSetting else { continue }
        let other = YAMLNode.abbreviated(shown)
        let message = "others know \(word) as '\(other)': this compares with a user that no peer is"
        report(.ineffective, message, at: token, hint: "write \(other)", &reading)
        continue
      }
      if let peer = peers.first(where: { $0.identities.userID == word }) {
        let message = "'\(word)' is the user id of \(peer.name), and values name peers"
        return report(.unknownPeer, message, at: token, hint: "write \(peer.name)", &reading)
      }
      guard !isSetting else { continue }
      let message = "no peer is '\(YAMLNode.abbreviated(word))': this compares with a user that no peer is"
      report(
        .ineffective, message, at: token, hint: Suggestion.hint(for: word, among: peers.map(\.name), noun: "there are"),
        &reading)
    }
    let sorted = words.sorted().joined(separator: " ")
    if type == .peers, text != sorted {
      let message = "such a value names peers in their order, with one blank between them"
      report(.notAChoice, message, at: token, hint: "write \"\(sorted)\"", &reading)
    }
  }
}

extension Operand {
  fileprivate var isLiteral: Bool {
    guard case .literal = self else { return false }
    return true
  }
}

extension ValueFormat where Value == Predicate {
  static var predicate: ValueFormat<Predicate> {
    ValueFormat(.either([.text, .flag])) { node, reading in
      PredicateParser.parse(node, &reading)
    } encode: {
      .plain($0.written)
    }
  }
}

extension YAMLNode {
  /// Creates a scalar whose text replaces the text of the file at `span`.
  fileprivate init(standingFor text: String, at span: SourceSpan) {
    self.init(content: .scalar(YAMLScalar(text: text, isPlain: true, isSubstituted: true)), span: span)
  }

  /// Returns the location of a part of a scalar's value; offset and length are in Unicode scalars.
  func span(ofLetters start: Int, length: Int) -> SourceSpan {
    guard let scalar, !scalar.isSubstituted else { return span }
    guard let positions = scalar.positions else {
      var place = span
      place.column += start
      place.length = max(1, length)
      return place
    }
    guard !positions.isEmpty else { return span }
    var place = positions[min(start, positions.count - 1)]
    if start >= positions.count { place.column += 1 }
    let end = min(start + length, positions.count) - 1
    let isOneLine = end >= start && positions[end].line == place.line
    place.length = isOneLine ? max(1, positions[end].column - place.column + 1) : 1
    return place
  }
}
