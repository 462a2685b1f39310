internal import CallCore
internal import PeerSession
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// A comparison as a page to look at: charts, tables and verdicts.
package struct ComparePage {
  private let report: CompareReport
  private let text: CompareText

  package init(_ report: CompareReport, environment: RunEnvironment) {
    self.report = report
    text = CompareText(report, environment: environment, style: .plain)
  }

  package var html: String {
    StaticPage.text(name: "compare", style: PackageResources.compare_css, content: content)
  }

  private var content: String {
    let groups = CompareReport.scenarios(of: report.points)
    var out = groups.map(scenario).joined()
    let crossings = report.crossings
    if !crossings.isEmpty {
      let items = crossings.map { "<li>\(StaticPage.escaped(CompareText.text($0)))</li>\n" }.joined()
      out += card("Where the order flips", "<ul>\n\(items)</ul>\n")
    }
    let correlations = report.references.flatMap(report.correlationTables)
    if !correlations.isEmpty { out += card("Rank correlation", correlations.map(table).joined()) }
    for line in report.uncorrelated { out += "<p class=\"warning\">\(StaticPage.escaped(line))</p>\n" }
    let lines = text.closing.split(whereSeparator: \.isNewline).map(String.init) + text.footnotes
    let about = (lines + text.environmentLines).map { "<p>\(StaticPage.escaped($0))</p>\n" }.joined()
    return out + "<section class=\"about\">\n\(about)</section>\n"
  }

  private func card(_ title: String, _ content: String) -> String {
    "<section class=\"card\">\n<h2>\(StaticPage.escaped(title))</h2>\n\(content)</section>\n"
  }

  private func table(_ correlations: [CompareReport.Correlation]) -> String {
    let rows = CompareText.rows(correlations).enumerated().map { index, cells in
      let (open, close) = index == 0 ? ("<th scope=\"col\">", "</th>") : ("<td>", "</td>")
      return "<tr>" + cells.map { open + StaticPage.escaped($0) + close }.joined() + "</tr>\n"
    }
    return "<div class=\"scroll\"><table>\n\(rows.joined())</table></div>\n"
  }

  private func scenario(_ indices: [Int]) -> String {
    let first = report.points[indices[0]]
    var out = "<h1>\(StaticPage.escaped(first.title ?? first.scenarioID))</h1>\n"
    if let why = first.why { out += "<p>\(StaticPage.escaped(why))</p>\n" }
    out += legend(first) + "<div class=\"charts\">\n" + charts(indices) + "</div>\n"
    for index in indices { out += point(index) + timeline(report.points[index]) }
    return out
  }

  /// The arms with their colours, and what each changes.
  private func legend(_ point: ArmComparison) -> String {
    let items = CompareText.armRows(point).enumerated().map { index, row in
      "<li><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><line x1=\"0\" x2=\"26\" y1=\"5\" y2=\"5\" stroke-width=\"2.5\" "
        + "stroke=\"\(CompareChart.color(index))\" stroke-dasharray=\"\(CompareChart.dash(index))\"/></svg>"
        + "<b>\(StaticPage.escaped(row[0]))</b> <small>\(StaticPage.escaped(row[1]))</small> "
        + "<code>\(StaticPage.escaped(row[2]))</code></li>"
    }
    return "<ul class=\"legend\">\(items.joined())</ul>\n"
  }

  // MARK: Charts

  private func charts(_ indices: [Int]) -> String {
    let first = report.points[indices[0]]
    var out = ""
    for number in first.numbers.indices { out += lines(of: number, indices) }
    for index in indices { out += trade(index) }
    for index in indices { out += distribution(index) }
    return out
  }

  /// The variable whose values are numbers, and along which lines run; nil for a single point.
  private func axis(_ indices: [Int]) -> String? {
    report.points[indices[0]].assignments.map(\.variable).first { variable in
      let values = indices.compactMap { index in
        report.points[index].assignments.first { $0.variable == variable }?.value
      }
      return Set(values).count > 1 && values.allSatisfy { Value(text: $0).number != nil }
    }
  }

  /// A number over the first variable of numbers, one chart for each combination of the others.
  private func lines(of number: Int, _ indices: [Int]) -> String {
    let measured = report.points[indices[0]].numbers[number]
    guard let axis = axis(indices) else {
      return indices.map { dots(of: number, $0) }.joined()
    }
    var groups: [(others: String, points: [(x: Double, text: String, index: Int)])] = []
    for index in indices {
      let point = report.points[index]
      guard let own = point.assignments.first(where: { $0.variable == axis }), let x = Value(text: own.value).number
      else { continue }
      let others = point.assignments.filter { $0.variable != axis }.map { "\($0.variable)=\($0.value)" }
        .joined(separator: " ")
      if let group = groups.firstIndex(where: { $0.others == others }) {
        groups[group].points.append((x, own.value, index))
      } else {
        groups.append((others, [(x, own.value, index)]))
      }
    }
    return groups.map { others, points in
      let sorted = points.sorted { $0.x < $1.x }
      let lines = report.points[indices[0]].arms.names.enumerated().map { style, arm in
        CompareChart.Line(
          name: arm, style: style, points: sorted.compactMap { point(arm, measured.name, at: $0.index, x: $0.x) })
      }
      let chart = CompareChart(lines: lines, marks: sorted.map { ($0.x, $0.text) }, text: measured.text(of:))
      let gaps = points.contains { place in
        report.points[place.index].gaps.contains { $0.concerns(measured.name) }
      }
      let place = "over \(axis)\(others.isEmpty ? "" : ", \(others)")"
      return figure(measured.name, gaps ? "\(place); some runs have no value, see below" : place, chart)
    }.joined()
  }

  /// A number of a single point, one mark for each arm.
  private func dots(of number: Int, _ index: Int) -> String {
    let compared = report.points[index]
    let arms = compared.arms.names
    let lines = arms.enumerated().map { style, arm in
      CompareChart.Line(
        name: arm, style: style,
        points: [point(arm, compared.numbers[number].name, at: index, x: Double(style))].compactMap(\.self),
        isJoined: false)
    }
    let marks = arms.enumerated().map { (x: Double($0), text: $1) }
    let chart = CompareChart(lines: lines, marks: marks, text: compared.numbers[number].text(of:))
    return figure(compared.numbers[number].name, place(compared), chart)
  }

  private func point(_ arm: String, _ name: String, at index: Int, x: Double) -> CompareChart.Point? {
    let number = report.points[index].numbers.first { $0.name == name }
    guard let estimate = number?.mean(of: arm, confidence: report.confidence), estimate.count > 0 else { return nil }
    return CompareChart.Point(x: x, y: estimate.mean, interval: estimate.interval)
  }

  /// What a number gains for what another costs.
  private func trade(_ index: Int) -> String {
    let compared = report.points[index]
    guard let paid = compared.numbers.first(where: \.isCost), let gained = compared.numbers.first(where: \.isScore)
    else {
      return ""
    }
    let lines = compared.arms.names.enumerated().map { style, arm in
      let price = paid.mean(of: arm).mean
      return CompareChart.Line(
        name: arm, style: style, points: [point(arm, gained.name, at: index, x: price)].compactMap(\.self),
        isJoined: false)
    }
    let chart = CompareChart(lines: lines, text: gained.text(of:), xText: paid.text(of:))
    return figure("\(gained.name) for \(paid.name)", place(compared), chart)
  }

  /// The share of runs up to a value.
  private func distribution(_ index: Int) -> String {
    let compared = report.points[index]
    guard let measured = compared.numbers.first(where: \.isScore) else { return "" }
    let lines = compared.arms.names.enumerated().map { style, arm in
      let samples = measured.values(of: arm).sorted()
      let points = samples.enumerated().map { rank, value in
        CompareChart.Point(x: value, y: Double(rank + 1) / Double(samples.count), interval: nil)
      }
      return CompareChart.Line(name: arm, style: style, points: points, isSteps: true)
    }
    guard lines.contains(where: { $0.points.count >= MeanEstimate.leastCount }) else { return "" }
    let chart = CompareChart(
      lines: lines, text: { Wording.quantity($0, .percentage) }, xText: measured.text(of:))
    return figure("Share of runs up to a \(measured.name)", place(compared), chart)
  }

  /// What happened when in the runs with the first seed.
  private func timeline(_ compared: ArmComparison) -> String {
    guard let timeline = compared.timeline else { return "" }
    var seen: Set<String> = []
    var charts = ""
    for number in compared.numbers where seen.insert(number.courseTitle).inserted {
      guard let courses = timeline.courses[number.courseTitle] else { continue }
      charts += figure(
        number.courseTitle, "seed \(timeline.seed)",
        course(compared, text: number.courseText(of:)) { courses[$0]?.points.map { ($0.time.seconds, $0.value) } ?? [] }
      )
    }
    if timeline.drops.values.contains(where: { $0.total > 0 }) {
      charts += figure(
        "Packets dropped", "seed \(timeline.seed)",
        course(compared, text: { Wording.quantity($0, .count) }) { timeline.drops[$0]?.points ?? [] })
    }
    guard !charts.isEmpty else { return "" }
    let place = place(compared)
    let title = "Seed \(timeline.seed) over time" + (place.isEmpty ? "" : ", \(place)")
    return
      "<details class=\"card\"><summary>\(StaticPage.escaped(title))</summary>\n<div class=\"charts\">\n\(charts)</div></details>\n"
  }

  private func course(
    _ compared: ArmComparison, text: @escaping (Double) -> String, _ points: (String) -> [(x: Double, y: Double)]
  ) -> CompareChart {
    let lines = compared.arms.names.enumerated().map { style, arm in
      CompareChart.Line(
        name: arm, style: style, points: points(arm).map { CompareChart.Point(x: $0.x, y: $0.y, interval: nil) },
        hasMarks: false)
    }
    return CompareChart(lines: lines, text: text, xText: { Wording.quantity($0, .duration) })
  }

  private func place(_ point: ArmComparison) -> String {
    point.assignments.map { "\($0.variable)=\($0.value)" }.joined(separator: " ")
  }

  private func figure(_ title: String, _ place: String, _ chart: CompareChart) -> String {
    let small = place.isEmpty ? "" : "<small>\(StaticPage.escaped(place))</small>"
    return "<figure>\n<figcaption>\(StaticPage.escaped(title))\(small)</figcaption>\n\(chart.svg)</figure>\n"
  }

  // MARK: Tables

  private func point(_ index: Int) -> String {
    let compared = report.points[index]
    let heads = ["number"] + compared.arms.names
    var rows = ""
    for (number, measured) in compared.numbers.enumerated() {
      rows += "<tr><th scope=\"row\">\(StaticPage.escaped(measured.name))</th>"
      for arm in compared.arms.names {
        rows += "<td\(arm == compared.arms.baseline ? " class=\"base\"" : "")>"
        rows += StaticPage.escaped(text.cell(measured, arm, of: compared)) + change(index, number, arm) + "</td>"
      }
      rows += "</tr>\n"
    }
    let head = heads.map { "<th scope=\"col\">\(StaticPage.escaped($0))</th>" }.joined()
    var out = "<div class=\"scroll\"><table><thead><tr>\(head)</tr></thead>\n<tbody>\n\(rows)</tbody></table></div>\n"
    let lines =
      compared.arms.names.filter { $0 != compared.arms.baseline }
      .flatMap { text.verdictLines(index, $0) } + [report.bestLine(index)].compactMap(\.self)
    out += "<ul class=\"verdicts\">\n" + lines.map { "<li>\(StaticPage.escaped($0))</li>\n" }.joined() + "</ul>\n"
    let seeds = Wording.count(compared.seeds.count, "seed")
    out +=
      "<p class=\"\(compared.isPaired ? "soft" : "warning")\">\(seeds), \(StaticPage.escaped(text.channelText(compared)))</p>\n"
    for line in compared.failureTexts { out += "<p class=\"warning\">\(StaticPage.escaped(line))</p>\n" }
    for gap in compared.gapTexts { out += "<p class=\"warning\">\(StaticPage.escaped(gap))</p>\n" }
    for line in CodecNotes(compared).lines { out += "<p class=\"soft\">\(StaticPage.escaped(line))</p>\n" }
    for line in compared.unscoredTexts { out += "<p class=\"warning\">\(StaticPage.escaped(line))</p>\n" }
    return card(place(compared).isEmpty ? "All arms" : place(compared), out)
  }

  /// The difference from the baseline, below the arm's own value.
  private func change(_ index: Int, _ number: Int, _ arm: String) -> String {
    guard let difference = report.difference(point: index, number: number, arm: arm),
      difference.estimate.interval != nil
    else { return "" }
    guard !report.points[index].idleArms.contains(arm) else { return "" }
    let measured = report.points[index].numbers[number]
    let sign = difference.estimate.sign
    guard sign != 0 else { return "<small>no difference</small>" }
    let text = StaticPage.escaped(CompareText.change(difference, measured))
    let isGood = measured.better.map { ($0 == .higher) == (sign > 0) }
    return "<small><span\(isGood.map { " class=\"\($0 ? "good" : "bad")\"" } ?? "")>\(text)</span></small>"
  }
}
