package import ScenarioFormat
internal import ScenarioJudge
internal import Vocabulary

/// The text form of a coverage report, for a terminal.
package struct CoverageText {
  private let report: CoverageReport
  private let style: TextStyle

  package init(_ report: CoverageReport, style: TextStyle = .plain) {
    self.report = report
    self.style = style
  }

  private static let legend = """
    12     taken so often            NEVER  declared and never taken
    12+3   and 3 times without       (3)    the event came, no transition followed
    !2     not declared, but taken   .      neither declared nor seen

    """

  /// The text, of many lines.
  package var text: String {
    var out = report.lines.map { TextStyle.printable($0) + "\n" }.joined()
    if !report.profiles.isEmpty { out += "\n" + Self.legend }
    for profile in report.profiles { out += text(profile) }
    return out
  }

  private func text(_ profile: CoverageReport.Profile) -> String {
    var out = "\n" + style.paint("profile \(profile.name)", .strong) + ": \(Self.summary(profile))\n"
    for grid in profile.machines + profile.connections { out += text(grid) }
    let missing = profile.missing
    out += section("transitions never taken", missing.map { ("\($0.machine) \($0.text)", $0.pathText) })
    out += section("end codes never provoked", profile.endCodes.missing.map { ($0.name, $0.summary) })
    out += section("error codes never provoked", profile.errorCodes.missing.map { ($0.name, $0.summary) })
    out += section("messages never sent", profile.messages.missing.map { ($0.name, $0.summary) })
    return out
  }

  static func summary(_ profile: CoverageReport.Profile) -> String {
    var parts = ["\(profile.transitions.text) transitions"]
    for (noun, items) in [
      ("end codes", profile.endCodes), ("error codes", profile.errorCodes), ("messages", profile.messages),
    ] where !items.isEmpty {
      parts.append("\(items.share.text) \(noun)")
    }
    parts.append(CoverageReport.count(profile.jointStates, "joint state"))
    return parts.joined(separator: ", ")
  }

  private func section(_ title: String, _ items: [(name: String, note: String)]) -> String {
    guard !items.isEmpty else { return "" }
    let width = items.map(\.name.count).max() ?? 0
    return "\n  " + style.paint("\(title): \(items.count)", .failure) + "\n"
      + items.map { "    \(Self.padded($0.name, width))  \(TextStyle.printable($0.note))\n" }.joined()
  }

  // MARK: Grids

  private func text(_ grid: CoverageGrid) -> String {
    let states = grid.machine.states.map(\.name)
    let labels = grid.rows.map { $0.label }
    let first = max(labels.map(\.count).max() ?? 0, grid.corner.count)
    let cells = grid.rows.map { $0.cells.map(\.text) }
    let widths = states.indices.map { column in
      max(states[column].count, cells.map { $0[column].count }.max() ?? 0)
    }
    var out = "\n  " + style.paint(grid.machine.name, .strong) + "\n"
    let head = zip(states, widths).map { Self.padded($0, $1, isRight: true) }.joined(separator: "  ")
    out += "    \(style.paint("\(Self.padded(grid.corner, first))  \(head)", .label))\n"
    for (row, texts) in zip(grid.rows, cells) {
      out += "    \(Self.padded(row.label, first))"
      for (column, text) in texts.enumerated() {
        out += "  " + painted(Self.padded(text, widths[column], isRight: true), row.cells[column].mark)
      }
      out += "\n"
    }
    if !grid.isDeclared, !grid.unentered.isEmpty {
      out += "    never entered: \(grid.unentered.joined(separator: ", "))\n"
    }
    return out + firsts(grid)
  }

  /// Returns where each cell was seen first.
  private func firsts(_ grid: CoverageGrid) -> String {
    var lines: [(String, String)] = []
    for (column, state) in grid.machine.states.map(\.name).enumerated() {
      for row in grid.rows where row.cells[column].mark != .blank {
        let cell = row.cells[column]
        guard cell.seen.count > 0 || cell.stayed.count > 0 else { continue }
        lines.append(("\(state), \(row.label)", cell.note))
      }
    }
    let words = grid.declared.filter(\.isReworded).map { item in
      ("\(item.transition.from) > \(item.transition.to)", item.wordText)
    }
    return list("first seen", lines) + list("causes in the app's words", words)
  }

  private func list(_ title: String, _ lines: [(String, String)]) -> String {
    guard !lines.isEmpty else { return "" }
    let width = lines.map(\.0.count).max() ?? 0
    return "    " + style.paint(title, .label) + "\n"
      + lines.map { "      \(Self.padded($0, width))  \(TextStyle.printable($1))\n" }.joined()
  }

  private func painted(_ text: String, _ mark: CoverageGrid.Mark) -> String {
    switch mark {
    case .taken: style.paint(text, .success)
    case .neverTaken, .undeclared: style.paint(text, .failure)
    case .stayed: style.paint(text, .warning)
    case .blank: style.paint(text, .label)
    }
  }

  private static func padded(_ text: String, _ width: Int, isRight: Bool = false) -> String {
    let (text, fill) = (TextStyle.printable(text), String(repeating: " ", count: max(0, width - text.count)))
    return isRight ? fill + text : text + fill
  }
}

extension CoverageGrid {
  /// The heading of the rows.
  var corner: String { isDeclared ? "event \\ state" : "entered \\ from" }
}

extension CoverageGrid.Row {
  /// The name of the row: `message call`, `timeout`.
  var label: String {
    // The names of changes of the network say that they are such.
    kind.isEmpty || kind == RunCoverage.EventKind.network.rawValue ? name : "\(kind) \(name)"
  }
}

extension CoverageGrid.Cell {
  /// The cell in a few characters.
  var text: String {
    switch mark {
    case .taken: "\(seen.count)" + (stayed.count > 0 ? "+\(stayed.count)" : "")
    case .neverTaken: "NEVER" + (seen.count + stayed.count > 0 ? "(\(seen.count + stayed.count))" : "")
    case .undeclared: "!\(seen.count)"
    case .stayed: "(\(seen.count))"
    case .blank: "."
    }
  }

  /// The first runs with the event: `first in hello#1; stayed, first in busy#1`.
  var note: String {
    var parts: [String] = []
    if seen.count > 0 { parts.append("\(mark == .stayed ? "stayed, first in" : "first in") \(seen.first)") }
    if stayed.count > 0 { parts.append("stayed, first in \(stayed.first)") }
    return parts.joined(separator: "; ")
  }
}

extension CoverageGrid.Declared {
  /// Whether the app has other words for the cause than the declaration.
  var isReworded: Bool { words.contains { $0.word != transition.event } }

  /// `hangup (3), timeout (1)`
  var wordText: String { words.map { "\($0.word) (\($0.count))" }.joined(separator: ", ") }
}
