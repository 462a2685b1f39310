import CallCore
import Formats
import Foundation
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

@Suite struct ReportTextTests {
  @Test func `a failure is printed with everything needed to follow it up`() {
    var run = Sample.run(.fail, findings: [Sample.failure])
    run.artifacts = ArtifactList(folder: "callsim-runs/nat/cgnat[turn=tcp]#7", names: ["run.pcapng", "sequence.mmd"])
    #expect(
      FailureText(run).text == """
        FAIL nat/cgnat[turn=tcp]#7   virtual 24.31 s, cpu 0.41 s
          scenarios/nat/cgnat.yaml:34:5  recovers: drop, to: media-both-ways, within: 4s, hold: 2s
          expected   media both ways by 22.31 s, held 2 s
          actual     no media after 18.31 s   (at 22.31 s)
          trail      alice: connected 3.31 > reconnecting 18.93
                     bob: connected 3.31 > reconnecting 19.40
          why        losing Wi-Fi must cost one ICE restart
          explain    relay refused a permission (403) at 19.62 s
          faults     link.down wifi 18.31..end
          replay     callsim replay 'nat/cgnat[turn=tcp]#7'
          artifacts  callsim-runs/nat/cgnat[turn=tcp]#7: run.pcapng, sequence.mmd

        """)
  }

  @Test func `what was not put to the test does not look like a failure beside one`() {
    let untested = Finding(.vacuous, "never: x", expected: "never x", actual: "x was never set", time: .zero)
    let mixed = FailureText(Sample.run(.fail, findings: [Sample.failure, untested])).text
    #expect(mixed.contains("never: x\n  verdict    vacuous\n  expected"))
    #expect(!FailureText(Sample.run(.vacuous, findings: [untested])).text.contains("verdict"))
  }

  @Test func `one cause is told once, however many expectations it broke`() {
    var second = Sample.failure
    second.title = "ends: bob"
    second.explanation.append("bob ended with ice-failed at 24.00 s")
    let text = FailureText(Sample.run(.fail, findings: [Sample.failure, second])).text
    #expect(text.components(separatedBy: "relay refused a permission").count == 2)
    #expect(text.contains("trail      as above\n"))
    #expect(text.contains("explain    bob ended with ice-failed at 24.00 s\n  faults     as above\n"))
  }

  @Test func `what failed is listed at the end when it is more than one thing`() {
    let runs = [
      Sample.run(.fail, id: "a#1", findings: [Sample.failure]),
      Sample.run(.fail, id: "a#2", findings: [Sample.failure]),
      Sample.run(.pass, id: "b#1"), Sample.run(.vacuous, id: "c#1"),
    ]
    let text = Sample.output(of: runs) { TerminalReporter(detail: .lines, style: .plain, write: $0) }
    #expect(
      text.contains(
        """
        what failed:
          FAIL a#1 and 1 more of its seeds  scenarios/nat/cgnat.yaml:34:5
          VACUOUS c#1

        """))
    let one = Sample.output(of: Array(runs.prefix(3))) { TerminalReporter(detail: .lines, style: .plain, write: $0) }
    #expect(!one.contains("what failed"))
  }

  @Test func `runs are counted as runs, and cells over their seeds by themselves`() {
    let runs = [
      Sample.run(.pass, id: "a#1"), Sample.run(.pass, id: "a#2"), Sample.run(.vacuous, id: "a"),
      Sample.run(.skipped, id: "b#1"), Sample.run(.fail, id: "b[x=1]"),
    ]
    let text = Sample.output(of: runs) { TerminalReporter(detail: .quiet, style: .plain, write: $0) }
    #expect(text.hasSuffix("2 passed, 0 failed, 1 skipped, over all seeds 1 failed and 1 vacuous\n"))
    let json = Sample.output(of: runs) { JSONLinesReporter(write: $0) }
    #expect(json.contains("\"counts\":{\"pass\":2,\"fail\":0,"))
    #expect(json.contains("\"cellCounts\":{\"pass\":0,\"fail\":1,\"broken\":0,\"vacuous\":1,"))
  }

  @Test func `control characters never reach the terminal`() {
    let finding = Finding(.crash, "a\u{1B}[2Jb", expected: "x\u{7}", actual: "y\u{9B}", time: .zero)
    let text = FailureText(Sample.run(.broken, findings: [finding])).text
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    #expect(!text.unicodeScalars.contains("\u{9B}"))
  }

  @Test func `without a terminal every run is one line and the last line counts them`() {
    let text = Sample.output(of: [Sample.run(.pass)]) { TerminalReporter(detail: .lines, style: .plain, write: $0) }
    let lines = text.split(separator: "\n")
    #expect(lines.dropFirst(2).first == "PASS nat/cgnat[turn=tcp]#7  virtual 24.3s  cpu 0.41s")
    #expect(lines.last == "1 passed, 0 failed")
  }

  @Test func `quiet output has failures and the closing line only`() {
    let text = Sample.output(of: [Sample.run(.pass), Sample.run(.vacuous)]) {
      TerminalReporter(detail: .quiet, style: .plain, write: $0)
    }
    #expect(text.hasPrefix("VACUOUS nat/cgnat"))
    #expect(text.hasSuffix("1 passed, 0 failed, 1 vacuous\n"))
  }

  @Test func `seeds that fail in the same way are told once, with how many, and the first where none is worse`() {
    let runs = (1...4).map { seed in
      let findings = seed == 2 ? [] : [Sample.failure]
      var run = Sample.run(seed == 2 ? .pass : .fail, id: "a#\(seed)", findings: findings)
      run.result.seed = UInt64(seed)
      return run
    }
    let live = Sample.output(of: runs) { TerminalReporter(detail: .live, style: .plain, write: $0) }
    #expect(live.components(separatedBy: "expected   ").count == 2)
    #expect(live.contains("FAIL a  3 of 4 seeds: 1, 3-4, see #1\n  recovers: drop"))
    let lines = Sample.output(of: runs) { TerminalReporter(detail: .lines, style: .plain, write: $0) }
    #expect(lines.contains("FAIL a#3  like a#1; "))
    #expect(lines.components(separatedBy: "expected   ").count == 2)
  }

  @Test(
    arguments: [
      ([1.2, 1.3, 0.4], "worst #2"), ([2, .infinity, .infinity], "worst #2"), ([.infinity, 1, 2], "worst #1"),
      ([1, 1, 1], "see #1"), ([.infinity, .infinity, .infinity], "see #1"), ([1, nil, 2], "see #1"),
    ] as [([Double?], String)])
  func `the worst of seeds that fail in the same way is the furthest from what was expected`(
    misses: [Double?], told: String
  ) {
    let runs = misses.enumerated().map { index, miss in
      var finding = Sample.failure
      finding.miss = miss
      var warning = Sample.failure
      warning.kind = .warning
      // A warning more makes no failure worse.
      var run = Sample.run(.fail, id: "a#\(index + 1)", findings: index == 2 ? [warning, finding] : [finding])
      run.result.seed = UInt64(index + 1)
      return run
    }
    let text = Sample.output(of: runs) { TerminalReporter(detail: .quiet, style: .plain, write: $0) }
    #expect(text.contains("FAIL a  3 of 3 seeds: 1-3, \(told)\n"), "\(text)")
    let annotation = Sample.output(of: runs) { GitHubReporter(write: $0, writeSummary: nil) }
    #expect(annotation.contains("3 runs of the file, \(told.replacing("#", with: "a#"))%0A"), "\(annotation)")
  }

  @Test func `seeds that fail in different ways are each told in full`() {
    var other = Sample.failure
    other.signature = FindingSignature("#3")
    let runs = [
      Sample.run(.fail, id: "a#1", findings: [Sample.failure]), Sample.run(.fail, id: "a#2", findings: [other]),
    ]
    let text = Sample.output(of: runs) { TerminalReporter(detail: .lines, style: .plain, write: $0) }
    #expect(text.components(separatedBy: "expected   ").count == 3)
    #expect(!text.contains("seeds:"))
  }

  @Test func `the live line has what failed, the time, and what is left of it`() {
    let text = Sample.TextBox()
    var time = 0.0
    let reporter = TerminalReporter(detail: .live, style: .plain, now: { time }) { text.value += $0 }
    var header = Sample.header
    header.runCount = 10
    reporter.begin(header)
    for number in 1...5 {
      time += 2
      reporter.finished(Sample.run(number == 1 ? .fail : .pass, id: "a#\(number)"))
    }
    reporter.started("a#6")
    #expect(text.value.hasSuffix("[5/10] 1 failed 0:10, about 0:10 left a#6"))
  }

  @Test func `the slowest runs are listed, the slowest first`() {
    let text = Sample.TextBox()
    let reporter = TerminalReporter(detail: .quiet, style: .plain, slowest: 2) { text.value += $0 }
    reporter.begin(Sample.header)
    for (number, seconds) in [0.5, 2, 1].enumerated() {
      var run = Sample.run(.pass, id: "a#\(number)")
      run.result.cpuSeconds = seconds
      reporter.finished(run)
    }
    reporter.end(SuiteSummary())
    #expect(text.value.hasPrefix("slowest, by processor time:\n  2.00 s  a#1\n  1.00 s  a#2\n0 passed"))
  }

  @Test func `no text begins a line as a workflow command`() {
    var run = Sample.run(.fail, findings: [Sample.failure])
    run.result.title = "::stop-commands::x"
    run.result.findings[0].why = "because\n::add-mask::y\n##[command]z"
    let text = FailureText(run).text
    let starts = text.split(separator: "\n").map { $0.drop { $0 == " " } }
    #expect(!starts.contains { $0.hasPrefix("::") || $0.hasPrefix("##[") })
    #expect(text.contains("| ::stop-commands::x") && text.contains("| ::add-mask::y"))
  }

  @Test func `text cannot turn the direction of what follows`() {
    #expect(TextStyle.printable("a\u{202E}b\u{2066}c\u{200F}") == "a\u{FFFD}b\u{FFFD}c\u{FFFD}")
    #expect(WorkflowCommand.escape("a\u{1B}b\u{7}", inProperty: false) == "a\u{FFFD}b\u{FFFD}")
  }

  @Test func `a live line is erased before anything else is printed`() {
    let text = Sample.TextBox()
    let reporter = TerminalReporter(detail: .live, style: .plain) { text.value += $0 }
    reporter.begin(Sample.header)
    reporter.started("a#1")
    text.value = ""
    reporter.finished(Sample.run(.fail))
    #expect(text.value.hasPrefix("\r\u{1B}[KFAIL"))
  }

  @Test func `a passing run with a warning is shown`() {
    var finding = Sample.failure
    finding.kind = .warning
    let text = Sample.output(of: [Sample.run(.pass, findings: [finding])]) {
      TerminalReporter(detail: .lines, style: .plain, write: $0)
    }
    #expect(text.contains("severity   warning"))
    #expect(text.hasSuffix("1 passed, 0 failed, 1 warning\n"))
  }

  @Test(arguments: [
    (0.0, 2, "0.00"), (24.305, 1, "24.3"), (-1.5, 1, "-1.5"), (-0.001, 1, "0.0"), (1e300, 2, "1e+300"),
    (.infinity, 2, "inf"), (3, 0, "3"),
  ])
  func `numbers are written the same whatever the machine's language`(value: Double, places: Int, text: String) {
    #expect(TextStyle.decimal(value, places: places) == text)
  }

  @Test(arguments: [
    ("plain-1.yaml", "plain-1.yaml"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("a#1", "'a#1'"),
    ("$HOME", "'$HOME'"), ("a\nb'c\\\u{1}1", "$'a\\012b\\'c\\\\\\0011'"),
  ])
  func `arguments are quoted for the shell`(text: String, quoted: String) {
    #expect(ShellWord.quoted(text) == quoted)
  }

  @Test func `a replay command names the file and the values it needs`() {
    let near = ReplayCommandLine(runID: "a[x=1]#2", path: "scenarios/a.yaml", overrides: [])
    #expect(near.text == "callsim replay 'a[x=1]#2'")
    let far = ReplayCommandLine(runID: "a#2", path: "my files/a.yaml", overrides: [.init(name: "loss", value: "10%")])
    #expect(far.text == "callsim replay 'a#2' 'my files/a.yaml' --set loss=10%")
  }
}
