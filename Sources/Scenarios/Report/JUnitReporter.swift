/// JUnit XML, as build servers read it: a suite for every scenario file, a case for every run.
///
/// Broken expectations and invariants are failures, as is a run that tested nothing; what says nothing about the
/// software under test (harness, wall limit, determinism) is an error.
public final class JUnitReporter: Reporter {
  private let write: (String) -> Void
  private var file: String?
  private var cases = ""
  private var tests = 0
  private var failures = 0
  private var errors = 0
  private var skips = 0
  private var seconds = 0.0

  public init(write: @escaping (String) -> Void) { self.write = write }

  public func begin(_ suite: SuiteHeader) {
    write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"callsim\">\n")
  }

  public func finished(_ run: ReportedRun) {
    if file != run.result.path { closeSuite() }
    file = run.result.path
    let result = run.result
    tests += 1
    seconds += result.cpuSeconds
    cases += "    <testcase name=\"\(Self.escape(result.id))\" classname=\"\(Self.escape(result.scenarioID))\""
    cases += " file=\"\(Self.escape(result.path))\" time=\"\(TextStyle.decimal(result.cpuSeconds, places: 3))\""
    if result.verdict == .skipped {
      skips += 1
      cases += ">\n      <skipped message=\"\(Self.escape(result.findings.first?.actual ?? ""))\"/>\n    </testcase>\n"
      return
    }
    guard let element = Self.element(result.verdict) else {
      let note = result.realTime.map {
        ">\n      <system-out>\(Self.escape($0.text, inAttribute: false))</system-out>\n"
      }
      cases += note.map { $0 + "    </testcase>\n" } ?? "/>\n"
      return
    }
    if element == "failure" { failures += 1 } else { errors += 1 }
    let first = result.findings.first { $0.kind != .warning }
    let message = first.map { "\($0.title): \($0.actual)" } ?? result.verdict.rawValue
    cases += ">\n      <\(element) type=\"\(result.verdict.rawValue)\" message=\"\(Self.escape(message))\">"
    cases += Self.escape(FailureText(run).text, inAttribute: false)
    cases += "</\(element)>\n    </testcase>\n"
  }

  public func end(_ summary: SuiteSummary) {
    closeSuite()
    write("</testsuites>\n")
  }

  private func closeSuite() {
    guard let file else { return }
    write("  <testsuite name=\"\(Self.escape(file))\" tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\"")
    if skips > 0 { write(" skipped=\"\(skips)\"") }
    write(" time=\"\(TextStyle.decimal(seconds, places: 3))\">\n\(cases)  </testsuite>\n")
    self.file = nil
    cases = ""
    (tests, failures, errors, skips, seconds) = (0, 0, 0, 0, 0)
  }

  private static func element(_ verdict: Verdict) -> String? {
    switch verdict {
    case .pass, .skipped: nil
    case .fail, .broken, .vacuous: "failure"
    case .inconclusive, .timeout, .nondeterministic: "error"
    }
  }

  /// XML 1.0 has no way to write most control characters, not even escaped: they become U+FFFD.
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
