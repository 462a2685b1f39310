internal import CallCore
internal import Foundation
package import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// A comparison as text for people: tables, verdicts, crossings.
package struct CompareText {
  private let report: CompareReport
  private let style: TextStyle
  private let environment: RunEnvironment?

  package init(_ report: CompareReport, environment: RunEnvironment? = nil, style: TextStyle) {
    self.report = report
    self.environment = environment
    self.style = style
  }

  package var text: String {
    var out = ""
    for indices in CompareReport.scenarios(of: report.points) { out += scenario(indices) }
    let crossings = report.crossings
    if !crossings.isEmpty { out += "\n\(style.paint("where the order flips", .strong))\n" }
    for crossing in crossings { out += "  \(Self.text(crossing))\n" }
    for reference in report.references {
      let tables = report.correlationTables(with: reference)
      guard !tables.isEmpty else { continue }
      out += "\n\(style.paint("rank correlation with \(reference)", .strong))\n"
      out += tables.map { table(Self.rows($0), isRight: true) }.joined(separator: "\n")
    }
    for line in report.uncorrelated { out += "\n\(style.paint(line, .warning))\n" }
    return out + "\n" + ([closing] + footnotes + environmentLines).joined(separator: "\n") + "\n"
  }

  private func scenario(_ indices: [Int]) -> String {
    let first = report.points[indices[0]]
    var out = "\n\(style.paint(first.scenarioID, .strong))\(first.title.map { "  \(TextStyle.printable($0))" } ?? "")\n"
    out += table(Self.armRows(first))
    for index in indices { out += point(index) }
    return out
  }

  /// The rows of a table of the arms and what each changes.
  static func armRows(_ point: ArmComparison) -> [[String]] {
    point.arms.names.indices.map { index in
      let name = point.arms.names[index]
      let changes = point.arms.changes[index]
      return [
        TextStyle.printable(name), name == point.arms.baseline ? "baseline" : "",
        changes.isEmpty ? "no setting changed" : TextStyle.printable(changes),
      ]
    }
  }

  private func point(_ index: Int) -> String {
    let point = report.points[index]
    let place = point.assignments.map { "\($0.variable)=\($0.value)" }.joined(separator: " ")
    var out = "\n"
    if !place.isEmpty { out += "\(style.paint(TextStyle.printable(place), .strong))  " }
    out += "\(Wording.count(point.seeds.count, "seed")), \(channelText(point))\n"
    var rows = [[""] + point.arms.names]
    for number in point.numbers {
      rows.append([number.name] + point.arms.names.map { cell(number, $0, of: point) })
    }
    out += table(rows, isRight: true)
    for arm in point.arms.names where arm != point.arms.baseline {
      for line in verdictLines(index, arm) { out += "  \(line)\n" }
    }
    if let line = report.bestLine(index) { out += "  \(line)\n" }
    for line in point.failureTexts { out += "  \(style.paint(TextStyle.printable(line), .failure))\n" }
    for gap in point.gapTexts { out += "  \(style.paint(TextStyle.printable(gap), .warning))\n" }
    for line in CodecNotes(point).lines { out += "  \(style.paint(TextStyle.printable(line), .warning))\n" }
    for line in point.unscoredTexts { out += "  \(style.paint("no score: \(TextStyle.printable(line))", .failure))\n" }
    return out
  }

  /// What the arms of a point have in common.
  func channelText(_ point: ArmComparison) -> String {
    guard point.arms.pairing == .channel else { return "paired by seed: the arms may have met different channels" }
    guard let difference = point.channelDifference else {
      return "the same channel for every arm (\(RunResult.hexadecimal(point.channelHash)))"
    }
    return style.paint(
      "not the same channel: '\(difference.arm)' differs with seed \(difference.seed) from second "
        + "\(difference.second) on", .failure)
  }

  /// Returns the mean of an arm with half the width of its interval, and the number of runs where some have no value.
  func cell(_ number: ArmComparison.Number, _ arm: String, of point: ArmComparison) -> String {
    let samples = number.values(of: arm)
    guard !samples.isEmpty else { return "–" }
    let estimate = number.mean(of: arm, confidence: report.confidence)
    let mean = number.text(ofRounded: Self.rounded(estimate.mean, to: estimate.halfWidth))
    let text = estimate.halfWidth.map { "\(mean) ± \(number.text(ofRounded: Self.rounded($0, to: $0)))" } ?? mean
    return samples.count == point.seeds.count ? text : "\(text) (n=\(samples.count))"
  }

  /// Rounds a number to two digits of its uncertainty.
  private static func rounded(_ number: Double, to uncertainty: Double?) -> Double {
    // A whole number without any uncertainty is exact.
    guard uncertainty != 0 || number != number.rounded() else { return number }
    let scale = uncertainty.map { $0 > 0 ? $0 : abs(number) / 1_000 } ?? abs(number) / 1_000
    guard scale > 0, number.isFinite else { return number }
    let step = pow(10, (log10(scale)).rounded(.down) - 1)
    return step >= 1 ? (number / step).rounded() * step : (number / step).rounded() / (1 / step).rounded()
  }

  /// Returns a table; numbers stand on the right, texts on the left.
  private func table(_ rows: [[String]], isRight: Bool = false) -> String {
    let columns = rows[0].indices
    let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = columns.map { column in
        let padding = String(repeating: " ", count: widths[column] - row[column].count)
        return column == 0 || !isRight ? row[column] + padding : padding + row[column]
      }
      let line = "  " + cells.joined(separator: "   ")
      return line.replacing(/\ +$/, with: "") + "\n"
    }.joined()
  }

  /// The differences of an arm from the baseline, in words.
  func verdictLines(_ index: Int, _ arm: String) -> [String] {
    let point = report.points[index]
    let names = "\(arm) against \(point.arms.baseline)"
    guard point.isPaired else { return ["\(names): not compared, because the channels differ"] }
    if let idle = point.idleText(arm) { return [idle] }
    var groups: [(word: String, texts: [String])] = ["better", "worse", "other", "no difference"].map { ($0, []) }
    var few: [String] = []
    for (number, measured) in point.numbers.enumerated() {
      guard let difference = report.difference(point: index, number: number, arm: arm) else { continue }
      guard difference.estimate.interval != nil else {
        few.append("\(measured.name) (\(Wording.count(difference.estimate.count, "pair")))")
        continue
      }
      let sign = difference.estimate.sign
      let isGood = measured.better.map { ($0 == .higher) == (sign > 0) }
      let group = sign == 0 ? 3 : isGood.map { $0 ? 0 : 1 } ?? 2
      groups[group].texts.append(
        sign == 0 ? measured.name : "\(measured.name) \(Self.change(difference, measured))")
    }
    let twin = point.twinText(arm).map { [$0] } ?? []
    let lines =
      twin + groups.filter { !$0.texts.isEmpty }.map { "\(names), \($0.word): \($0.texts.joined(separator: "; "))" }
    guard !few.isEmpty else { return lines }
    return lines + [
      "\(names), no interval, which takes at least \(MeanEstimate.leastCount) pairs: \(few.joined(separator: "; "))"
    ]
  }

  /// Returns a difference with its interval: `+0.42 [+0.31, +0.53]*`, or `-47.5/s in every pair`.
  static func change(_ difference: CompareReport.Difference, _ number: ArmComparison.Number) -> String {
    let estimate = difference.estimate
    let signed = { (value: Double) in
      var rounded = rounded(value, to: estimate.halfWidth)
      // An end beside zero is not shown as zero.
      if rounded == 0, value != 0 { rounded = self.rounded(value, to: abs(value)) }
      let sign = value > 0 ? "+" : value < 0 ? "-" : ""
      let text = number.text(ofRounded: rounded.magnitude)
      // What is below the last digit that is shown is not shown as zero either.
      return sign + (value != 0 && text == number.text(of: 0) ? "<\(leastText(number))" : text)
    }
    guard estimate.deviation > 0 else { return "\(signed(estimate.mean)) in every pair" }
    let ends = estimate.interval.map { [$0.lowerBound, $0.upperBound].map(signed).joined(separator: ", ") } ?? ""
    return "\(signed(estimate.mean)) [\(ends)]\(difference.isCorrected ? "*" : "")"
  }

  /// Returns the smallest power of ten that a number shows with its digits: `0.001`.
  private static func leastText(_ number: ArmComparison.Number) -> String {
    let texts = (-9...9).lazy.map { number.text(of: pow(10, Double($0))) }
    return texts.first { $0 != number.text(of: 0) } ?? number.text(of: 1)
  }

  /// Returns the rows of a table of correlations, the head first.
  static func rows(_ correlations: [CompareReport.Correlation]) -> [[String]] {
    guard let first = correlations.first else { return [] }
    let head = ["with \(first.reference)", "arms at points", "Spearman's rho", "Kendall's tau-b"]
    return [head]
      + correlations.map { one in
        let coefficients = [one.spearman, one.kendall].map { $0.map { String(format: "%.3f", $0) } ?? "–" }
        return [one.number, "\(one.count)"] + coefficients
      }
  }

  /// Returns a crossing in words.
  static func text(_ crossing: CompareReport.Crossing) -> String {
    let others = crossing.others.isEmpty ? "" : " at \(crossing.others)"
    return "\(crossing.number): \(crossing.arm) and \(crossing.baseline) change places between "
      + "\(crossing.variable)=\(crossing.from) and \(crossing.to), near \(crossing.near.joined(separator: " and "))\(others)"
  }

  /// What the intervals are.
  var closing: String {
    let percent = Wording.quantity(report.confidence, .percentage)
    let chance = Double(report.testedCount) * (1 - report.confidence)
    let intervals = """
      ± and [ ] are \(percent) intervals by Student's t, differences paired run by run.
      \(Wording.count(report.testedCount, "difference")): by chance alone about \(String(format: "%.1f", chance)) would \
      not contain 0; those with * stay after Holm's correction.
      """
    guard report.points.indices.contains(where: { !report.notBeaten(at: $0).isEmpty }) else { return intervals }
    return intervals + """

      An arm is beaten by one that is better in some number, after Holm's correction for \
      \(Wording.count(report.duelCount, "difference")) of all pairs of arms at all points, and whose mean is worse in none.
      """
  }

  /// What some numbers rest on, and what they leave out.
  var footnotes: [String] {
    let numbers = report.points.flatMap(\.numbers)
    let measures = { (name: String) in numbers.contains { $0.measures(name) } }
    var notes: [String] = []
    if measures(HarnessEvents.meanOpinionScore.name) {
      notes.append(
        "q.mos, 1 to 5, is the fullband E-model (ITU-T G.107.2) over the last 5 s: what it takes of Opus is assumed, of G.722 partly; bursts count "
          + "as at most twice as long as those of random loss.")
    }
    let ofShown = [
      HarnessEvents.frameDelay.name, HarnessEvents.lipSync.name, HarnessEvents.peakSignalToNoise.name,
      HarnessEvents.structuralSimilarity.name,
    ].filter(measures)
    if !ofShown.isEmpty, !measures(HarnessEvents.pictureAge.name) {
      notes.append(
        "\(ofShown.joined(separator: ", ")) \(ofShown.count == 1 ? "tells" : "tell") of pictures that come; "
          + "\(HarnessEvents.pictureAge.name) tells of those that fail to, too.")
    }
    if measures("stats.inbound-rtp.video.freezeCount") || measures("stats.inbound-rtp.video.totalFreezesDuration") {
      notes.append(
        "freezeCount and totalFreezesDuration tell of freezes that have ended, and a freeze in which no packet comes for 5 s is "
          + "a pause (pauseCount, totalPausesDuration); \(HarnessEvents.pictureAge.name) tells of every picture that stands still."
      )
    }
    let scorers = numbers.compactMap { number in
      if case .score(let scorer, _, _) = number.kind { scorer } else { nil }
    }.inOrderOfAppearance
    if !scorers.isEmpty { notes.append("\(scorers.joined(separator: ", ")): each on the scale of its own program.") }
    return notes
  }

  /// The program, its libraries and the processor, the seeds, and a hash of what was encoded; empty where the first are
  /// not known.
  var environmentLines: [String] {
    guard let environment else { return [] }
    let material = report.material.map {
      "\(RunResult.hexadecimal($0)), of the sound and pictures before they are encoded"
    }
    return [
      "callsim \(environment.line)",
      "processor \(environment.processor ?? "unknown"), seeds \(SuiteHeader.ranges(report.seeds)), material "
        + (material ?? "modelled"),
    ]
  }
}
