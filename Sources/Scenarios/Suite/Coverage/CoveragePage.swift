internal import Vocabulary

/// The HTML form of a coverage report: one self-contained page of tables, without scripts. It loads nothing over a
/// network.
package struct CoveragePage {
  private let report: CoverageReport

  package init(_ report: CoverageReport) { self.report = report }

  /// The page.
  package var text: String {
    StaticPage.text(name: "coverage", style: PackageResources.coverage_css, content: content)
  }

  private var content: String {
    let lines = report.lines.map { "<p>\(Self.escaped($0))</p>\n" }.joined()
    return "<section class=\"card runs\">\n<h2>Runs</h2>\n\(lines)</section>\n"
      + (report.profiles.isEmpty ? "" : Self.key) + report.profiles.map(text).joined()
  }

  private static let key = """
    <section class="card">
    <h2>Marks</h2>
    <table class="key"><tbody>
    <tr><td class="taken"><b>12</b></td><td>declared, and taken so often</td></tr>
    <tr><td class="taken"><b>12</b> +3</td><td>and 3 times the event came and no transition followed</td></tr>
    <tr><td class="never-taken"><b>never taken</b></td><td>declared, and no run took it</td></tr>
    <tr><td class="undeclared"><b>undeclared 2</b></td><td>not declared, and taken or asked for: a defect</td></tr>
    <tr><td class="stayed"><b>stayed 3</b></td><td>the event came, no transition followed, and the state stayed</td></tr>
    <tr><td class="blank">·</td><td>neither declared nor seen</td></tr>
    </tbody></table>
    </section>

    """

  private func text(_ profile: CoverageReport.Profile) -> String {
    var out = "<h1>\(Self.escaped(profile.name))</h1>\n<p>\(Self.escaped(CoverageText.summary(profile)))</p>\n"
    for grid in profile.machines + profile.connections { out += card(grid.machine.name, matrix(grid)) }
    let missing = profile.missing
    if !missing.isEmpty {
      let rows = missing.map { ["\($0.machine): \($0.text)", $0.pathText] }
      let table = Self.table(["transition", "shortest declared way to its source"], rows.map { $0.map(Self.cell) })
      out += card("Transitions never taken (\(missing.count))", table)
    }
    for (title, items) in [
      ("End codes", profile.endCodes), ("Error codes", profile.errorCodes), ("Messages", profile.messages),
    ] where !items.isEmpty {
      out += card("\(title) (\(items.share.text))", list(items))
    }
    return out
  }

  private func card(_ title: String, _ content: String) -> String {
    "<section class=\"card\">\n<h2>\(Self.escaped(title))</h2>\n\(content)</section>\n"
  }

  // MARK: Tables

  private func matrix(_ grid: CoverageGrid) -> String {
    let head = grid.machine.states.map { "<th scope=\"col\">\(Self.escaped($0.name))</th>" }.joined()
    var out = "<div class=\"scroll\"><table class=\"matrix\">\n"
    out +=
      "<thead><tr><th scope=\"col\">\(grid.isDeclared ? "event \\ state" : "entered \\ from")</th>\(head)</tr></thead>\n<tbody>\n"
    for row in grid.rows {
      let kind = row.kind.isEmpty ? "" : "<small>\(Self.escaped(row.kind))</small>"
      out += "<tr><th scope=\"row\">\(Self.escaped(row.name))\(kind)</th>"
      out += row.cells.map(Self.cell).joined() + "</tr>\n"
    }
    out += "</tbody>\n</table></div>\n"
    if !grid.isDeclared, !grid.unentered.isEmpty {
      out += "<p class=\"soft\">never entered: \(Self.escaped(grid.unentered.joined(separator: ", ")))</p>\n"
    }
    let reworded = grid.declared.filter(\.isReworded)
    if !reworded.isEmpty {
      let rows = reworded.map { ["\($0.transition.from) > \($0.transition.to)", $0.transition.event, $0.wordText] }
      out += Self.table(["transition", "declared cause", "causes that the app gave"], rows.map { $0.map(Self.cell) })
    }
    return out
  }

  private func list(_ items: [CoverageReport.Item]) -> String {
    Self.table(
      ["name", "seen", "first in", "meaning"],
      items.map { item in
        let isMissing = item.seen.count == 0
        return [
          Self.cell(item.name),
          isMissing ? "<td class=\"bad\">never</td>" : "<td class=\"num\">\(item.seen.count)</td>",
          Self.cell(item.seen.first), Self.cell(item.summary),
        ]
      })
  }

  private static func table(_ heads: [String], _ rows: [[String]]) -> String {
    let head = heads.map { "<th scope=\"col\">\(escaped($0))</th>" }.joined()
    return "<div class=\"scroll\"><table class=\"lists\">\n<thead><tr>\(head)</tr></thead>\n<tbody>\n"
      + rows.map { "<tr>\($0.joined())</tr>\n" }.joined() + "</tbody>\n</table></div>\n"
  }

  private static func cell(_ text: String) -> String { "<td>\(escaped(text))</td>" }

  private static func cell(_ cell: CoverageGrid.Cell) -> String {
    let number = cell.seen.count
    let text =
      switch cell.mark {
      case .taken: "<b>\(number)</b>" + (cell.stayed.count > 0 ? " +\(cell.stayed.count)" : "")
      case .neverTaken: "<b>never taken</b>"
      case .undeclared: "<b>undeclared \(number)</b>"
      case .stayed: "<b>stayed \(number)</b>"
      case .blank: "·"
      }
    let note = cell.note.isEmpty ? "" : "<small>\(escaped(cell.note))</small>"
    return "<td class=\"\(cell.mark.rawValue)\">\(text)\(note)</td>"
  }

  private static func escaped(_ text: String) -> String { StaticPage.escaped(text) }
}
