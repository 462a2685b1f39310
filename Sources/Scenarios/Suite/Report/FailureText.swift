internal import CallCore
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// The text about a failed run: the expectation and its location, the actual course, and the command that repeats the
/// run.
public struct FailureText {
  private let run: ReportedRun
  private let style: TextStyle

  /// Describes a run.
  public init(_ run: ReportedRun, style: TextStyle = .plain) {
    self.run = run
    self.style = style
  }

  /// The number of findings that are described in full; the rest is counted.
  static let findingLimit = 10

  /// The text, of several lines.
  public var text: String {
    let result = run.result
    var out =
      style.paint(Self.word(result.verdict), .failure) + " " + style.paint(TextStyle.printable(result.id), .strong)
    let times = "virtual \(TextStyle.seconds(result.virtualDuration)), cpu \(TextStyle.seconds(result.cpuSeconds))"
    out += "   \(RunName(result.id).seed == nil ? "over all its seeds" : times)\n"
    if let realTime = result.realTime { out += line("pace", [realTime.text]) }
    if let title = result.title { out += "  \(TextStyle.printable(title))\n" }
    var told: Set<String> = []
    for finding in result.findings.prefix(Self.findingLimit) { out += text(finding, besides: &told) }
    if result.findings.count > Self.findingLimit {
      out += "  and \(result.findings.count - Self.findingLimit) more findings\n"
    }
    out += line("not judged", result.realTime?.notJudged ?? [])
    out += line("replay", [run.replay])
    if let artifacts = run.artifacts {
      let names = artifacts.names.isEmpty ? "no files" : artifacts.names.joined(separator: ", ")
      out += line("artifacts", ["\(artifacts.folder): \(names)"])
      out += line("incomplete", artifacts.problem.map { [$0] } ?? [])
    }
    return WorkflowCommand.defused(out)
  }

  /// Returns the text of a finding.
  ///
  /// - Parameter told: the explanations given for earlier findings of the same run: each cause is explained once.
  private func text(_ finding: Finding, besides told: inout Set<String>) -> String {
    let place = finding.location ?? "\(finding.kind.rawValue)"
    let title = TextStyle.printable(finding.title)
    var out = "  \(style.paint(TextStyle.printable(place), .place))  \(title)\n"
    if finding.kind == .warning { out += line("severity", ["warning"]) }
    // Among failures it would look like a failure.
    if finding.kind == .vacuous, run.result.verdict != .vacuous { out += line("verdict", ["vacuous"]) }
    out += line("expected", [finding.expected])
    out += line("actual", finding.actual.isEmpty ? [] : [finding.actual], at: finding.time)
    out += line("trail", Self.news(in: finding.trail, besides: &told))
    out += line("why", finding.why.map { [$0] } ?? [])
    for (label, texts) in finding.causes { out += line(label, Self.news(in: texts, besides: &told)) }
    return out
  }

  private static func news(in texts: [String], besides told: inout Set<String>) -> [String] {
    let news = texts.filter { !told.contains($0) }
    told.formUnion(news)
    return news.isEmpty && !texts.isEmpty ? ["as above"] : news
  }

  /// Returns a label and its lines, the following lines indented below the first.
  private func line(_ label: String, _ texts: [String], at time: Instant? = nil) -> String {
    let lines = texts.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) }
    var out = ""
    for (index, text) in lines.enumerated() {
      let head = index == 0 ? style.paint(label, .label) + String(repeating: " ", count: max(1, 11 - label.count)) : ""
      let gutter = index == 0 ? "" : String(repeating: " ", count: 11)
      out += "  \(head)\(gutter)\(TextStyle.printable(text))"
      if index == lines.count - 1, let time, time != .zero { out += "   (at \(TextStyle.seconds(time - .zero)))" }
      out += "\n"
    }
    return out
  }

  static func word(_ verdict: Verdict) -> String {
    switch verdict {
    case .pass: "PASS"
    case .fail: "FAIL"
    case .broken: "BROKEN"
    case .vacuous: "VACUOUS"
    case .inconclusive: "INCONCLUSIVE"
    case .timeout: "TIMEOUT"
    case .nondeterministic: "NONDETERMINISTIC"
    case .skipped: "SKIP"
    }
  }
}

extension Finding {
  /// The explanations, under the labels that reports use. The course of events precedes faults, because a fault in
  /// force may be unrelated to the failure.
  var causes: [(label: String, lines: [String])] { [("explain", explanation), ("faults", faults)] }
}
