/// Which comparisons of a predicate came to matter: `a and b` asks for `b` only while `a` is true.
///
/// One that mattered while it was unknown, and never while it was known, was not put to the test.
final class TestedComparisons {
  private indirect enum Node {
    case constant(Bool)
    case all([Node])
    case any([Node])
    case not(Node)
    case comparison(Int)
  }

  private var root = Node.constant(true)
  private var comparisons: [Condition] = []
  private var tested: Set<Int> = []
  private var missed: Set<Int> = []

  init(of predicate: Predicate, watch: Watch) { root = bind(predicate, watch) }

  /// Calls `listener` whenever one of them changes.
  func listen(_ listener: @escaping () -> Void) {
    for comparison in comparisons { comparison.listen { _ in listener() } }
  }

  /// Notes which of them matter at this moment.
  func look() {
    if tested.count < comparisons.count { look(at: root) }
  }

  /// What those read that only mattered while it was unknown, or nil: `alice.q.mos, bob.audible`.
  var untested: String? {
    let names = missed.subtracting(tested).sorted().flatMap { index in
      comparisons[index].predicate.values.map(\.description)
    }
    return names.isEmpty ? nil : names.inOrderOfAppearance.joined(separator: ", ")
  }

  private func bind(_ predicate: Predicate, _ watch: Watch) -> Node {
    switch predicate.kind {
    case .constant(let value): return .constant(value)
    case .and(let parts): return .all(parts.map { bind($0, watch) })
    case .or(let parts): return .any(parts.map { bind($0, watch) })
    case .not(let part): return .not(bind(part, watch))
    case .defined(_, let part): return bind(part, watch)
    case .compare, .isIn, .holds:
      comparisons.append(Condition(predicate, watch: watch))
      return .comparison(comparisons.count - 1)
    }
  }

  private func truth(of node: Node) -> Truth {
    switch node {
    case .constant(let value): Truth(value)
    case .all(let parts): .all(parts.lazy.map { self.truth(of: $0) })
    case .any(let parts): .any(parts.lazy.map { self.truth(of: $0) })
    case .not(let part): !truth(of: part)
    case .comparison(let index): comparisons[index].truth
    }
  }

  private func look(at node: Node) {
    switch node {
    case .constant: break
    case .all(let parts): look(at: parts, deciding: .no)
    case .any(let parts): look(at: parts, deciding: .yes)
    case .not(let part): look(at: part)
    case .comparison(let index):
      if comparisons[index].truth == .unknown { missed.insert(index) } else { tested.insert(index) }
    }
  }

  /// One part that decides makes the others not matter. Of several that are unknown none is what the others wait for.
  private func look(at parts: [Node], deciding: Truth) {
    let truths = parts.map { truth(of: $0) }
    let isDecided = truths.contains(deciding)
    let unknownCount = truths.count { $0 == .unknown }
    for (part, truth) in zip(parts, truths) where isDecided ? truth == deciding : truth != .unknown || unknownCount == 1
    {
      look(at: part)
    }
  }
}
