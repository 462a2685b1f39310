import CallCore
import Formats
import Testing
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// The grids and lists that are made from the coverage of many runs.
@Suite struct CoverageReportTests {
  typealias Event = RunCoverage.StateEvent
  typealias Transition = RunCoverage.Transition

  /// Three states in a row, of which the last is reached by a message.
  static let vocabulary = ProfileVocabulary(
    profile: "walkie<talkie>", summary: "",
    machines: [
      StateMachine(
        "talk.state",
        states: [.init("quiet", "", as: .idle), .init("talking", "", as: .connected), .init("over", "", as: .over)],
        transitions: [
          .init("quiet", "talking", on: "push"), .init("talking", "over", on: "release or timeout"),
          .init("over", "quiet", on: "reset"),
        ])
    ],
    actions: [
      ActionDeclaration("push", [], "Talk.", as: .begin(with: nil)), ActionDeclaration("shout", [], "Louder."),
    ],
    messages: [
      MessageDeclaration("invite", .both, "An offer.", provenance: .harnessDefault),
      MessageDeclaration("full", .serverToClient, "No room.", provenance: .harnessDefault),
      MessageDeclaration("register", .clientToServer, "A name.", provenance: .harnessDefault),
    ],
    endCodes: [
      CodeDeclaration("let-go", "Let go.", provenance: .harnessDefault, blames: .me),
      CodeDeclaration("cut-off", "Cut off.", provenance: .harnessDefault, blames: .network),
    ],
    errorCodes: [CodeDeclaration("wt.full", "No room & no <way>.", provenance: .harnessDefault)])

  private static func run(_ change: (inout RunCoverage.Profile) -> Void) -> RunCoverage {
    var profile = RunCoverage.Profile(vocabulary.profile)
    change(&profile)
    var coverage = RunCoverage()
    coverage.profiles = [profile]
    return coverage
  }

  static let first = run {
    $0.transitions = [
      .init(Transition("talk.state", "quiet", "talking", on: "push"), 2),
      .init(Transition("talk.state", "talking", "over", on: "timeout"), 1),
      .init(Transition("ice.state", "new", "checking", on: ""), 3),
    ]
    $0.events = [
      .init(Event("quiet", .action, "push", isFollowed: true), 2),
      .init(Event("talking", .message, "full", isFollowed: false), 4),
      .init(Event("talking", .cause, "timeout", isFollowed: true), 1),
    ]
    $0.endCodes = [.init("let-go", 1)]
    $0.received = [.init("full", 4)]
    $0.joint = [.init(.init(["quiet"]), 1), .init(.init(["talking"]), 2)]
  }
  static let second = run {
    $0.transitions = [.init(Transition("talk.state", "talking", "over", on: "release"), 5)]
    $0.events = [
      .init(Event("talking", .message, "full", isFollowed: true), 1),
      .init(Event("quiet", .action, "push", isFollowed: false), 1),
    ]
    $0.illegal = [.init(Transition("talk.state", "over", "talking", on: "shout"), 1)]
    $0.sent = [.init("invite", 1)]
  }

  static func report(_ runs: [(String, RunCoverage)], _ totals: CoverageReporter.Totals = .init()) -> CoverageReport {
    var coverage = SuiteCoverage()
    for (name, run) in runs { coverage.add(run, of: name) }
    return CoverageReport(coverage, vocabularies: [vocabulary], totals: totals)
  }

  static var both: CoverageReport { report([("a#1", first), ("b#1", second)]) }

  private func cell(_ row: String, _ state: String, in grid: CoverageGrid) throws -> CoverageGrid.Cell {
    let column = try #require(grid.machine.states.firstIndex { $0.name == state })
    return try #require(grid.rows.first { $0.name == row }, "\(grid.rows.map(\.name))").cells[column]
  }

  @Test func `a cell tells declared and taken, never taken, undeclared, without a transition and nothing apart`() throws
  {
    let grid = try #require(Self.both.profiles.first?.machines.first)
    let taken = try cell("push", "quiet", in: grid)
    #expect(taken.mark == .taken && taken.seen.count == 2 && taken.stayed.count == 1 && taken.text == "2+1")
    #expect(try cell("reset", "over", in: grid).mark == .neverTaken)
    let undeclared = try cell("shout", "over", in: grid)
    #expect(undeclared.mark == .undeclared && undeclared.text == "!1")
    #expect(try cell("shout", "quiet", in: grid).mark == .blank)
    let stayed = try #require(Self.report([("a#1", Self.first)]).profiles.first?.machines.first)
    #expect(try cell("full", "talking", in: stayed).text == "(4)")
  }

  @Test func `runs add up, and the first of them is named`() throws {
    let grid = try #require(Self.both.profiles.first?.machines.first)
    let message = try cell("full", "talking", in: grid)
    #expect(message.mark == .taken && message.seen == .init(count: 1, first: "b#1", order: 2))
    #expect(message.stayed == .init(count: 4, first: "a#1", order: 1))
    #expect(message.note == "first in b#1; stayed, first in a#1")
  }

  @Test func `a cause in other words belongs to the declaration of its two states`() throws {
    let grid = try #require(Self.both.profiles.first?.machines.first)
    let cell = try cell("release or timeout", "talking", in: grid)
    #expect(cell.mark == .taken && cell.seen == .init(count: 6, first: "a#1", order: 1))
    #expect(grid.declared[1].wordText == "release (5), timeout (1)" && grid.declared[1].isReworded)
    #expect(!grid.declared[0].isReworded)
  }

  @Test func `a transition between states that are not joined is a defect`() throws {
    let run = Self.run { $0.transitions = [.init(Transition("talk.state", "quiet", "over", on: "magic"), 1)] }
    let grid = try #require(Self.report([("a#1", run)]).profiles.first?.machines.first)
    #expect(try cell("magic", "quiet", in: grid).mark == .undeclared)
    #expect(grid.undeclared.count == 1)
  }

  @Test func `a machine without declared transitions shows from where its states were entered`() throws {
    let grid = try #require(Self.both.profiles.first?.connections.first)
    #expect(grid.machine.name == "ice.state" && !grid.isDeclared)
    let cell = try cell("checking", "new", in: grid)
    #expect(cell.mark == .taken && cell.seen.count == 3)
    #expect(grid.rows.allSatisfy { $0.cells.allSatisfy { $0.mark != .neverTaken } })
    #expect(grid.unentered.contains("failed") && !grid.unentered.contains("new"))
    #expect(Self.both.profiles[0].connections.count == 1)
  }

  @Test func `what is missing has the shortest declared way to its source`() throws {
    let profile = try #require(Self.both.profiles.first)
    #expect(profile.missing.map(\.text) == ["over > quiet on reset"])
    #expect(profile.missing[0].pathText == "quiet -(push)-> talking -(release or timeout)-> over")
    #expect(
      profile.endCodes.missing.map(\.name) == ["cut-off"] && profile.errorCodes.missing.map(\.name) == ["wt.full"])
    // Peers receive what only servers send.
    #expect(profile.messages.missing.map(\.name) == ["register"])
    #expect(profile.transitions == .init(reached: 2, declared: 3))
  }

  @Test func `a way goes through as few transitions as possible`() {
    let machine = StateMachine(
      "m", states: ["a", "b", "c", "d", "lost"].map { .init($0, "") },
      transitions: [
        .init("a", "b", on: "1"), .init("b", "c", on: "2"), .init("c", "d", on: "3"), .init("a", "d", on: "4"),
        .init("lost", "a", on: "5"),
      ])
    #expect(machine.path(to: "d")?.map(\.event) == ["4"])
    #expect(machine.path(to: "a") == [])
    #expect(machine.path(to: "lost") == nil)
  }

  @Test func `runs and peers without a coverage are told once`() {
    var totals = CoverageReporter.Totals()
    (totals.runs, totals.runsWithoutCoverage, totals.notRun, totals.peersWithoutCoverage) = (12, 1, 2, 3)
    totals.notPassed = (1...11).map { ("a#\($0)", "fail") }
    let lines = Self.report([], totals).lines
    #expect(lines[0].hasPrefix("12 runs, 11 did not pass: a#1 (fail), a#2 (fail)"))
    #expect(lines[0].hasSuffix("a#10 (fail) and 1 more"))
    #expect(
      lines.dropFirst() == [
        "1 run ended without a coverage", "2 runs not made",
        "3 peers without coverage: puppets and programs have none", "no peer of any profile ran",
      ])
  }

  @Test func `a reporter adds runs in the order of the plan and leaves judgements over seeds out`() {
    let reporter = CoverageReporter(
      SuitePlan(files: [], hash: 0, selection: SuiteSelection()), registry: ProfileRegistry(checked: [Self.vocabulary]))
    var run = Sample.run(.pass, id: "a#1")
    run.result.coverage = Self.first
    reporter.finished(run)
    reporter.finished(Sample.run(.timeout, id: "b#1"))
    reporter.finished(Sample.run(.fail, id: "b"))
    let report = reporter.report
    #expect(report.runs == 2 && report.profiles.count == 1)
    #expect(report.lines == ["2 runs, 1 did not pass: b#1 (timeout)", "1 run ended without a coverage"])
  }

  // MARK: Forms

  @Test func `the text has a line for each event and each missing thing`() {
    let text = CoverageText(Self.both).text
    #expect(
      text.contains("profile walkie<talkie>: 2 of 3 transitions, 1 of 2 end codes, 0 of 1 error codes, 2 of 3 messages")
    )
    #expect(text.contains("    event \\ state          quiet  talking   over\n"), "\(text)")
    #expect(text.contains("    action push              2+1        .      .\n"), "\(text)")
    #expect(text.contains("    reset                      .        .  NEVER\n"), "\(text)")
    #expect(text.contains("      quiet, action push           first in a#1; stayed, first in b#1\n"), "\(text)")
    #expect(
      text.contains("  transitions never taken: 1\n    talk.state over > quiet on reset  quiet -(push)-> talking"))
    #expect(text.contains("  messages never sent: 1\n    register  A name.\n"))
  }

  @Test func `the JSON form reads back and has every cell that is not blank`() throws {
    let json = try JSON(parsing: Self.both.json.prettyText.utf8)
    let machine = try #require(json["profiles"]?.array?.first?["machines"]?.array?.first)
    let cells = machine["cells"]?.array ?? []
    let push = cells.first { $0["event"]?.string == "push" }
    #expect(push?["mark"]?.string == "taken" && push?["count"]?.integer == 2 && push?["first"]?.string == "a#1")
    #expect(cells.contains { $0["mark"]?.string == "never-taken" && $0["first"] == .null })
    #expect(json["profiles"]?.array?.first?["neverTaken"]?.array?.first?["path"]?.array?.count == 2)
  }

  @Test func `the page escapes everything, has no script and loads nothing`() {
    let page = CoveragePage(Self.both).text
    #expect(page.hasPrefix("<!doctype html>") && page.contains("prefers-color-scheme: dark"))
    #expect(page.contains("<h1>walkie&lt;talkie&gt;</h1>") && page.contains("No room &amp; no &lt;way&gt;."))
    #expect(!page.contains("walkie<talkie>") && !page.contains("<script") && !page.contains("/*STYLE*/"))
    #expect(!page.contains("http://") && !page.contains("https://"))
    #expect(page.contains("<td class=\"never-taken\"><b>never taken</b></td>"))
    #expect(page.contains("<td class=\"undeclared\"><b>undeclared 1</b><small>first in b#1</small></td>"))
    #expect(page.contains("<td class=\"bad\">never</td>"))
  }
}
