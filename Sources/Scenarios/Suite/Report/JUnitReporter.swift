public import ScenarioFormat
import ScenarioJudge
import ScenarioRun

/// JUnit XML for build servers: a suite for every scenario file, a case for every run.
///
/// Broken expectations and invariants are failures, as is a run that tested nothing. A verdict that is not about the
/// software under test (harness, wall limit, determinism) is an error. A run that was not made is skipped.
public final class JUnitReporter: Reporter {
  private let write: (String) -> Void
  private var suite: SuiteHeader?
  private var file: String?
  private var cases = ""
  private var tests = 0
  private var failures = 0
  private var errors = 0
  private var skips = 0
  private var seconds = 0.0

  /// Reports through `write`.
  public init(write: @escaping (String) -> Void) { self.write = write }

  public func begin(_ suite: SuiteHeader) {
    self.suite = suite
    write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"callsim\">\n")
  }

  public func finished(_ run: ReportedRun) {
    let result = run.result
    let line = result.findings.first { $0.kind != .warning && $0.location != nil }?.location.flatMap(Self.line)
    begin(result.id, result.scenarioID, path: result.path, line: line, seconds: result.cpuSeconds)
    cases += ">\n" + Self.properties(of: run)
    if result.verdict == .skipped {
      skips += 1
      cases += "      <skipped message=\"\(Self.escape(result.findings.first?.actual ?? ""))\"/>\n"
    } else if let element = Self.element(result.verdict) {
      if element == "failure" { failures += 1 } else { errors += 1 }
      let first = result.findings.first { $0.kind != .warning }
      let message = first.map { "\($0.title): \($0.actual)" } ?? result.verdict.rawValue
      cases += "      <\(element) type=\"\(result.verdict.rawValue)\" message=\"\(Self.escape(message))\">"
      cases += "\(Self.escape(FailureText(run).text, inAttribute: false))</\(element)>\n"
    }
    cases += Self.notes(on: result) + "    </testcase>\n"
  }

  public func notRun(_ run: PlannedRun) {
    begin(run.id, run.scenarioID, path: run.path, line: nil, seconds: 0)
    skips += 1
    cases += ">\n      <skipped message=\"\(Self.escape("not run: " + run.reason))\"/>\n    </testcase>\n"
  }

  public func refused(_ problem: FileProblem) {
    let line = problem.place.map { "\($0.line)" }
    let name = problem.place.map { "line \($0.line), column \($0.column)" } ?? problem.path
    begin(name, problem.path, path: problem.path, line: line, seconds: 0)
    errors += 1
    cases += ">\n      <error type=\"\(problem.code ?? "error")\" message=\"\(Self.escape(problem.message))\"/>\n"
    cases += "    </testcase>\n"
  }

  public func end(_ summary: SuiteSummary) {
    if summary.isUntested {
      begin(SuiteSummary.untested, "callsim", path: "callsim", line: nil, seconds: 0)
      failures += 1
      cases += ">\n      <failure type=\"vacuous\" message=\"\(Self.escape(summary.line))\"/>\n    </testcase>\n"
    }
    closeSuite()
    write("</testsuites>\n")
  }

  /// Begins a case in the suite of its file.
  private func begin(_ id: String, _ scenario: String, path: String, line: String?, seconds: Double) {
    if file != path { closeSuite() }
    file = path
    tests += 1
    self.seconds += seconds
    cases += "    <testcase name=\"\(Self.escape(id))\" classname=\"\(Self.escape(scenario))\""
    cases += " file=\"\(Self.escape(path))\"" + (line.map { " line=\"\($0)\"" } ?? "")
    cases += " time=\"\(TextStyle.decimal(seconds, places: 3))\""
  }

  private static func properties(of run: ReportedRun) -> String {
    var values = [
      ("seed", "\(run.result.seed)"), ("traceHash", RunResult.hexadecimal(run.result.traceHash)),
      ("replay", run.replay),
    ]
    values += run.result.findings.filter { $0.kind != .warning }.map { ("signature", $0.signature.text) }
    return "      <properties>\n" + values.map { "        " + property($0.0, $0.1) }.joined() + "      </properties>\n"
  }

  private static func property(_ name: String, _ value: String) -> String {
    "<property name=\"\(name)\" value=\"\(escape(value))\"/>\n"
  }

  /// Returns the findings that do not fail a run but should be read.
  private static func notes(on result: RunResult) -> String {
    var notes = result.realTime.map { [$0.text] + $0.notJudged.map { "not judged: \($0)" } } ?? []
    notes += result.findings.filter { $0.kind == .warning }.map { finding in
      "warning: \(finding.location.map { "\($0): " } ?? "")\(finding.title): \(finding.actual)"
    }
    guard !notes.isEmpty else { return "" }
    return "      <system-out>\(escape(notes.joined(separator: "\n"), inAttribute: false))</system-out>\n"
  }

  private func closeSuite() {
    guard let file else { return }
    var attributes = "name=\"\(Self.escape(file))\" tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\""
    attributes += " skipped=\"\(skips)\" time=\"\(TextStyle.decimal(seconds, places: 3))\""
    if let start = suite?.startedAt { attributes += " timestamp=\"\(Self.escape(start))\"" }
    if let host = suite?.hostName { attributes += " hostname=\"\(Self.escape(host))\"" }
    write("  <testsuite \(attributes)>\n\(suiteProperties)\(cases)  </testsuite>\n")
    self.file = nil
    cases = ""
    (tests, failures, errors, skips, seconds) = (0, 0, 0, 0, 0)
  }

  private var suiteProperties: String {
    guard let suite else { return "" }
    var values = [("callsim", suite.environment.line), ("files", RunResult.hexadecimal(suite.fileHash))]
    if !suite.options.isEmpty { values.append(("options", suite.options.joined(separator: " "))) }
    return "    <properties>\n" + values.map { "      " + Self.property($0.0, $0.1) }.joined() + "    </properties>\n"
  }

  /// Returns the line of `path:line:column`.
  private static func line(of location: String) -> String? {
    let parts = location.split(separator: ":")
    return parts.count >= 3 ? Int(parts[parts.count - 2]).map(String.init) : nil
  }

  private static func element(_ verdict: Verdict) -> String? {
    switch verdict {
    case .pass, .skipped: nil
    case .fail, .broken, .vacuous: "failure"
    case .inconclusive, .timeout, .nondeterministic: "error"
    }
  }

  /// Escapes text for XML. XML 1.0 cannot express most control characters, not even escaped: they become U+FFFD.
  static func escape(_ text: String, inAttribute: Bool = true) -> String {
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;".unicodeScalars
      case "<": out += "&lt;".unicodeScalars
      case ">": out += "&gt;".unicodeScalars
      case "\"" where inAttribute: out += "&quot;".unicodeScalars
      case "\n" where inAttribute: out += "&#10;".unicodeScalars
      case "\t" where inAttribute: out += "&#9;".unicodeScalars
      case "\r": out += "&#13;".unicodeScalars
      case "\n", "\t": out.append(scalar)
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": out.append("\u{FFFD}")
      default: out.append(scalar)
      }
    }
    return String(out)
  }
}
