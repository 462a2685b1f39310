internal import CallCore
internal import ScenarioFormat

/// Describes a predicate and its present values in words.
struct PredicateAccount {
  let watch: Watch

  /// Returns `alice.call.state is connecting since 3.31 s; bob.call.state is connected since 3.40 s`.
  ///
  /// For a conjunction it describes only the parts that are not true, for any other predicate every value.
  func account(of predicate: Predicate) -> String {
    var told: [String] = []
    for part in blamed(predicate) {
      for operand in Self.operands(of: part) {
        let text = sentence(operand)
        if !told.contains(text) { told.append(text) }
      }
    }
    return told.isEmpty ? "it is \(Condition.truth(of: predicate, watch) == .yes)" : told.joined(separator: "; ")
  }

  /// Returns the conjuncts that are not true, or all when the conjunction is true.
  private func blamed(_ predicate: Predicate) -> [Predicate] {
    switch predicate.kind {
    case .and(let parts):
      let broken = parts.filter { Condition.truth(of: $0, watch) != .yes }
      return broken.isEmpty ? parts : broken.flatMap(blamed)
    case .defined(_, let part): return blamed(part)
    default: return [predicate]
    }
  }

  /// Returns the values that were never set, `alice.q.mos, bob.audible`, or nil if all were set.
  func unset(in predicate: Predicate) -> String? {
    let names = Self.operands(of: predicate).filter { !watch.wasSet(slot($0)) }.map(\.description)
    return names.isEmpty ? nil : names.inOrderOfAppearance.joined(separator: ", ")
  }

  private static func operands(of predicate: Predicate) -> [Operand] {
    switch predicate.kind {
    case .constant: []
    case .and(let parts), .or(let parts): parts.flatMap(operands)
    case .not(let part), .defined(_, let part): operands(of: part)
    case .compare(let a, _, let b): [a, b].filter(\.isWatched)
    case .isIn(let operand, _), .holds(let operand): [operand].filter(\.isWatched)
    }
  }

  private func slot(_ operand: Operand) -> Watch.Slot<TraceDatum> {
    switch operand {
    case .value(let path): watch.slot(path.subject, path.name)
    case .wire(let quantity): watch.slot(WireQuantity.subject, quantity.kindName)
    case .literal: preconditionFailure("literals are not watched")
    }
  }

  private func sentence(_ operand: Operand) -> String { "\(operand) \(state(of: slot(operand)))" }

  /// Returns `is connected since 3.40 s`, `is unknown since 20.00 s, without a connection`, or `was never set`.
  func state(of slot: Watch.Slot<TraceDatum>) -> String {
    guard watch.wasSet(slot) else { return "was never set" }
    let since = watch.changedAt(slot).map { " since \(Wording.time($0))" } ?? ""
    return watch.value(slot).map { "is \($0)\(since)" }
      ?? "is unknown\(since), \(watch.isLost(slot) ? "the process of its app has ended" : "without a connection")"
  }
}

extension Operand {
  fileprivate var isWatched: Bool {
    if case .literal = self { return false }
    return true
  }
}
