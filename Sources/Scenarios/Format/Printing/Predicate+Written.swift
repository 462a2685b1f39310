import CallCore

extension Predicate {
  /// The text of the predicate in a scenario file, which decodes to the same predicate.
  var written: String { text { $0.literal } }

  /// Returns the text of the predicate.
  ///
  /// - Parameter literal: returns the text of a constant.
  func text(_ literal: (Value) -> String) -> String {
    func nested(_ part: Predicate) -> String {
      switch part.kind {
      case .and, .or: "(" + part.text(literal) + ")"
      default: part.text(literal)
      }
    }
    switch kind {
    case .constant(let value): return "\(value)"
    case .and(let parts): return parts.map(nested).joined(separator: " and ")
    case .or(let parts): return parts.map(nested).joined(separator: " or ")
    case .not(let part): return "not " + nested(part)
    case .compare(let a, let comparison, let b):
      return "\(a.text(literal)) \(comparison.rawValue) \(b.text(literal))"
    case .isIn(let operand, let values):
      return "\(operand.text(literal)) in [\(values.map(literal).joined(separator: ", "))]"
    case .holds(let operand): return operand.text(literal)
    case .defined(let name, _): return name
    }
  }
}

extension Operand {
  func text(_ literal: (Value) -> String) -> String {
    switch self {
    case .value(let path): return path.description
    case .literal(let value): return literal(value)
    case .wire(let quantity):
      let arguments = [quantity.from.map { "from: \($0)" }, quantity.to.map { "to: \($0)" }].compactMap { $0 }
      return "wire.\(quantity.kind.rawValue)(\(arguments.joined(separator: ", ")))"
    }
  }
}

extension Value {
  /// The text in a predicate, with quotes around ambiguous words.
  fileprivate var literal: String {
    guard case .text(let text) = self else { return Quantity.written(self) }
    let tokens = PredicateLexer.tokens(of: text)
    let isWord =
      tokens.count == 2 && tokens[0].kind == .word && tokens[0].text == text && !text.contains(".")
      && ReservedName.guardWord(text) == nil
    guard !isWord else { return text }
    return text.contains("\"") ? "'\(text)'" : "\"\(text)\""
  }
}

extension Anchor {
  /// The text of the anchor in a scenario file.
  var written: String {
    switch kind {
    case .time(.zero): "start"
    case .time(let time): Quantity.written(.duration(time - .zero))
    case .end: "end"
    case .entry(let id): id
    case .definition(let name): name
    case .entersState(let subject, let machine, let state): ValuePath.text("\(machine).\(state)", of: subject)
    case .becomesTrue(let subject, let name), .event(let subject, let name): ValuePath.text(name, of: subject)
    }
  }
}

extension Operand: CustomStringConvertible {
  /// The text in scenario files, with constants in readable form.
  public var description: String { text(\.description) }
}

extension Predicate: CustomStringConvertible {
  /// The text in scenario files, with constants in readable form.
  public var description: String { text(\.description) }
}
