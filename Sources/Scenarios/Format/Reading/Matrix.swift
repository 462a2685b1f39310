import CallCore

/// The matrix of a file: its variables, and the combinations that remain after `skip` and `only`.
struct Matrix: Sendable {
  typealias Assignment = (variable: String, value: YAMLScalar)

  private struct Variable {
    var name: String
    var span: SourceSpan
    var values: [YAMLScalar]
  }

  /// A partial combination, with the permitted values of each variable.
  private typealias Rule = [(variable: String, values: [String])]

  /// The names of the two rules in other matrix formats.
  static let synonyms = [(word: "exclude", rule: "skip"), (word: "include", rule: "only")]

  static let maximumCellCount = 4_096

  private static let ruleList = ValueFormat<YAMLScalar>.scalar.oneOrMany().distinct(\.text).named.list()
  private static let valueList = ValueFormat<YAMLScalar>.scalar.list(atLeast: 1).distinct(\.text)

  /// The shape for the schema: variables with their values, and the two rules.
  static let format = ValueFormat<YAMLNode>.node(.named(.either([valueList.shape, ruleList.shape])))

  private(set) var cells: [[Assignment]] = [[]]
  private(set) var variables: [(name: String, span: SourceSpan)] = []
  /// The values of each variable.
  private var values: [String: [String]] = [:]
  private var skip: [Rule] = []
  private var only: [Rule] = []

  init() {}

  /// Reads a matrix. After a report it holds the cells that could be read.
  init(_ node: YAMLNode, _ reading: inout Reading) {
    guard let entries = node.entries else {
      reading.report(
        .wrongNode, "expected variables and their values, found \(node.description)", at: node.span,
        hint: "for example net: [wifi, lte], without '-'")
      return
    }
    var variables: [Variable] = []
    for entry in entries where entry.key != "skip" && entry.key != "only" {
      if let rule = Self.synonyms.first(where: { $0.word == entry.key })?.rule,
        entry.value.items?.contains(where: { $0.entries != nil }) ?? false
      {
        reading.report(
          .unknownKey, "matrix has no key '\(entry.key)'", at: entry.keySpan, hint: "did you mean '\(rule)'?")
        continue
      }
      guard reading.checkName(entry.key, at: entry.keySpan),
        let values = Self.valueList.decode(entry.value, &reading)
      else { continue }
      reading.refuse(entry.key, meaning: ReservedName.guardWord(entry.key), at: entry.keySpan)
      variables.append(Variable(name: entry.key, span: entry.keySpan, values: values))
    }
    self.variables = variables.map { ($0.name, $0.span) }
    for variable in variables { values[variable.name] = variable.values.map(\.text) }
    guard Self.product(variables) <= Self.maximumCellCount else {
      reading.report(.tooLarge, "the matrix has more than \(Self.maximumCellCount) cells", at: node.span)
      return
    }
    skip = Self.rules("skip", of: node, variables, &reading)
    only = Self.rules("only", of: node, variables, &reading)
    cells = Self.combinations(variables).filter { !leavesOut($0) }
    if cells.isEmpty {
      let entry = node.entry("only") ?? node.entry("skip")
      reading.report(.noCellLeft, "no cell of the matrix is left", at: entry?.keySpan ?? node.span)
    }
  }

  /// Returns the matrix with each cell in every arm, which changes fastest.
  func withArms(_ names: [String]) -> Matrix {
    guard !names.isEmpty else { return self }
    var matrix = self
    matrix.values[Scenario.Arms.variable] = names
    matrix.cells = cells.flatMap { cell in
      names.map { cell + [(Scenario.Arms.variable, YAMLScalar(text: $0, isPlain: true))] }
    }
    return matrix
  }

  /// Returns whether the rules exclude a cell. They apply only to values of the file, not to a value that an override
  /// gives.
  func leavesOut(_ cell: [Assignment]) -> Bool {
    guard cell.allSatisfy({ values[$0.variable]?.contains($0.value.text) ?? false }) else { return false }
    let isListed = only.isEmpty || only.contains { Self.matches($0, cell) }
    return !isListed || skip.contains { Self.matches($0, cell) }
  }

  private static func product(_ variables: [Variable]) -> Int {
    variables.reduce(1) { product, variable in
      let (next, overflow) = product.multipliedReportingOverflow(by: variable.values.count)
      return overflow ? .max : next
    }
  }

  /// Returns the combinations in file order; the last variable changes fastest.
  private static func combinations(_ variables: [Variable]) -> [[Assignment]] {
    variables.reduce([[]]) { cells, variable in
      cells.flatMap { cell in variable.values.map { cell + [(variable.name, $0)] } }
    }
  }

  private static func rules(
    _ key: String, of node: YAMLNode, _ variables: [Variable], _ reading: inout Reading
  ) -> [Rule] {
    guard let list = node[key], let items = list.items,
      let decoded = ruleList.decode(list, &reading)
    else {
      if let wrong = node[key], wrong.items == nil {
        reading.report(.wrongNode, "expected a list of combinations, found \(wrong.description)", at: wrong.span)
      }
      return []
    }
    for (item, rule) in zip(items, decoded) {
      for part in rule {
        guard let variable = variables.first(where: { $0.name == part.name }) else {
          reading.reportUnknown(.unknownVariable, "variable", part.name, among: variables.map(\.name), at: part.span)
          continue
        }
        let legal = variable.values.map(\.text)
        let node = item[part.name]
        for (index, value) in part.value.enumerated() where !legal.contains(value.text) {
          let span = node?.items?[index].span ?? node?.span ?? part.span
          let hint = Suggestion.hint(for: value.text, among: legal, noun: "it has")
          reading.report(.notAChoice, "'\(value.text)' is not a value of \(part.name)", at: span, hint: hint)
        }
      }
    }
    return decoded.map { rule in rule.map { ($0.name, $0.value.map(\.text)) } }
  }

  private static func matches(_ rule: Rule, _ cell: [Assignment]) -> Bool {
    rule.allSatisfy { part in cell.contains { $0.variable == part.variable && part.values.contains($0.value.text) } }
  }
}
