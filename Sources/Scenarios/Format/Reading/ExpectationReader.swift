import CallCore
import Vocabulary

/// Decodes the expectations once the names of a cell are known.
enum ExpectationReader {
  /// The word in place of a list, for a scenario that only the invariants judge.
  static let invariants = "invariants"

  static func expectations(_ node: YAMLNode, _ reading: inout Reading) -> [Expectation] {
    guard let items = node.items else {
      if node.scalar?.text == invariants { return [] }
      reading.report(
        .wrongNode, "expected a list of expectations, or \(invariants), found \(node.description)", at: node.span)
      return []
    }
    var result: [Expectation] = []
    for (number, item) in items.enumerated() {
      guard let expectation = expectation(item, number: number, &reading) else { continue }
      if let first = result.first(where: { $0.id == expectation.id }) {
        let message =
          "the id '\(expectation.id)' is taken by the expectation at \(first.span.line):\(first.span.column)"
        reading.report(.duplicateID, message, at: item["id"]?.span ?? item.span)
      }
      result.append(expectation)
    }
    return result
  }

  /// Decodes an expectation; nil after reporting, or when its guard excludes this cell.
  private static func expectation(_ node: YAMLNode, number: Int, _ reading: inout Reading) -> Expectation? {
    let kinds = ExpectationVariant.all.map(\.key)
    guard let entries = node.entries else {
      reading.report(.wrongNode, "expected an expectation, found \(node.description)", at: node.span)
      return nil
    }
    let named = ExpectationVariant.all.filter { variant in entries.contains { $0.key == variant.key } }
    guard named.count == 1, let variant = named.first else {
      reportKind(named.map(\.key), among: kinds, entries, node, &reading)
      return nil
    }
    if variant.key == "leads_to", let value = node["leads_to"], value.entries == nil,
      entries.contains(where: { $0.key == "then" })
    {
      reading.report(
        .wrongNode, "expected a mapping (if, then and within), found \(value.description)", at: value.span,
        hint: "write leads_to: { if: …, then: …, within: … }")
      return nil
    }
    let header = ExpectationHeader.type.decode(node, &reading, others: entries.map(\.key))
    var isWanted = true
    if let guardNode = header?.guardNode {
      if variant.key == "delta" { checkGuardOfDelta(guardNode, &reading) }
      guard let value = PredicateParser.guardValue(guardNode, &reading) else { return nil }
      reading.note(guard: value, at: guardNode.span)
      isWanted = value
    }
    guard var kind = variant.decode(node, &reading), let header, isWanted else { return nil }
    var span = node.span
    // A difference says nothing of the other arms, but its number is compared in all of them.
    if case .delta(var delta) = kind, let arm = reading.arm, !delta.arms.contains(where: { $0.value == arm.name }) {
      (delta.arms, delta.bounds, delta.precision) = ([], [], nil)
      (kind, span) = (.delta(delta), .builtIn)
    }
    var expectation = Expectation(kind: kind)
    expectation.id = header.id?.value ?? "#\(number + 1)"
    expectation.severity = header.severity
    if let share = header.share {
      guard let bounds = self.share(share, of: expectation, node, &reading) else { return nil }
      expectation.share = bounds
    }
    expectation.why = header.why
    expectation.span = span
    expectation.text = node.flowText(leavingOut: ["id", "why"])
    return expectation
  }

  /// A difference is judged over its arms together, so that it cannot hold in some of them alone.
  private static func checkGuardOfDelta(_ node: YAMLNode, _ reading: inout Reading) {
    guard PredicateParser.dependsOnArm(node, reading) else { return }
    reading.report(
      .conflictingKeys, "a difference is one between arms, so that its 'if' cannot ask for one", at: node.span,
      hint: "name the two arms in 'arms', and leave 'if' to the variables of matrix")
  }

  private static func share(
    _ share: ShareDraft, of expectation: Expectation, _ node: YAMLNode, _ reading: inout Reading
  ) -> [Expectation.Bound]? {
    let place = node["share"] ?? node
    guard !expectation.isJudgedAcrossSeeds else {
      reading.report(
        .conflictingKeys, "this is judged over the runs of all seeds already, so that it has no share of them",
        at: node.entry("share")?.keySpan ?? place.span)
      return nil
    }
    return share.bounds.bounds(of: .percentage, unit: nil, within: .share, at: place, &reading)
  }

  private static func reportKind(
    _ named: [String], among kinds: [String], _ entries: [YAMLNode.Entry], _ node: YAMLNode, _ reading: inout Reading
  ) {
    if named.count > 1 {
      let second = entries.first { $0.key == named[1] }
      let message = "an expectation is of one kind; found '\(named[0])' and '\(named[1])'"
      reading.report(.conflictingKeys, message, at: second?.keySpan ?? node.span)
      return
    }
    let near = entries.first { Suggestion.nearest(to: $0.key, among: kinds) != nil } ?? entries.first
    guard let near else {
      reading.report(.missingKey, "an expectation needs a kind: \(kinds.joined(separator: ", "))", at: node.span)
      return
    }
    let hint =
      Suggestion.nearest(to: near.key, among: kinds).map { "did you mean '\($0)'?" } ?? "kinds: "
      + kinds.joined(separator: ", ")
    let message = "there is no expectation '\(YAMLNode.abbreviated(near.key))'"
    reading.report(.unknownKey, message, at: near.keySpan, hint: hint, explain: "expect")
  }
}

extension YAMLNode {
  /// Returns the node on one line, as failures quote it.
  func flowText(leavingOut names: [String] = []) -> String {
    switch content {
    case .scalar(let scalar): scalar.text.split { $0.isNewline }.joined(separator: " ")
    case .sequence(let items): "[" + items.map { $0.flowItem }.joined(separator: ", ") + "]"
    case .mapping(let entries):
      entries.filter { !names.contains($0.key) }.map { "\($0.key): \($0.value.flowItem)" }.joined(separator: ", ")
    }
  }

  var flowItem: String { entries == nil ? flowText() : "{ \(flowText()) }" }
}
