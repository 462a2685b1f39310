import CallCore
import ExternalRecords
import Foundation
import Testing
import VirtualPeer

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

@Suite struct ReportFormatTests {
  private static let nasty = "<a> & \"b\"\n]]>|`x`\u{1} é 🙂 %0A::"

  private func nastyRun(_ verdict: Verdict = .fail) -> ReportedRun {
    let finding = Finding(
      .expectation, Self.nasty, location: "s.yaml:3:7", expected: Self.nasty, actual: Self.nasty, time: .zero)
    return Sample.run(verdict, findings: [finding])
  }

  @Test func `JUnit counts failures and errors by what they say about the software`() {
    let text = Sample.output(of: Verdict.allCases.map { Sample.run($0) }) { JUnitReporter(write: $0) }
    #expect(text.contains("tests=\"8\" failures=\"3\" errors=\"3\" skipped=\"1\""))
    #expect(text.contains("<error type=\"nondeterministic\""))
    #expect(text.contains("<failure type=\"vacuous\""))
  }

  @Test func `JUnit is well-formed whatever the text`() throws {
    let text = Sample.output(of: [nastyRun()]) { JUnitReporter(write: $0) }
    let body = text.dropFirst("<?xml version=\"1.0\" encoding=\"UTF-8\"?>".count)
    // What is left outside of tags has no markup, and attributes have no quotes or line ends of their own.
    #expect(!body.contains("<a>") && !body.contains("\u{1}") && !body.contains("& "))
    #expect(body.contains("message=\"&lt;a&gt; &amp; &quot;b&quot;&#10;]]&gt;|`x`\u{FFFD} é 🙂 %0A::: "))
  }

  @Test func `JUnit groups runs by their file`() {
    var other = Sample.run(.pass)
    other.result.path = "scenarios/other.yaml"
    let text = Sample.output(of: [Sample.run(.pass), Sample.run(.pass), other]) { JUnitReporter(write: $0) }
    #expect(text.components(separatedBy: "<testsuite ").count == 3)
    #expect(text.contains("name=\"scenarios/nat/cgnat.yaml\" tests=\"2\""))
  }

  @Test func `TAP escapes what it gives a meaning to and ends with the plan`() {
    let text = Sample.output(of: [Sample.run(.pass), nastyRun()]) { TAPReporter(write: $0) }
    #expect(text.hasPrefix("TAP version 14\nok 1 - nat/cgnat[turn=tcp]\\#7\nnot ok 2 - "))
    #expect(text.contains("  ---\n  verdict: fail\n"))
    #expect(text.contains("    - title: \"<a> & \\\"b\\\"\\n]]>|`x`\\u0001 é 🙂 %0A::\"\n"))
    #expect(text.hasSuffix("  ...\n1..2\n"))
  }

  @Test func `runs that an interruption left unmade are in every report, and none looks complete`() {
    func output(_ make: (@escaping (String) -> Void) -> any Reporter) -> String {
      let text = Sample.TextBox()
      let reporter = make { text.value += $0 }
      reporter.begin(Sample.header)
      reporter.finished(Sample.run(.pass))
      let path = "scenarios/nat/cgnat.yaml"
      reporter.notRun(PlannedRun(id: "nat/cgnat#8", scenarioID: "nat/cgnat", path: path, reason: "interrupted"))
      var summary = SuiteSummary()
      summary.add(Sample.run(.pass).result)
      (summary.notRun, summary.isInterrupted) = (1, true)
      reporter.end(summary)
      return text.value
    }
    let junit = output { JUnitReporter(write: $0) }
    #expect(junit.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""))
    #expect(junit.contains("<testcase name=\"nat/cgnat#8\""))
    #expect(junit.contains("<skipped message=\"not run: interrupted\"/>"))
    let json = output { JSONLinesReporter(write: $0) }
    #expect(json.contains("{\"event\":\"notRun\",\"id\":\"nat/cgnat#8\""))
    #expect(json.contains("\"interrupted\":true,\"exitStatus\":130}"))
    let tap = output { TAPReporter(write: $0) }
    #expect(tap.contains("ok 2 - nat/cgnat\\#8 # SKIP not run: interrupted\n1..2\nBail out! "))
    let summary = Sample.TextBox()
    _ = output { GitHubReporter(write: $0, writeSummary: { summary.value = $0 }) }
    #expect(summary.value.contains("| not run | nat/cgnat#8 | scenarios/nat/cgnat.yaml | interrupted |  |"))
  }

  @Test func `a suite that judged nothing fails in every report`() {
    func output(_ make: (@escaping (String) -> Void) -> any Reporter) -> String {
      let text = Sample.TextBox()
      let reporter = make { text.value += $0 }
      reporter.begin(Sample.header)
      reporter.finished(Sample.run(.pass))
      var summary = SuiteSummary()
      summary.add(Sample.run(.pass).result)
      (summary.notJudged, summary.isUntested) = (1, true)
      reporter.end(summary)
      return text.value
    }
    let line = "1 passed, 0 failed, 1 expectation over all seeds not judged, nothing was put to the test"
    let junit = output { JUnitReporter(write: $0) }
    #expect(junit.contains("<testsuite name=\"callsim\" tests=\"1\" failures=\"1\""))
    #expect(junit.contains("<failure type=\"vacuous\" message=\"\(line)\"/>"))
    #expect(output { TAPReporter(write: $0) }.contains("not ok 2 - nothing was put to the test: \(line)\n1..2\n"))
    #expect(output { JSONLinesReporter(write: $0) }.contains("\"untested\":true"))
    let github = output { GitHubReporter(write: $0, writeSummary: nil) }
    #expect(github == "::error title=nothing was put to the test::\(line)\n")
  }

  @Test func `JUnit counts a run that was not made in the suite of its own file`() {
    let text = Sample.TextBox()
    let reporter = JUnitReporter { text.value += $0 }
    reporter.begin(Sample.header)
    reporter.finished(Sample.run(.fail))
    reporter.notRun(PlannedRun(id: "a#2", scenarioID: "a", path: "scenarios/nat/cgnat.yaml", reason: "over"))
    reporter.notRun(PlannedRun(id: "b#1", scenarioID: "b", path: "b.yaml", reason: "over"))
    reporter.notRun(PlannedRun(id: "b#2", scenarioID: "b", path: "b.yaml", reason: "over"))
    reporter.end(SuiteSummary())
    #expect(text.value.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\""))
    #expect(text.value.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""))
  }

  @Test func `what is wrong with the files is in every report`() {
    func output(_ make: (@escaping (String) -> Void) -> any Reporter) -> String {
      let text = Sample.TextBox()
      let reporter = make { text.value += $0 }
      reporter.begin(Sample.header)
      reporter.refused(FileProblem(path: "a.yaml", place: (4, 7), code: "E210", message: "unknown <key>"))
      var summary = SuiteSummary()
      summary.problems = 1
      reporter.end(summary)
      return text.value
    }
    let junit = output { JUnitReporter(write: $0) }
    #expect(junit.contains("tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\""))
    #expect(junit.contains("file=\"a.yaml\" line=\"4\""))
    #expect(junit.contains("<error type=\"E210\" message=\"unknown &lt;key&gt;\"/>"))
    let json = output { JSONLinesReporter(write: $0) }
    let problem = #"{"event":"problem","path":"a.yaml","line":4,"column":7,"code":"E210","message":"unknown <key>"}"#
    #expect(json.contains(problem + "\n") && json.contains("\"exitStatus\":3}"))
    let tap = output { TAPReporter(write: $0) }
    #expect(tap.contains("not ok 1 - a.yaml:4:7: unknown <key>\n1..1\nBail out! 1 problem in scenario files"))
    let summary = Sample.TextBox()
    let github = output { GitHubReporter(write: $0) { summary.value += $0 } }
    #expect(github == "::error file=a.yaml,line=4,col=7,title=E210::unknown <key>\n")
    #expect(summary.value.hasPrefix("### callsim: 1 problem in scenario files; nothing was run\n"))
    #expect(summary.value.contains("| error | E210 | a.yaml:4:7 | unknown &lt;key> |  |"))
  }

  @Test func `JUnit says where, when and with which seed, and shows warnings of runs that pass`() {
    var warning = Sample.failure
    warning.kind = .warning
    let text = Sample.TextBox()
    let reporter = JUnitReporter { text.value += $0 }
    var header = Sample.header
    (header.startedAt, header.hostName) = ("2026-11-22T13:00:00Z", "ci-7")
    reporter.begin(header)
    reporter.finished(Sample.run(.pass, findings: [warning]))
    reporter.finished(Sample.run(.fail, findings: [Sample.failure]))
    reporter.end(SuiteSummary())
    #expect(text.value.contains("timestamp=\"2026-11-22T13:00:00Z\" hostname=\"ci-7\""))
    #expect(text.value.contains("<property name=\"seed\" value=\"7\"/>"))
    #expect(text.value.contains("<property name=\"traceHash\" value=\"0000000000000abc\"/>"))
    #expect(text.value.contains("<property name=\"replay\" value=\"callsim replay 'nat/cgnat[turn=tcp]#7'\"/>"))
    #expect(text.value.contains("<system-out>warning: scenarios/nat/cgnat.yaml:34:5: recovers: drop,"))
    #expect(text.value.contains("file=\"scenarios/nat/cgnat.yaml\" line=\"34\" time="))
  }

  @Test func `JSON lines are one object a line and give results back whole`() throws {
    let run = nastyRun()
    let text = Sample.output(of: [run]) { JSONLinesReporter(write: $0) }
    let lines = text.split(separator: "\n")
    #expect(lines.count == 3)
    let event = try JSON(parsing: lines[1].utf8)
    let result = try #require(event["result"].flatMap { RunResult(json: $0) })
    #expect(result == run.result)
    #expect(try JSON(parsing: lines[2].utf8)["exitStatus"]?.integer == 1)
  }

  @Test(arguments: [nil, 0.25, 3, .infinity] as [Double?])
  func `how far a finding is from what was expected survives JSON`(miss: Double?) throws {
    var finding = Sample.failure
    finding.miss = miss
    let result = Sample.run(.fail, findings: [finding]).result
    #expect(RunResult(json: try JSON(parsing: result.json.description.utf8)) == result)
  }

  @Test func `seeds that no signed word holds survive JSON`() throws {
    var result = Sample.run(.pass).result
    result.seed = .max
    result.eventCount = .max
    result.traceHash = .max
    let json = try JSON(parsing: result.json.description.utf8)
    #expect(RunResult(json: json) == result)
  }

  @Test func `annotations stand on the line of the expectation`() {
    let text = Sample.output(of: [nastyRun()]) { GitHubReporter(write: $0, writeSummary: nil) }
    #expect(text.hasPrefix("::error file=s.yaml,line=3,col=7,title=nat/cgnat[turn=tcp]#7%3A <a> & \"b\"%0A"))
    #expect(text.split(separator: "\n").count == 1)
    #expect(text.contains("%250A::"))
  }

  @Test func `twenty seeds of one expectation are one annotation with the worst of them`() {
    var runs = (1...20).map { seed in
      var run = Sample.run(seed == 4 ? .pass : .fail, id: "a#\(seed)", findings: seed == 4 ? [] : [Sample.failure])
      run.result.seed = UInt64(seed)
      return run
    }
    runs[14].result.findings.append(
      Finding(.expectation, "ends: bob", location: "a.yaml:9:5", expected: "x", actual: "y", time: .zero))
    let text = Sample.output(of: runs) { GitHubReporter(write: $0, writeSummary: nil) }
    let lines = text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.contains("::19 of 20 runs of the file, worst a#15%0Aexpected ") == true)
  }

  @Test func `annotations, TAP and the step summary say what explains a failure`() {
    var failure = Sample.failure
    failure.explanation.append("bob waits")
    failure.faults = ["signal.drop call_answer from 2.00 s"]
    let runs = [Sample.run(.fail, findings: [failure])]
    let summary = Sample.TextBox()
    let annotations = Sample.output(of: runs) { GitHubReporter(write: $0) { summary.value += $0 } }
    let cause = Sample.failure.explanation[0]
    let fault = "faults: signal.drop call_answer from 2.00 s"
    let all = "explain: \(cause)%0Aexplain: bob waits%0A\(fault)%0Awhy: "
    #expect(annotations.contains(all), "\(annotations)")
    let cell = "explain: \(cause)<br>explain: bob waits<br>\(fault.replacing("_", with: "\\_"))"
    #expect(summary.value.contains("| no media after 18.31 s | \(cell) |\n"), "\(summary.value)")
    let tap = Sample.output(of: runs) { TAPReporter(write: $0) }
    #expect(
      tap.contains("      explanation:\n        - \"\(cause)\"\n        - \"bob waits\"\n      faults:\n"), "\(tap)")
  }

  @Test func `more annotations than GitHub shows are counted, errors apart from warnings`() {
    let runs = (1...30).map { number in
      let place = "a.yaml:\(number):5"
      let kind: Finding.Kind = number > 25 ? .warning : .expectation
      let finding = Finding(kind, "e\(number)", location: place, expected: "x", actual: "y", time: .zero)
      return Sample.run(number > 25 ? .pass : .fail, id: "a#\(number)", findings: [finding])
    }
    let text = Sample.output(of: runs) { GitHubReporter(write: $0, writeSummary: nil) }
    let lines = text.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("::error ") } == 10)
    #expect(lines.count { $0.hasPrefix("::warning ") } == 5)
    #expect(text.contains("::error title=and 16 more::"))
  }

  @Test func `a step summary lists what failed without letting text become markup`() {
    let summary = Sample.TextBox()
    _ = Sample.output(of: [nastyRun()]) { GitHubReporter(write: $0) { summary.value += $0 } }
    #expect(summary.value.hasPrefix("### callsim: 0 passed, 1 failed\n"))
    #expect(summary.value.contains("&lt;a> &amp; \"b\" ]]>".replacing("]]", with: "\\]\\]")))
  }

  @Test func `report requests are read with their files`() throws {
    #expect(
      try ReportRequest.parse("junit=a b.xml,tap,json=-")
        == [.init(kind: .junit, file: "a b.xml"), .init(kind: .tap, file: "-"), .init(kind: .json, file: "-")])
    #expect(throws: ReportRequest.Problem(message: "--report junit=FILE needs a file")) {
      try ReportRequest.parse("junit")
    }
    #expect(throws: ReportRequest.Problem(message: "unknown report 'junitt=x'; did you mean 'junit'?")) {
      try ReportRequest.parse("junitt=x")
    }
  }
}

@Suite struct ExitStatusTests {
  @Test func `the worst outcome counts, in the documented order`() {
    let order: [ScenarioSuite.ExitStatus] = [
      .nondeterministic, .broken, .expectationFailed, .inconclusive, .wallLimit, .vacuous, .pass,
    ]
    #expect(ScenarioSuite.ExitStatus.orderText == "6, 5, 1, 4, 8, 7")
    for (index, worse) in order.enumerated() {
      for better in order[index...] {
        #expect(worse.worse(better) == worse)
        #expect(better.worse(worse) == worse)
      }
    }
  }

  @Test func `a suite that ran nothing is vacuous`() { #expect(SuiteSummary().exitStatus == .vacuous) }

  @Test func `every verdict has an exit code of its own, and what was skipped fails nothing`() {
    let verdicts = Verdict.allCases.filter { $0 != .skipped }
    #expect(Set(verdicts.map { ScenarioSuite.ExitStatus($0) }).count == verdicts.count)
    #expect(ScenarioSuite.ExitStatus(.skipped) == .pass)
  }

  @Test func `a suite that skipped everything has shown nothing`() {
    var summary = SuiteSummary()
    summary.add(Sample.run(.skipped).result)
    #expect(summary.exitStatus == .vacuous)
    summary.add(Sample.run(.pass).result)
    #expect(summary.exitStatus == .pass)
    #expect(summary.line == "1 passed, 0 failed, 1 skipped")
  }
}

@Suite struct RealTimeReportTests {
  private static let record = RealTimeRecord(
    maximumLag: .microseconds(12_300), latest: .zero + .seconds(4), usualLag: .milliseconds(2),
    waits: [
      .init(program: "alice", longest: .milliseconds(20), latest: .zero + .seconds(2)),
      .init(program: "bob", longest: .milliseconds(3), latest: .zero + .seconds(1)),
    ],
    notJudged: ["metric: alice.q.mos, min: 4"])

  private static func run() -> ReportedRun {
    var run = Sample.run(.pass)
    run.result.realTime = record
    return run
  }

  @Test func `a run in real time is marked as not reproducible wherever it is told`() {
    let mark =
      "real time, not reproducible, lag at most 12.3 ms at 4.00 s, 99 % within 2.0 ms, "
      + "programs waited at most 20.0 ms for a processor"
    let style = TextStyle.plain
    let texts = [
      Sample.output(of: [Self.run()]) { TerminalReporter(detail: .lines, style: style, write: $0) },
      Sample.output(of: [Self.run()]) { TerminalReporter(detail: .live, style: style, write: $0) },
      Sample.output(of: [Self.run()]) { JUnitReporter(write: $0) },
      Sample.output(of: [Self.run()]) { TAPReporter(write: $0) },
    ]
    for text in texts { #expect(text.contains(mark), "\(text)") }
    #expect(texts[0].contains("not judged: metric: alice.q.mos, min: 4\n"))
    #expect(Sample.output(of: [Self.run()]) { JSONLinesReporter(write: $0) }.contains("\"reproducible\":false"))
  }

  @Test func `what a worker says of real time reaches its parent`() throws {
    let result = Self.run().result
    #expect(try #require(RunResult(json: result.json)).realTime == Self.record)
  }

  @Test func `a run that could not keep up concludes nothing`() {
    #expect(Self.record.problem(limit: .milliseconds(50)) == nil)
    let late = Self.record.problem(limit: .milliseconds(12))
    #expect(late == "an event at 4.00 s was 12.3ms late, and limits.lag allows 12ms")
    var often = Self.record
    often.usualLag = .milliseconds(11)
    #expect(often.problem(limit: .milliseconds(50))?.hasPrefix("1 % of the events were more than 11ms late") == true)
  }

  @Test func `a run whose program had to wait concludes nothing`() {
    var record = Self.record
    #expect(record.problem(limit: .milliseconds(40)) == nil)
    #expect(
      record.problem(limit: .milliseconds(38))
        == "alice's program waited 20 ms for a processor until 2.00 s, and limits.lag allows it 19 ms in 500 ms")
    record.waits.append(.init(program: WaitRecord.machine, longest: .milliseconds(260), latest: .zero + .seconds(7)))
    #expect(record.problem(limit: .milliseconds(250))?.hasPrefix("the machine waited 260 ms for a processor") == true)
    record.waits[1].stopped = .zero + .seconds(3)
    #expect(record.problem(limit: .seconds(100)) == "bob's program was stopped by a signal at 3.00 s")
    let stopped = record
    var run = Self.run()
    run.result.realTime = stopped
    #expect(RunResult(json: run.result.json)?.realTime == stopped)
  }

  @Test func `a machine that does not tell how long programs wait is named so`() {
    var record = Self.record
    record.waits = []
    #expect(record.text.hasSuffix("how long programs waited for a processor is unknown"))
  }

  @Test func `a skipped run is told with its reason, also when only failures are`() {
    let finding = Finding(.harness, "programs", expected: "a run", actual: "there is no program 'x'", time: .zero)
    let run = Sample.run(.skipped, findings: [finding])
    for detail in [TerminalReporter.Detail.quiet, .lines, .live] {
      let text = Sample.output(of: [run]) { TerminalReporter(detail: detail, style: .plain, write: $0) }
      #expect(text.contains("SKIP nat/cgnat[turn=tcp]#7  there is no program 'x'\n"))
    }
    #expect(Sample.output(of: [run]) { TAPReporter(write: $0) }.contains("# SKIP there is no program 'x'"))
    #expect(Sample.output(of: [run]) { JUnitReporter(write: $0) }.contains("<skipped message=\"there is no program"))
  }
}
