import Foundation
import Testing

/// What `callsim run` writes for others to read.
@Suite struct ReportTests {
  @Test func `JSON has standard output to itself`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "seeds: { count: 3 }")])
    let outcome = try workspace.run("run", "--json", "--jobs", "3")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let events = try outcome.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(events.map { $0["event"] as? String } == ["begin", "run", "run", "run", "end"])
    let seeds = events.compactMap { ($0["result"] as? [String: Any])?["seed"] as? Int }
    #expect(seeds == [1, 2, 3])
    #expect(outcome.errors.hasSuffix("3 passed, 0 failed\n"))
  }

  @Test func `in GitHub a failure annotates its line and the summary shows the diagram`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a", code: "declined"), "summary.md": "before\n",
    ])
    let outcome = try workspace.run(
      "run", environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary.md"])
    #expect(outcome.output.contains("::error file=scenarios/a.yaml,line=12,"))
    let summary = try workspace.text("summary.md")
    #expect(summary.hasPrefix("before\n### callsim: 0 passed, 1 failed\n"))
    #expect(summary.contains("```mermaid\nsequenceDiagram\n"))
  }

  @Test func `a page is the same for the same runs, and open tells where the newest is`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", code: "declined")])
    #expect(try workspace.run("open").errors.contains("callsim-runs knows of no page"))
    let outcome = try workspace.run("run", "--report", "html=pages/a.html")
    #expect(outcome.status == 1, "\(outcome.errors)")
    let page = try workspace.text("pages/a.html")
    #expect(page.contains("\"story\":{") && page.hasSuffix("</html>\n"))
    _ = try workspace.run("run", "--report", "html=pages/a.html")
    #expect(try workspace.text("pages/a.html") == page)
    let shown = try workspace.run("open")
    #expect(shown.status == 0 && shown.output.hasSuffix("/pages/a.html\n"), "\(shown.errors)")
    #expect(try workspace.run("open", "nowhere.html").status == 2)
  }

  @Test func `open shows the page of a suite that could not begin`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": "callsim: 1\nid: a\nnonsense: true\n"])
    #expect(try workspace.run("run", "--report", "html=a.html").status == 3)
    let shown = try workspace.run("open")
    #expect(shown.status == 0 && shown.output.hasSuffix("/a.html\n"), "\(shown.errors)")
  }

  @Test func `a shard that is left without a run passes and writes its reports`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("run", "--shard", "2/2", "--report", "junit=j.xml")
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains("\n0 files, 0 cells, 0 runs, files "))
    #expect(outcome.output.hasSuffix("0 passed, 0 failed\n"))
    #expect(try workspace.text("j.xml").hasSuffix("<testsuites name=\"callsim\">\n</testsuites>\n"))
  }

  @Test func `an interruption shows in every report`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try Program.run(
      ["run", "--seeds", "2000", "--report", "junit=j.xml,tap=t.tap,json=j.jsonl"], in: workspace.path,
      interruptedAt: "PASS a#1 ")
    #expect(outcome.status == 130)
    #expect(try workspace.text("j.jsonl").contains("\"interrupted\":true,\"exitStatus\":130}"))
    #expect(try workspace.text("j.xml").components(separatedBy: "<testcase ").count == 2_001)
    #expect(try workspace.text("j.xml").contains("not run: the suite was interrupted"))
    #expect(try workspace.text("t.tap").contains("1..2000\nBail out! "))
  }

  @Test func `files with errors are in the reports, in place of those of an earlier suite`() throws {
    let workspace = try Workspace([
      "scenarios/broken.yaml": Fixture.broken, "j.xml": "old", "scenarios/a.yaml": Fixture.scenario("a"),
    ])
    let outcome = try workspace.run("run", "--report", "junit=j.xml", "--json")
    #expect(outcome.status == 3)
    let report = try workspace.text("j.xml")
    #expect(report.contains("errors=\"2\"") && report.hasSuffix("</testsuites>\n"))
    let reason = "files of the suite have errors"
    #expect(report.contains("<testcase name=\"a#1\"") && report.contains("<skipped message=\"not run: \(reason)\"/>"))
    #expect(outcome.output.contains("{\"event\":\"begin\",\"files\":1,\"cells\":1,\"runs\":1,"))
    let missing = "{\"event\":\"notRun\",\"id\":\"a#1\",\"path\":\"scenarios/a.yaml\",\"reason\":\"\(reason)\"}\n"
    #expect(outcome.output.contains(missing), "\(outcome.output)")
    #expect(outcome.output.contains("\"notRun\":1,"))
    #expect(outcome.output.contains("\"event\":\"problem\",\"path\":\"scenarios/broken.yaml\""))
    #expect(outcome.output.hasSuffix("\"exitStatus\":3}\n"))
  }

  @Test func `a report that cannot be written is noticed before the first run`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("run", "--report", "junit=scenarios/a.yaml/j.xml")
    #expect(outcome.status == 2)
    #expect(outcome.errors == "error: the report 'scenarios/a.yaml/j.xml' cannot be written: Not a directory\n")
    #expect(outcome.output.isEmpty)
  }

  @Test func `a report makes the folder it is in`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("run", "--report", "junit=reports/new/j.xml")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try workspace.text("reports/new/j.xml").hasSuffix("</testsuites>\n"))
  }

  @Test(arguments: [
    ("junit=scenarios/a.yaml", "a scenario and --report junit name the same file, 'scenarios/a.yaml'"),
    ("tap=link", "a scenario and --report tap name the same file, 'link'"),
    ("json=scenarios/profiles/p.yaml", "a scenario and --report json name the same file"),
    ("junit=x,tap=./x", "--report junit and --report tap name the same file, './x'"),
  ])
  func `no report takes the place of a scenario or of another report`(report: String, message: String) throws {
    let text = Fixture.scenario("a", more: "use: [profiles/p.yaml]")
    let shared = "callsim: 1\nnetworks: { ours: { profile: wifi } }\n"
    let workspace = try Workspace(["scenarios/a.yaml": text, "scenarios/profiles/p.yaml": shared])
    let link = workspace.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: workspace.path + "/scenarios/a.yaml")
    let outcome = try workspace.run("run", "--report", report)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(try workspace.text("scenarios/a.yaml") == text)
  }

  @Test func `a report goes into what is no regular file, and through a symbolic link`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a"), "j.xml": "before"])
    let path = workspace.path
    try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: path + "/j.xml")
    #expect(mkfifo(path + "/pipe", 0o600) == 0)
    let reader = open(path + "/pipe", O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let outcome = try workspace.run("run", "--report", "junit=link,tap=pipe")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try workspace.text("j.xml").hasSuffix("</testsuites>\n"))
    let link = try FileManager.default.attributesOfItem(atPath: path + "/link")
    #expect(link[.type] as? FileAttributeType == .typeSymbolicLink)
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(reader, &bytes, bytes.count)
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).hasPrefix("TAP version 14\n"))
  }

  @Test func `a report that is lost is told, takes no device's place and decides the exit status`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("run", "--report", "junit=/dev/full")
    #expect(outcome.status == 4)
    #expect(
      outcome.errors == "error: /dev/full: not everything could be written: No space left on device\n")
    let device = try FileManager.default.attributesOfItem(atPath: "/dev/full")
    #expect(device[.type] as? FileAttributeType == .typeCharacterSpecial)
  }

  @Test func `a step summary that is lost does not end the program`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run(
      "run", environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "/dev/full"])
    #expect(outcome.status == 4)
    #expect(outcome.errors.contains("/dev/full: not everything could be written"), "\(outcome.errors)")
  }
}
