public import ScenarioFormat

/// A summary of one scenario's steps and expectations, as `callsim explain <id>` prints it.
public enum ScenarioOutline {
  /// Describes a scenario.
  ///
  /// - Parameter id: the id of a scenario, one of its cells, or a run.
  /// - Returns: nil when no file has it.
  public static func text(_ id: String, in files: [ScenarioFile]) -> String? {
    let name = RunName(id)
    for file in files {
      guard let cell = file.cells.first(where: { $0.id == name.cellID || $0.scenario.id == name.cellID }) else {
        continue
      }
      return text(file, cell)
    }
    return nil
  }

  private static func text(_ file: ScenarioFile, _ cell: Cell) -> String {
    var out = "\(cell.id)  \(file.path)\n"
    if let title = file.title { out += "  \(title)\n" }
    if let why = file.why { out += "  why: \(why)\n" }
    if file.cells.count > 1 { out += "  \(file.cells.count) cells: \(file.cells.map(\.id).joined(separator: " "))\n" }
    out += "  seeds: \(SuiteHeader.ranges(file.seeds.all))\n"
    let source = { (span: SourceSpan) in file.sources.line(at: span)?.trimmed ?? "" }
    out += section("timeline", cell.scenario.timeline.map { "\(line($0.span)) \(source($0.span))" })
    out += section("expect", cell.scenario.expectations.map { "\(line($0.span)) \($0.text)" })
    let changes = cell.scenario.invariants
    let invariants = Invariant.allCases.filter { invariant in
      changes.last { $0.invariant == invariant }?.isOn ?? invariant.isDefault
    }
    out += section(
      "invariants",
      invariants.map { "\($0.rawValue): \($0.summary)" }
        + FixedInvariant.allCases.map { "\($0.rawValue): \($0.summary)" })
    return TextStyle.printableLines(out)
  }

  private static func section(_ title: String, _ lines: [String]) -> String {
    lines.isEmpty ? "" : "\(title)\n" + lines.map { "  \($0)\n" }.joined()
  }

  private static func line(_ span: SourceSpan) -> String { span.line > 0 ? "\(span.line):" : "-" }
}

/// The parts of a run's name, `id[var=value,…]#seed`.
public struct RunName: Sendable, Equatable {
  /// The id of the scenario.
  public let scenarioID: String
  /// The id of the cell.
  public let cellID: String
  /// The seed; nil if the name has none.
  public let seed: UInt64?

  /// Splits a name into its parts.
  public init(_ text: String) {
    let hash = text.lastIndex(of: "#")
    let seed = hash.flatMap { UInt64(text[text.index(after: $0)...]) }
    cellID = seed == nil ? text : hash.map { String(text[..<$0]) } ?? text
    self.seed = seed
    scenarioID = String(cellID.prefix { $0 != "[" })
  }
}

extension String {
  fileprivate var trimmed: String {
    let isBlank: (Character) -> Bool = { $0.isWhitespace }
    return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}
