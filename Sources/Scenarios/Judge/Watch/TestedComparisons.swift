import CallCore
import ScenarioFormat

/// Records which comparisons of a predicate mattered: `never: a and b` needs `b` only while `a` is true.
///
/// A comparison was not tested if it was unknown for lack of a connection while the others left the decision to it, and
/// was never known in such a situation.
final class TestedComparisons {
  private indirect enum Node {
    case constant(Bool)
    case all([Node])
    case any([Node])
    case not(Node)
    case comparison(Int)
  }

  /// The parts without which a comparison cannot break the predicate, by their numbers.
  private typealias Company = Set<Int>

  /// The truth of the predicate that breaks the expectation.
  private let breach: Truth
  private var root = Node.constant(true)
  private var comparisons: [Condition] = []
  /// The companies in which each comparison was known, and those in which it was needed and unknown.
  private var known: [Set<Company>] = []
  private var missed: [Set<Company>] = []
  /// The comparisons that were needed while a value was unknown because the process of its app had ended.
  private var lost: Set<Int> = []

  init(of predicate: Predicate, breachedBy breach: Bool, watch: Watch) {
    self.breach = Truth(breach)
    root = bind(predicate, watch)
    known = comparisons.map { _ in [] }
    missed = known
  }

  /// Calls `listener` whenever a comparison changes.
  func listen(_ listener: @escaping () -> Void) {
    for comparison in comparisons { comparison.listen { _ in listener() } }
  }

  /// The present truth of the predicate.
  var truth: Truth { truth(of: root) }

  /// Records which comparisons matter at this moment.
  func look() { look(at: root, breach, beside: [], isAsked: true) }

  /// Whether each comparison was known at some time.
  var wereKnown: Bool { known.allSatisfy { !$0.isEmpty } }

  /// The reason why some were not tested, or nil: `whenever it came to alice.q.mos, that was unknown`.
  var untested: String? {
    let untested = comparisons.indices.filter { index in
      missed[index].contains { company in !known[index].contains { company.isSubset(of: $0) } }
    }
    let names = untested.flatMap { comparisons[$0].predicate.values.map(\.description) }
    guard !names.isEmpty else { return nil }
    return "whenever it came to \(names.inOrderOfAppearance.joined(separator: ", ")), that was unknown"
  }

  /// The reason why what must always be so was not tested throughout, or nil: the process of an app had ended.
  var lostWithProcess: String? {
    guard !lost.isEmpty else { return nil }
    let names = lost.sorted().flatMap { comparisons[$0].predicate.values.map(\.description) }
    return "\(names.inOrderOfAppearance.joined(separator: ", ")) was unknown while the process of the app had ended"
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

  /// - Parameter breach: the truth of the node that would break the whole predicate.
  private func look(at node: Node, _ breach: Truth, beside company: Company, isAsked: Bool) {
    switch node {
    case .constant: break
    case .all(let parts): look(at: parts, deciding: .no, breach, beside: company, isAsked)
    case .any(let parts): look(at: parts, deciding: .yes, breach, beside: company, isAsked)
    case .not(let part): look(at: part, !breach, beside: company, isAsked: isAsked)
    case .comparison(let index):
      if comparisons[index].truth != .unknown {
        known[index].insert(company)
      } else if isAsked, isOfConnection(index) {
        missed[index].insert(company)
      } else if isAsked, comparisons[index].isLost {
        lost.insert(index)
      }
    }
  }

  /// Looks at parts. A part that decides leaves nothing to the others; if one part alone can break the whole, none
  /// needs the others.
  private func look(
    at parts: [Node], deciding: Truth, _ breach: Truth, beside company: Company, _ isAsked: Bool
  ) {
    let truths = parts.map { truth(of: $0) }
    let isDecided = truths.contains(deciding)
    let leaving = zip(parts, truths).compactMap { part, truth in
      deciding == breach || truth == deciding || truth == .unknown ? nil : number(of: part)
    }
    for (part, truth) in zip(parts, truths) {
      let others = company.union(leaving).subtracting([number(of: part)])
      look(at: part, breach, beside: others, isAsked: isAsked && (!isDecided || truth == deciding))
    }
  }

  private func isOfConnection(_ index: Int) -> Bool {
    comparisons[index].predicate.values.contains { Watch.isOfConnection($0.name) }
  }

  /// Returns the number of the node's first comparison: parts beside each other share none.
  private func number(of node: Node) -> Int {
    switch node {
    case .constant: -1
    case .all(let parts), .any(let parts): parts.first.map { number(of: $0) } ?? -1
    case .not(let part): number(of: part)
    case .comparison(let index): index
    }
  }
}
