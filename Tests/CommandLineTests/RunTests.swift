import Foundation
import Testing

@Suite struct RunTests {
  @Test func `a passing suite prints a line for every run and exits with 0`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a"), "scenarios/b/b.yaml": Fixture.scenario("b"),
    ])
    let outcome = try workspace.run("run")
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("callsim 0.1.0, OpenSSL ") == true)
    #expect(lines.dropFirst().first?.hasPrefix("2 files, 2 cells, 2 runs, seed 1, files ") == true)
    #expect(lines.dropFirst(2).map { $0.prefix(9) } == ["PASS a#1 ", "PASS b#1 ", "2 passed,"])
    #expect(lines.last == "2 passed, 0 failed")
    #expect(!workspace.has("callsim-runs"))
  }

  @Test func `a failed expectation exits with 1 and leaves everything to follow it up`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", code: "declined")])
    let outcome = try workspace.run("run", "--report", "junit=j.xml,tap=t.tap")
    #expect(outcome.status == 1, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains("FAIL a#1   virtual "))
    #expect(outcome.output.contains("  scenarios/a.yaml:12:"))
    #expect(outcome.output.contains("  why        hanging up must end the call\n"))
    #expect(outcome.output.contains("  replay     callsim replay 'a#1'\n"))
    #expect(outcome.output.hasSuffix("0 passed, 1 failed\n"))
    for name in ["trace.jsonl", "run.pcapng", "sequence.mmd", "result.json"] {
      #expect(workspace.has("callsim-runs/a#1/\(name)"), "\(name)")
      #expect(workspace.has("callsim-runs/latest/\(name)"), "\(name)")
    }
    #expect(try workspace.text("callsim-runs/a#1/sequence.mmd").hasPrefix("sequenceDiagram\n  participant P0 as "))
    #expect(try workspace.text("j.xml").contains("<failure type=\"fail\" message=\""))
    #expect(try workspace.text("t.tap").contains("not ok 1 - a\\#1\n"))
  }

  @Test func `a run whose folder cannot be made says what the system said, and what to do about that`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a"), "callsim-runs": "a file"])
    let outcome = try workspace.run("run", "--artifacts", "all")
    #expect(outcome.status == 4, "\(outcome.output)")
    let complaint = "callsim-runs/a#1: cannot be made: Not a directory. Run elsewhere or choose --artifacts none."
    #expect(outcome.output.contains(complaint), "\(outcome.output)")
  }

  @Test func `the replay command plays the same run again`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", code: "declined")])
    _ = try workspace.run("run")
    let byName = try workspace.run("replay", "a#1", "--trace", "call")
    let byFolder = try workspace.run("replay", "callsim-runs/latest", "--trace", "call")
    #expect(byName.status == 1 && byFolder.status == 1)
    #expect(byName.output.contains("alice         call.state"))
    let events = { (text: String) in text.split(separator: "\n").filter { $0.contains(" s  ") } }
    #expect(events(byName.output) == events(byFolder.output))
    let early = try workspace.run("replay", "a#1", "--until", "500ms")
    let times = events(early.output).compactMap { Double($0.split(separator: " ")[0]) }
    #expect(!times.isEmpty && times.allSatisfy { $0 <= 0.5 })
  }

  @Test func `a trigger that never fires is vacuous and exits with 7`() throws {
    let never = "- { when: alice.call.state == ringing, do: alice.accept }"
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", entry: never)])
    let outcome = try workspace.run("run", "--artifacts", "none")
    #expect(outcome.output.contains("VACUOUS a#1"), "\(outcome.output)")
    #expect(outcome.status == 7)
  }

  @Test func `choosing nothing is vacuous`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "tags: [ci]")])
    let outcome = try workspace.run("run", "-t", "nightly")
    #expect(outcome.status == 7)
    #expect(outcome.errors == "error: nothing to run; no scenario has the tag 'nightly'; there are: ci\n")
  }

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

  @Test func `the same suite gives the same results in one process or in several`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "seeds: { count: 4 }")])
    let hashes = try ["1", "4"].map { jobs in
      try workspace.run("run", "--json", "--jobs", jobs).output.split(separator: "\n").compactMap { line -> String? in
        let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return (event?["result"] as? [String: Any])?["traceHash"] as? String
      }
    }
    #expect(hashes[0] == hashes[1])
    #expect(Set(hashes[0]).count == 4)
  }

  @Test func `two processes give the same events`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("run", "--check-determinism")
    #expect(outcome.status == 0, "\(outcome.output)")
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

  @Test func `an interruption ends the suite with 130 and what is known by then`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try Program.run(
      ["run", "--seeds", "100000", "--report", "junit=j.xml"], in: workspace.path, interruptedAt: "PASS a#1 ")
    #expect(outcome.status == 130)
    #expect(outcome.errors.hasPrefix("interrupted: "))
    #expect(outcome.output.contains(" not run\n"))
    #expect(try workspace.text("j.xml").hasSuffix("</testsuites>\n"))
  }

  @Test func `--artifacts all keeps what everybody heard`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "media: real")])
    let outcome = try workspace.run("run", "--artifacts", "all")
    #expect(outcome.status == 0, "\(outcome.output)")
    for name in ["alice.wav", "bob.wav", "run.pcapng"] { #expect(workspace.has("callsim-runs/a#1/\(name)"), "\(name)") }
  }

  @Test func `a report that cannot be written is noticed before the first run`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("run", "--report", "junit=nowhere/j.xml")
    #expect(outcome.status == 2)
    #expect(outcome.errors == "error: the report 'nowhere/j.xml' cannot be written: No such file or directory\n")
    #expect(outcome.output.isEmpty)
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

  @Test(arguments: [
    (["--tag", "naat"], "no scenario has the tag 'naat'; did you mean 'nat'?"),
    (["-k", "zzz"], "no cell's id and no scenario's title contains 'zzz'"),
    (["--cell", "los=5%"], "no matrix has the variable 'los'; did you mean 'loss'?"),
    (["--cell", "loss=7%"], "'7%' is not a value of loss; there are: 0%, 5%"),
    (["--tag", "ci", "--cell", "loss=5%"], "--cell loss=5% leaves none of the 1 run that --tag ci leaves"),
    (["--tag", "ci", "--shard", "2/2"], "--shard 2/2 leaves none of the 1 run that --tag ci leaves"),
  ])
  func `whoever excludes everything is told with what`(arguments: [String], message: String) throws {
    let matrix = "matrix: { loss: [0%, 5%] }\ntags: [nat]\nwhy: ${loss}"
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a", more: "tags: [ci]"),
      "scenarios/b.yaml": Fixture.scenario("b", more: matrix),
    ])
    let outcome = try Program.run(["run"] + arguments, in: workspace.path)
    #expect(outcome.status == 7)
    #expect(outcome.errors == "error: nothing to run; \(message)\n")
  }

  @Test(arguments: [
    (["run", "--set", "los=5%"], "--set names 'los', which is no variable of scenarios/a.yaml; did you mean 'loss'?"),
    (["list", "--set", "speed=1"], "which is no variable of scenarios/a.yaml; there are: loss"),
    (["replay", "a#1", "--set", "los=5%"], "did you mean 'loss'?"),
    (["run", "--set", "loss=5%", "--set", "loss=6%"], "--set names 'loss' twice"),
    (["run", "--peer", "bob=external:'sleep 1"], "a quote is not closed in --peer 'bob=external:'sleep 1'"),
    (["run", "--peer", "bob=external:a", "--peer", "bob=external:b"], "--peer names 'bob' twice"),
    (["run", "--seed", "1", "--seed", "2"], "--seed is given twice"),
    (["run", "--seeds", "1", "--seeds", "2"], "--seeds is given twice"),
    (["replay", "a#abc"], "'abc' is no seed; a run is named id#seed with a number, such as 'a#1'"),
  ])
  func `a name that stands for nothing, or twice, is refused`(arguments: [String], message: String) throws {
    let more = "vars: { loss: 0% }\nwhy: ${loss}"
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: more)])
    let outcome = try Program.run(arguments, in: workspace.path)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }

  @Test func `what is traced exists`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let wrong = try workspace.run("replay", "a#1", "--trace", "dtlss")
    #expect(wrong.status == 2)
    #expect(wrong.errors == "error: --trace: nothing in this run is called 'dtlss'; did you mean 'dtls'?\n")
    let unknown = try workspace.run("replay", "a#1", "--trace", "nosuch")
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("'nosuch'; there are: "), "\(unknown.errors)")
    // It could have happened.
    let none = try workspace.run("replay", "a#1", "--trace", "track.ended")
    #expect(none.status == 0, "\(none.errors)")
    let some = try workspace.run("replay", "a#1", "--trace", "dtls,alice")
    #expect(some.status == 0 && some.errors.isEmpty)
    #expect(some.output.contains("dtls.state"))
  }

  @Test func `list shows cells, seeds and tags`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a", more: "title: one call\ntags: [ci]\nseeds: { count: 2 }")
    ])
    #expect(try workspace.run("list").output == "a  one call  (seeds 1-2)  [ci]\n")
    let json = try workspace.run("list", "--json").output
    #expect(
      json == """
        [{"id":"a","path":"scenarios/a.yaml","title":"one call","tags":["ci"],"seeds":[1,2],"cells":["a"]}]

        """)
  }
}
