import Vocabulary

/// Enumerates the truth values that predicates can take together, over all values that make a difference.
///
/// Predicates that read the same value see the same one. A machine has the states that it declares. Of each interval
/// between the numbers with which a value is compared, sample numbers are tried.
struct TruthTable {
  /// The limit of rows; larger tables are not evaluated.
  private static let maximumRowCount = 5_000

  private typealias Test = ([Value]) -> Bool

  private let tests: [Test]
  private let candidates: [[Value]]

  /// Creates a table; nil when there are too many values to try.
  ///
  /// - Parameter known: values that are fixed, by the text of their operand.
  init?(_ predicates: [Predicate], known: [String: Value] = [:]) {
    var columns = Columns()
    tests = predicates.map { columns.test($0) }
    let candidates = columns.candidates(known)
    let rows = candidates.reduce(1.0) { $0 * Double($1.count) }
    guard rows >= 1, rows <= Double(Self.maximumRowCount) else { return nil }
    self.candidates = candidates
  }

  /// Returns whether some values give the predicates a combination of truth values that is wanted.
  func canBe(_ isWanted: ([Bool]) -> Bool) -> Bool {
    var row: [Value] = []
    return tries(&row, isWanted)
  }

  private func tries(_ row: inout [Value], _ isWanted: ([Bool]) -> Bool) -> Bool {
    guard row.count < candidates.count else { return isWanted(tests.map { $0(row) }) }
    for value in candidates[row.count] {
      row.append(value)
      defer { row.removeLast() }
      if tries(&row, isWanted) { return true }
    }
    return false
  }

  // MARK: - Columns

  /// The distinct values that predicates read.
  private struct Columns {
    private struct Column {
      let operand: Operand
      var literals: [Value] = []
      /// The group of columns that are compared with each other.
      var group: Int
    }

    private var columns: [Column] = []
    private var indices: [String: Int] = [:]

    mutating func test(_ predicate: Predicate) -> Test {
      switch predicate.kind {
      case .constant(let value): return { _ in value }
      case .not(let part):
        let test = test(part)
        return { !test($0) }
      case .defined(_, let part): return test(part)
      case .and(let parts):
        let tests = parts.map { test($0) }
        return { row in tests.allSatisfy { $0(row) } }
      case .or(let parts):
        let tests = parts.map { test($0) }
        return { row in tests.contains { $0(row) } }
      case .holds(let operand):
        let value = reader(operand)
        return { value($0) == .flag(true) }
      case .isIn(let operand, let values):
        let value = reader(operand, literals: values)
        return { row in values.contains { Comparison.equal.holds(value(row), $0) } }
      case .compare(let a, let comparison, let b):
        join(a, b)
        let left = reader(a, literals: [b].compactMap(\.literal))
        let right = reader(b, literals: [a].compactMap(\.literal))
        return { comparison.holds(left($0), right($0)) }
      }
    }

    private mutating func reader(_ operand: Operand, literals: [Value] = []) -> ([Value]) -> Value {
      if let literal = operand.literal { return { _ in literal } }
      let index = index(of: operand)
      columns[index].literals += literals
      return { $0[index] }
    }

    private mutating func index(of operand: Operand) -> Int {
      if let known = indices[operand.description] { return known }
      indices[operand.description] = columns.count
      columns.append(Column(operand: operand, group: columns.count))
      return columns.count - 1
    }

    private mutating func join(_ a: Operand, _ b: Operand) {
      guard a.literal == nil, b.literal == nil else { return }
      let (kept, lost) = (columns[index(of: a)].group, columns[index(of: b)].group)
      for index in columns.indices where columns[index].group == lost { columns[index].group = kept }
    }

    func candidates(_ known: [String: Value]) -> [[Value]] {
      columns.map { column in
        if let value = known[column.operand.description] { return [value] }
        let group = columns.filter { $0.group == column.group }
        let literals = group.flatMap(\.literals) + group.compactMap { known[$0.operand.description] }
        switch column.operand.type {
        case .flag?: return [.flag(true), .flag(false)]
        case .choice(let words)?: return words.map { .text($0) }
        case .text?, .peer?, .peers?:
          // Texts other than the compared ones, as many as there are values that may differ.
          let others = group.indices.map { Value.text("\u{1}\($0)") }
          return literals.reduce(into: []) { if !$0.contains($1) { $0.append($1) } } + others
        default: return numbers(around: literals.compactMap(\.number), in: column.operand.range, group.count)
        }
      }
    }

    /// Returns the literals, the ends of the range, and `count` numbers in each gap between them.
    private func numbers(around literals: [Double], in range: NumberRange, _ count: Int) -> [Value] {
      let ends = [range.low, range.high].filter(\.isFinite)
      let points = Set(literals + ends).sorted()
      var numbers = points
      let step = Double(count + 1)
      for (low, high) in zip(points, points.dropFirst()) {
        for place in 1...count {
          let even = low + (high - low) * Double(place) / step
          numbers.append(range.isWhole ? min(low.rounded(.down) + Double(place), high) : even)
        }
      }
      for place in 1...count {
        numbers.append((points.last ?? 0).rounded(.down) + Double(place) + (points.isEmpty ? -1 : 0))
        numbers.append((points.first ?? 0).rounded(.up) - Double(place))
      }
      return Set(numbers.filter(range.contains)).sorted().map { .real($0) }
    }
  }
}

extension Operand {
  fileprivate var literal: Value? {
    guard case .literal(let value) = self else { return nil }
    return value
  }

  fileprivate var type: ValueType? {
    switch self {
    case .value(let path): path.type
    case .wire: .count
    case .literal: nil
    }
  }

  fileprivate var range: NumberRange {
    switch self {
    case .value(let path): path.range
    case .wire: .count
    case .literal: NumberRange()
    }
  }
}
