import CallCore
import Foundation
import Testing
import VirtualPeer

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// Suites over stand-ins for workers: shell scripts that answer jobs as a test wants it.
@Suite struct ReportSuiteTests {
  private static func file(_ id: String, seeds: Int = 1, more: String = "", expectation: String = "") -> ScenarioFile? {
    let text = """
      callsim: 1
      id: \(id)
      seeds: { count: \(seeds) }
      \(more)
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
      expect:
        - { ends: alice, code: ring-timeout, within: 70s, of: start }
      \(expectation)
      """
    let loaded = ScenarioFile.load(text: text, path: "scenarios/\(id).yaml", registry: FormatTest.registry)
    if loaded.scenario == nil { Issue.record("\(loaded.report.rendered(as: .text(color: false)))") }
    return loaded.scenario
  }

  private final class Recorder: Reporter {
    var runs: [ReportedRun] = []
    func begin(_ suite: SuiteHeader) {}
    func finished(_ run: ReportedRun) { runs.append(run) }
    func notRun(_ run: PlannedRun) {}
    func refused(_ problem: FileProblem) {}
    func end(_ summary: SuiteSummary) {}
  }

  /// A reply as a worker writes it, for a `printf` in single quotes.
  private static func reply(_ verdict: Verdict, hash: String = "000000000000000a") -> String {
    var result = Sample.run(verdict).result
    result.traceHash = 0
    let json = "{\"result\":\(result.json.description)}"
    return json.replacing("\"traceHash\":\"0000000000000000\"", with: "\"traceHash\":\"\(hash)\"")
  }

  /// Runs every seed of a file with workers that execute `script` for each line they read.
  private func outcome(
    _ script: String, seeds: Int = 1, more: String = "", expectation: String = "",
    change: (inout SuiteRunner.Options) -> Void = { _ in }
  ) throws -> (SuiteRunner.Outcome, [ReportedRun]) {
    let file = try #require(Self.file("stand-in", seeds: seeds, more: more, expectation: expectation))
    let plan = SuitePlan(files: [file], hash: 0, selection: SuiteSelection())
    var options = SuiteRunner.Options(
      executable: "/bin/sh", workerArguments: ["-c", "while IFS= read -r job; do \(script)\ndone"])
    options.artifacts = .none
    change(&options)
    let recorder = Recorder()
    let runner = SuiteRunner(plan: plan, options: options, reporters: [recorder])
    let outcome = try runner.run(SuiteHeader(plan, environment: Sample.header.environment, options: []))
    return (outcome, recorder.runs)
  }

  @Test func `results are told in the order of the plan, whatever order they end in`() throws {
    let script = """
      case "$job" in *'"seed":1,'*) sleep 0.05;; esac
      seed=${job#*'"seed":'}; seed=${seed%%,*}
      printf '%s\\n' '\(Self.reply(.pass))' | sed "s/\\"seed\\":7/\\"seed\\":$seed/"
      """
    let (outcome, runs) = try outcome(script, seeds: 4) { $0.jobs = 4 }
    #expect(runs.map(\.result.seed) == [1, 2, 3, 4])
    #expect(outcome.summary.line == "4 passed, 0 failed")
  }

  @Test func `a suite that ends does not interrupt another`() async {
    let reply = "printf '%s\\n' '\(Self.reply(.pass))'"
    @Sendable func summary(_ script: String) -> String? { try? outcome(script).0.summary.line }
    // The quick suite begins first and ends while the slow one waits.
    async let quick = summary("sleep 0.02; \(reply)")
    async let slow = summary("sleep 0.06; \(reply)")
    #expect(await [quick, slow] == ["1 passed, 0 failed", "1 passed, 0 failed"])
  }

  @Test func `a worker that dies is its run's finding and is replaced`() throws {
    let script = """
      case "$job" in *'"seed":2,'*) echo 'Fatal error: index out of range' >&2; kill -SEGV $$;; esac
      printf '%s\\n' '\(Self.reply(.pass))'
      """
    let (outcome, runs) = try outcome(script, seeds: 3)
    #expect(runs.map(\.result.verdict) == [.pass, .broken, .pass])
    let finding = try #require(runs[1].result.findings.first)
    #expect(finding.kind == .crash)
    #expect(finding.actual.hasPrefix("its process ended by signal 11"))
    #expect(finding.explanation == ["Fatal error: index out of range"])
    #expect(outcome.summary.exitStatus == .broken)
  }

  @Test func `a run over its wall limit is ended`() throws {
    let (outcome, runs) = try outcome("exec sleep 60", more: "limits: { wall: 50ms }")
    #expect(runs.map(\.result.verdict) == [.timeout])
    #expect(outcome.summary.exitStatus == .wallLimit)
  }

  @Test func `a worker that takes more memory than it may is ended and named`() throws {
    let grow = "x=$(head -c 200000000 /dev/zero | tr '\\0' a); sleep 60"
    let (outcome, runs) = try outcome(grow) { $0.memoryLimit = 64 }
    #expect(runs.first?.result.findings.first?.expected == "a process of at most 64 MiB")
    #expect(outcome.summary.exitStatus == .broken)
  }

  @Test func `a harness error is inconclusive`() throws {
    let (outcome, runs) = try outcome(#"echo '{"error":"no such host"}'"#)
    #expect(runs.first?.result.findings.first?.actual == "no such host")
    #expect(outcome.summary.exitStatus == .inconclusive)
  }

  @Test func `a reply that is not understood is inconclusive`() throws {
    let (outcome, _) = try outcome("echo hello")
    #expect(outcome.summary.exitStatus == .inconclusive)
  }

  @Test func `after the first failure fail-fast starts nothing more`() throws {
    let (outcome, runs) = try outcome("printf '%s\\n' '\(Self.reply(.fail))'", seeds: 5) { $0.failFast = true }
    #expect(runs.count == 1)
    #expect(outcome.summary.line == "0 passed, 1 failed, 4 not run")
  }

  @Test func `two processes that agree are deterministic`() throws {
    let (outcome, _) = try outcome("printf '%s\\n' '\(Self.reply(.pass))'") { $0.checkDeterminism = true }
    #expect(outcome.summary.exitStatus == .pass)
  }

  @Test func `two processes that differ are not, and the first different event is named`() throws {
    let script = """
      file=${job#*'"trace":"'}; file=${file%%'"'*}
      case "$job" in *trace*) printf '{"t":0,"n":1,"subject":"alice","kind":"x","fields":{"v":%d}}\\n' $$ > "$file";; esac
      printf '%s\\n' '\(Self.reply(.pass, hash: "PID"))' | sed "s/PID/$(printf %016x $$)/"
      """
    let (outcome, runs) = try outcome(script) { $0.checkDeterminism = true }
    #expect(outcome.summary.exitStatus == .nondeterministic)
    #expect(runs.first?.result.findings.first?.actual.hasPrefix("event 1 at 0.000 s, alice x: v ") == true)
  }

  @Test func `what no seed ever reached fails the cell`() throws {
    let sometimes = "  - { id: got-there, sometimes: alice.call.state == connected }"
    let reply = Self.reply(.pass).replacing("\"measurements\":[]", with: "MEASUREMENTS")
    func script(_ seedThatGetsThere: Int) -> String {
      """
      case "$job" in *'"seed":\(seedThatGetsThere),'*) reached=1;; *) reached=0;; esac
      one='"measurements":[{"id":"got-there","expected":"it","measured":'$reached'}]'
      printf '%s\\n' '\(reply)' | sed "s/MEASUREMENTS/$one/"
      """
    }
    let (all, passed) = try outcome(script(2), seeds: 3, expectation: sometimes)
    #expect(all.summary.exitStatus == .pass)
    #expect(all.summary.cellCount(.pass) == 1)
    #expect(passed.last?.result.id == "stand-in" && passed.last?.result.verdict == .pass)
    let (none, runs) = try outcome(script(9), seeds: 3, expectation: sometimes)
    #expect(none.summary.line == "3 passed, 0 failed, over all seeds 1 failed")
    #expect(runs.last?.result.id == "stand-in")
    #expect(runs.last?.result.findings.first?.actual == "reached in 0 of 3 runs (seeds 1-3)")
  }

  // MARK: - Plans

  private func plan(_ change: (inout SuiteSelection) -> Void) throws -> SuitePlan {
    let file = try #require(Self.file("a", seeds: 2))
    let other = try #require(Self.file("b", seeds: 3, more: "tags: [slow]"))
    var selection = SuiteSelection()
    change(&selection)
    return SuitePlan(files: [file, other], hash: 0, selection: selection)
  }

  @Test func `a plan has every seed of every cell`() throws {
    let plan = try plan { _ in }
    #expect(plan.runs.indices.map { plan.job($0).runID } == ["a#1", "a#2", "b#1", "b#2", "b#3"])
    #expect(plan.seeds == [1, 2, 3])
  }

  @Test func `tags and text choose`() throws {
    #expect(try plan { $0.tags = ["slow"] }.entries.map(\.cell.id) == ["b"])
    #expect(try plan { $0.texts = ["a"] }.entries.map(\.cell.id) == ["a"])
    #expect(try plan { $0.texts = ["a", "b"] }.entries.map(\.cell.id) == ["a", "b"])
    #expect(try plan { $0.cell = [.init(name: "x", value: "1")] }.runs.isEmpty)
  }

  @Test func `shards share every run without overlap`() throws {
    let shards = try (1...3).map { index in try plan { $0.shard = (index, 3) } }
    let all = shards.flatMap { shard in shard.runs.indices.map { shard.job($0).runID } }
    #expect(all.sorted() == ["a#1", "a#2", "b#1", "b#2", "b#3"])
    #expect(shards.map(\.runs.count) == [2, 2, 1])
    #expect(shards[0].entries.allSatisfy { !$0.isComplete })
  }

  @Test func `one seed or a count of seeds replace those of the file`() throws {
    #expect(try plan { $0.seed = 9 }.runs.map(\.seed) == [9, 9])
    #expect(try plan { $0.seedCount = 1 }.runs.map(\.seed) == [1, 1])
  }

  @Test(
    arguments: [
      ([1, 2, 3, 9], "1-3, 9"), ([5], "5"), ([], ""), ([3, 1], "3, 1"),
    ] as [([UInt64], String)])
  func `seeds are listed as ranges`(seeds: [UInt64], text: String) { #expect(SuiteHeader.ranges(seeds) == text) }

  @Test(
    arguments: [
      ("a/b[x=1]#7", "a/b", "a/b[x=1]", 7), ("a#7", "a", "a", 7), ("a", "a", "a", nil),
      ("a[x=#1]", "a", "a[x=#1]", nil),
    ] as [(String, String, String, UInt64?)])
  func `a run's name is taken apart`(name: String, scenario: String, cell: String, seed: UInt64?) {
    let name = RunName(name)
    #expect(name.scenarioID == scenario && name.cellID == cell && name.seed == seed)
  }

  @Test func `files are found in folders, sorted`() throws {
    let root = NSTemporaryDirectory() + "callsim-find-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    for path in ["b.yaml", "a/z.yaml", "a/profiles/p.yaml", "c.txt", ".git/x.yaml", "B.yaml", "d.yml"] {
      let folder = "\(root)/\(path)".split(separator: "/").dropLast().joined(separator: "/")
      try FileManager.default.createDirectory(atPath: "/" + folder, withIntermediateDirectories: true)
      #expect(FileManager.default.createFile(atPath: "\(root)/\(path)", contents: nil))
    }
    #expect(
      try ScenarioFinder.files(at: [root + "/", "\(root)/b.yaml"])
        == ["B.yaml", "a/profiles/p.yaml", "a/z.yaml", "b.yaml", "d.yml"].map { "\(root)/\($0)" })
    #expect(throws: ScenarioFinder.Problem.noSuchPath("/nowhere")) { try ScenarioFinder.files(at: ["/nowhere"]) }
  }

  @Test func `what runs left is no scenario of a suite around it, and is one where it is named`() throws {
    let root = NSTemporaryDirectory() + "callsim-find-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    for path in ["a.yaml", "kept/a#1/scenario.yaml", "kept/a#1/run.json", "b/scenario.yaml", "c/run.json", "c/c.yaml"] {
      let file = URL(filePath: "\(root)/\(path)")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: file)
    }
    #expect(try ScenarioFinder.files(at: [root]) == ["a", "b/scenario", "c/c"].map { "\(root)/\($0).yaml" })
    let run = root + "/kept/a#1"
    for path in [run, run + "/scenario.yaml"] {
      #expect(try ScenarioFinder.files(at: [path]) == [run + "/scenario.yaml"])
    }
  }

  @Test func `folders that lead to themselves are searched once, and pipes in them are no scenarios`() throws {
    let root = NSTemporaryDirectory() + "callsim-find-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    #expect(FileManager.default.createFile(atPath: root + "/a.yaml", contents: nil))
    #expect(mkfifo(root + "/pipe.yaml", 0o600) == 0)
    for link in ["one", "two"] { #expect(symlink(".", "\(root)/\(link)") == 0) }
    #expect(try ScenarioFinder.files(at: [root]) == [root + "/a.yaml"])
  }

  @Test func `a name that no report could write is refused, not passed over`() throws {
    let root = NSTemporaryDirectory() + "callsim-find-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let name: [CChar] = (Array(root.utf8) + [0x2F, 0x62, 0xE9] + Array(".yaml".utf8) + [0]).map(CChar.init(bitPattern:))
    close(open(name, O_CREAT | O_WRONLY, 0o600))
    #expect(throws: ScenarioFinder.Problem.notUTF8(folder: root, name: "b\u{FFFD}.yaml")) {
      try ScenarioFinder.files(at: [root])
    }
  }
}
