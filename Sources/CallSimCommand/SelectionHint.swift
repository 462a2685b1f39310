import ScenarioFormat
import ScenarioSuite

/// The reason for an empty selection: the first filter after which no run is left, and possible values for it.
struct SelectionHint {
  private let selection: SuiteSelection
  private let files: [ScenarioFile]

  init(_ selection: SuiteSelection, _ files: [ScenarioFile]) {
    self.selection = selection
    self.files = files
  }

  var text: String {
    var partial = SuiteSelection()
    partial.seed = selection.seed
    partial.seedCount = selection.seedCount
    var earlier: [String] = []
    for (option, alone, add) in filters {
      let before = count(partial)
      add(&partial)
      if count(partial) > 0 {
        earlier.append(option)
      } else if let alone {
        return alone
      } else {
        let others = earlier.isEmpty ? "" : " that \(earlier.joined(separator: " ")) leaves"
        return "\(option) leaves none of the \(before) run\(before == 1 ? "" : "s")\(others)"
      }
    }
    return files.isEmpty
      ? "the files hold no scenario, only what scenarios use"
      : "'\(ProgramName.current) list' shows what there is to choose from"
  }

  private typealias Filter = (option: String, alone: String?, add: (inout SuiteSelection) -> Void)

  /// The filters: each option as text, its error independent of the others, and the filter itself.
  private var filters: [Filter] {
    var filters: [Filter] = []
    if !selection.tags.isEmpty {
      let option = selection.tags.map { "--tag \($0)" }.joined(separator: " ")
      filters.append((option, tagProblem, { [selection] in $0.tags = selection.tags }))
    }
    if !selection.texts.isEmpty {
      let option = selection.texts.map { "-k \($0)" }.joined(separator: " ")
      filters.append((option, textProblem, { [selection] in $0.texts = selection.texts }))
    }
    var variables: [String] = []
    for wanted in selection.cell where !variables.contains(wanted.name) {
      variables.append(wanted.name)
      let values = selection.cell.filter { $0.name == wanted.name }
      let option = values.map { "--cell \($0.name)=\($0.value)" }.joined(separator: " ")
      filters.append((option, cellProblem(values), { $0.cell += values }))
    }
    if let names = selection.names {
      filters.append(("--last-failed", nil, { $0.names = names }))
    }
    return filters
  }

  private func count(_ selection: SuiteSelection) -> Int {
    SuitePlan(files: files, hash: 0, selection: selection).runs.count
  }

  private var tagProblem: String? {
    let tags = Set(files.flatMap(\.tags)).sorted()
    guard let tag = selection.tags.first, !selection.tags.contains(where: tags.contains) else { return nil }
    return "no scenario has the tag '\(tag)'; \(hint(for: tag, among: tags))"
  }

  private var textProblem: String? {
    let isThere = selection.texts.contains { text in
      files.contains { file in (file.title ?? "").contains(text) || file.cells.contains { $0.id.contains(text) } }
    }
    let texts = selection.texts.map { "'\($0)'" }.joined(separator: " or ")
    guard !isThere else { return nil }
    let hint = selection.texts.contains { $0.contains(",") } ? "; of several texts each has a -k of its own" : ""
    return "no cell's id and no scenario's title contains \(texts)\(hint)"
  }

  /// - Parameter choices: Values of one variable, at least one.
  private func cellProblem(_ choices: [ScenarioOverride]) -> String? {
    guard let wanted = choices.first else { return nil }
    let assignments = files.flatMap(\.cells).flatMap(\.assignments)
    let variables = Set(assignments.map(\.variable)).sorted()
    guard variables.contains(wanted.name) else {
      return "no matrix has the variable '\(wanted.name)'; \(hint(for: wanted.name, among: variables))"
    }
    let values = Set(assignments.filter { $0.variable == wanted.name }.map(\.value)).sorted()
    guard !choices.contains(where: { values.contains($0.value) }) else { return nil }
    return "'\(wanted.value)' is not a value of \(wanted.name); \(hint(for: wanted.value, among: values))"
  }

  private func hint(for text: String, among known: [String]) -> String {
    Suggestion.hint(for: text, among: known, noun: "there are")
      ?? (known.isEmpty ? "there is none" : "there are: \(known.prefix(12).joined(separator: ", "))")
  }
}
