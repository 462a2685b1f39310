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
    #expect(lines.first?.hasPrefix("callsim \(Program.version), OpenSSL ") == true)
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
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("nat/a"), "callsim-runs/nat": "a file"])
    let outcome = try workspace.run("run", "--artifacts", "all")
    #expect(outcome.status == 4, "\(outcome.output)")
    let complaint = "callsim-runs/nat/a#1: cannot be made: Not a directory. Run elsewhere or choose --artifacts none."
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

  @Test func `a seed of several says nothing of what only all of them decide, and alone is vacuous`() throws {
    let over = "- { sometimes: alice.call.state == connected }"
    let text = { (id: String, rest: String) in
      """
      callsim: 1
      id: \(id)
      seeds: { count: 2 }
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 2s, do: alice.hangup }
      expect:
        \(over)
      \(rest)
      """
    }
    let workspace = try Workspace([
      "scenarios/a.yaml": text("a", ""), "scenarios/b.yaml": text("b", "  - { ends: alice, code: local-hangup }"),
    ])
    func run(_ arguments: String...) throws -> (status: Int32, last: Substring?) {
      let outcome = try Program.run(["run", "--artifacts", "none"] + arguments, in: workspace.path)
      return (outcome.status, outcome.output.split(separator: "\n").last)
    }
    let alone = try run("--seed", "1", "scenarios/a.yaml")
    #expect(alone.status == 7)
    let closing = "1 expectation over all seeds not judged, nothing was put to the test"
    #expect(alone.last == "1 passed, 0 failed, \(closing)")
    let shard = try run("--seed", "1", "--shard", "1/2", "scenarios/a.yaml")
    #expect(shard.status == 7 && shard.last == alone.last)
    // What another file expects of each run was judged.
    let both = try run("--seed", "1")
    #expect(both.status == 0 && both.last == "2 passed, 0 failed, 2 expectations over all seeds not judged")
    let whole = try run("--seeds", "1", "scenarios/a.yaml")
    #expect(whole.status == 1 && whole.last == "1 passed, 0 failed, over all seeds 1 failed")
  }

  @Test func `a selection that is given several times is all of it`() throws {
    let matrix = "matrix: { net: [wifi, lte], loss: [0%, 5%] }"
    let cells = Fixture.scenario(
      "a", more: matrix, entry: "- { at: 0s, fault: link.set, link: 'alice/${net}', loss: '${loss}' }"
    ).replacing("network: wifi }\n  bob", with: "network: '${net}' }\n  bob")
    let workspace = try Workspace([
      "scenarios/a.yaml": cells, "scenarios/b.yaml": Fixture.scenario("b"), "scenarios/c.yaml": Fixture.scenario("c"),
    ])
    func runs(_ arguments: String...) throws -> [String] {
      let outcome = try Program.run(["run", "--json", "--artifacts", "none"] + arguments, in: workspace.path)
      return outcome.output.split(separator: "\n").compactMap { line in
        let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return (event?["result"] as? [String: Any])?["id"] as? String
      }
    }
    #expect(try runs("-k", "b", "-k", "c") == ["b#1", "c#1"])
    #expect(try runs("--cell", "net=wifi", "--cell", "net=lte").count == 4)
    let lossless = try runs("--cell", "net=wifi,net=lte", "--cell", "loss=0%")
    #expect(lossless == ["a[loss=0%,net=wifi]#1", "a[loss=0%,net=lte]#1"])
    let replay = try workspace.run("replay", "b#1", "--trace", "dtls", "--trace", "bob.nothing", "--trace", "ice")
    #expect(replay.status == 2 && replay.errors.contains("nothing in this run is called 'bob.nothing'"))
    let both = try workspace.run("replay", "b#1", "--trace", "dtls", "--trace", "ice").output
    #expect(both.contains(" dtls.") && both.contains(" ice."))
  }

  @Test func `choosing nothing is vacuous`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "tags: [ci]")])
    let outcome = try workspace.run("run", "-t", "nightly")
    #expect(outcome.status == 7)
    #expect(outcome.errors == "error: nothing to run; no scenario has the tag 'nightly'; there are: ci\n")
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

  @Test func `an interruption ends the suite with 130 and what is known by then`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try Program.run(
      ["run", "--seeds", "100000", "--report", "junit=j.xml"], in: workspace.path, interruptedAt: "PASS a#1 ")
    #expect(outcome.status == 130)
    #expect(outcome.errors.hasPrefix("interrupted: "))
    #expect(outcome.output.contains(" not run\n"))
    #expect(try workspace.text("j.xml").hasSuffix("</testsuites>\n"))
  }

  @Test func `a scenario that comes through a pipe is read once and run`() throws {
    let workspace = try Workspace(["a.yaml": Fixture.scenario("a", more: "seeds: { count: 3 }")])
    let outcome = try Program.run(
      ["run", "/dev/stdin", "--check-determinism"], in: workspace.path,
      launcher: ["sh", "-c", "cat a.yaml | \"$0\" \"$@\""])
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.hasSuffix("3 passed, 0 failed\n"))
  }

  @Test func `a file that changes while the suite runs changes no run`() throws {
    let workspace = try Workspace(["a.yaml": Fixture.scenario("a")])
    // The first run fails, and by the time that it is told the file is another.
    let script =
      "(while ! grep -q 'PASS a#1 ' out; do sleep 0.01; done; echo nonsense > a.yaml) & \"$0\" \"$@\" | tee out"
    let outcome = try Program.run(
      ["run", "a.yaml", "--seeds", "300", "--jobs", "2"], in: workspace.path, launcher: ["bash", "-c", script])
    #expect(outcome.output.hasSuffix("300 passed, 0 failed\n"), "\(outcome.output.suffix(600))")
    #expect(try workspace.text("a.yaml") == "nonsense\n")
  }

  @Test func `the hash of the files covers those they use`() throws {
    func header(_ profile: String) throws -> Substring? {
      let text = Fixture.scenario("a", more: "use: [profiles/p.yaml]")
      let workspace = try Workspace(["scenarios/a.yaml": text, "scenarios/profiles/p.yaml": profile])
      return try workspace.run("run").output.split(separator: "\n").dropFirst().first
    }
    let shared = "callsim: 1\nnetworks: { ours: { profile: wifi } }\n"
    #expect(try header(shared) != header(shared + "# another\n"))
    #expect(try header(shared) == header(shared))
  }

  @Test func `a used file that is a pipe is refused, not waited for`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "use: [pipe]")])
    #expect(mkfifo(workspace.path + "/scenarios/pipe", 0o600) == 0)
    let outcome = try workspace.run("validate")
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("'pipe' cannot be read"), "\(outcome.output)")
  }

  @Test func `two interfaces of one name are refused`() throws {
    let text = """
      callsim: 1
      id: a
      topology:
        links: { wifi: { from: alice, to: internet } }
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
      expect:
        - { ends: alice, code: ring-timeout, within: 70s, of: start }
      """
    let workspace = try Workspace(["scenarios/a.yaml": text])
    let outcome = try workspace.run("validate")
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("alice has an interface 'wifi' already"), "\(outcome.output)")
  }

  @Test func `a cell is chosen by tags of its own`() throws {
    let text = Fixture.scenario("call", more: "matrix: { net: [x, y] }\ntags: ['t-${net}']", code: "declined")
    let workspace = try Workspace(["scenarios/a.yaml": text])
    let tagged = try workspace.run("run", "-t", "t-y", "--artifacts", "none")
    #expect(tagged.output.contains("FAIL call[net=y]#1") && tagged.output.hasSuffix("0 passed, 1 failed\n"))
    #expect(try workspace.run("list").output.contains("[t-x, t-y]"))
  }

  @Test func `a run's folder plays the run as it was, wherever it is taken, and says when the file has changed`() throws
  {
    let broken = Fixture.scenario("a", code: "declined")
    let workspace = try Workspace(["scenarios/a.yaml": broken])
    _ = try workspace.run("run", "--out", "kept")
    #expect(try workspace.text("kept/a#1/scenario.yaml") == broken)
    #expect(try workspace.text("kept/.gitignore").hasSuffix("\n*\n"))
    #expect(try workspace.text("kept/a#1/result.json").contains("\"callsim\":{\"version\":"))
    try Fixture.scenario("a").write(toFile: workspace.path + "/scenarios/a.yaml", atomically: true, encoding: .utf8)
    let folder = try workspace.run("replay", "kept/a#1")
    #expect(folder.status == 1)
    #expect(folder.errors.contains("note: scenarios/a.yaml is not what it was"), "\(folder.errors)")
    #expect(try workspace.run("replay", "a#1").status == 0)
    let elsewhere = try Workspace()
    try FileManager.default.moveItem(atPath: workspace.path + "/kept/a#1", toPath: elsewhere.path + "/run")
    let moved = try elsewhere.run("replay", "run")
    #expect(moved.status == 1)
    #expect(moved.errors == "note: scenarios/a.yaml is not found from here; this plays the run as it was\n")
  }

  @Test func `what a run left is gone once the run passes`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", code: "declined")])
    _ = try workspace.run("run")
    #expect(workspace.has("callsim-runs/a#1/run.json") && workspace.has("callsim-runs/last-failed.txt"))
    try Fixture.scenario("a").write(toFile: workspace.path + "/scenarios/a.yaml", atomically: true, encoding: .utf8)
    #expect(try workspace.run("run").status == 0)
    #expect(!workspace.has("callsim-runs"))
  }

  @Test(arguments: ["callsim-runs", "kept"])
  func `a folder of scenarios that holds what runs left is run again`(out: String) throws {
    let workspace = try Workspace(["a.yaml": Fixture.scenario("a", code: "declined")])
    for _ in 1...2 {
      let outcome = try workspace.run("run", ".", "--out", out)
      #expect(outcome.status == 1 && outcome.errors.isEmpty, "\(outcome.errors)")
    }
    #expect(try workspace.run("list", ".").output.split(separator: "\n").count == 1)
    #expect(try workspace.run("validate", ".").status == 0)
    #expect(try workspace.run("run", "\(out)/a#1", "--artifacts", "none").status == 1)
  }

  @Test func `--last-failed plays a run as it failed, or says what it failed with`() throws {
    let text = Fixture.scenario("a", more: "vars: { code: local-hangup }", code: "'${code}'")
    let workspace = try Workspace(["scenarios/a.yaml": text])
    #expect(try workspace.run("run", "--set", "code=declined").status == 1)
    let bare = try workspace.run("run", "--last-failed")
    #expect(bare.status == 7, "\(bare.output)")
    let hint = "a#1 failed with --set code=declined: give the same again to play it\n"
    #expect(bare.errors == "error: nothing to run; " + hint)
    // A run with other values strikes nothing off the list, and is struck off itself.
    #expect(try workspace.run("run").status == 0)
    #expect(try workspace.run("run", "--set", "code=busy").status == 1)
    let same = try workspace.run("run", "--last-failed", "--set", "code=declined", "--artifacts", "none")
    #expect(same.status == 1)
    #expect(same.errors == "note: not run: a#1 failed with --set code=busy: give the same again to play it\n")
    #expect(try workspace.text("callsim-runs/last-failed.txt").split(separator: "\n").count == 2)
  }

  @Test func `--last-failed plays the seeds that failed, whatever seeds the file has`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", code: "declined")])
    #expect(try workspace.run("run", "--seeds", "3").status == 1)
    let again = try workspace.run("run", "--last-failed")
    #expect(again.output.contains("1 file, 1 cell, 3 runs, seeds 1-3"), "\(again.output)")
    #expect(again.output.hasSuffix("0 passed, 3 failed\n"))
  }

  @Test func `what replay cannot play is told with what it takes`() throws {
    let workspace = try Workspace(["x.yaml": Fixture.scenario("x"), "damaged/run.json": "{", "empty/x": ""])
    let takes = "error: replay takes a run, such as hello#1, or the folder of one; "
    let here = "is no folder of a run, and there is no folder 'scenarios' here to look for its scenario in"
    for (target, message) in [
      ("x.yaml", takes + "'x.yaml' is a file: callsim replay 'x#1' x.yaml\n"),
      ("y.yaml", takes + "'y.yaml' does not exist\n"), ("nowhere", takes + "'nowhere' \(here)"),
      ("empty/", takes + "'empty/' \(here)"), ("x#1", takes + "'x#1' \(here): name the file behind it\n"),
      (
        "damaged",
        "error: damaged/run.json is damaged, or of another version of callsim; name the run itself: id#seed\n"
      ),
    ] {
      let outcome = try workspace.run("replay", target)
      #expect(outcome.status == 2 && outcome.errors.hasPrefix(message), "\(outcome.errors)")
    }
    #expect(try workspace.run("replay", "x#1", "x.yaml").status == 0)
  }

  @Test func `short options take their values joined`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "tags: [ci]")])
    let outcome = try workspace.run("run", "-j1", "-tci", "-ka", "-q")
    #expect(outcome.status == 0 && outcome.output == "1 passed, 0 failed\n", "\(outcome.errors)")
  }

  @Test func `--last-failed runs what failed, until it passes`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a"), "scenarios/b.yaml": Fixture.scenario("b", code: "declined"),
    ])
    _ = try workspace.run("run")
    let again = try workspace.run("run", "--last-failed")
    #expect(again.status == 1 && again.output.contains("1 file, 1 cell, 1 run,"), "\(again.output)")
    try Fixture.scenario("b").write(toFile: workspace.path + "/scenarios/b.yaml", atomically: true, encoding: .utf8)
    #expect(try workspace.run("run", "--last-failed").status == 0)
    let none = try workspace.run("run", "--last-failed")
    #expect(none.status == 7)
    #expect(none.errors == "error: nothing to run; callsim-runs holds no record of a run that failed\n")
  }

  @Test func `--last-failed knows of runs that left no files`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a"), "scenarios/b.yaml": Fixture.scenario("b", code: "declined"),
    ])
    _ = try workspace.run("run", "--artifacts", "none")
    let again = try workspace.run("run", "--last-failed", "--artifacts", "none")
    #expect(again.status == 1 && again.output.contains("1 file, 1 cell, 1 run,"), "\(again.output)")
  }

  @Test func `a replay says what its run is to a verdict over all seeds`() throws {
    let share = Fixture.scenario("a", more: "seeds: { count: 2 }", code: "declined")
      .replacing("within: 1s", with: "share: { gte: 50% }, within: 1s")
    let workspace = try Workspace(["scenarios/a.yaml": share])
    let outcome = try workspace.run("run", "--artifacts", "none")
    #expect(outcome.status == 1 && outcome.output.contains("replay     callsim replay 'a#1'\n"), "\(outcome.output)")
    let replay = try workspace.run("replay", "a#1", "--until", "0s")
    #expect(replay.output.contains("PASS a#1\njudged over all seeds: ends: alice, code: declined, share: "))
    #expect(replay.output.hasSuffix(": did not hold in this run\n"), "\(replay.output)")
  }

  @Test func `warnings are told before the runs, and not when only failures are asked for`() throws {
    let relayOnly = Fixture.scenario("a").replacing("network: wifi", with: "network: wifi, ice: { policy: relay }")
    let workspace = try Workspace(["scenarios/a.yaml": relayOnly])
    #expect(try workspace.run("run").errors.contains("warning[W414]: alice uses relays only"))
    #expect(try workspace.run("run", "--quiet").errors.isEmpty)
    // What is not run is not told about.
    try Fixture.scenario("b").write(toFile: workspace.path + "/scenarios/b.yaml", atomically: true, encoding: .utf8)
    #expect(try workspace.run("run", "-k", "b").errors.isEmpty)
  }

  @Test func `colour can be forced where there is no terminal, and refused everywhere`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    for name in ["FORCE_COLOR", "CLICOLOR_FORCE"] {
      #expect(try workspace.run("run", environment: [name: "1", "NO_COLOR": ""]).output.contains("\u{1B}[32mPASS"))
      #expect(try !workspace.run("run", environment: [name: "0", "NO_COLOR": ""]).output.contains("\u{1B}"))
      #expect(try !workspace.run("run", environment: [name: "1", "NO_COLOR": "1"]).output.contains("\u{1B}"))
    }
  }

  @Test func `replay prints from a time on`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let late = try workspace.run("replay", "a#1", "--from", "1s", "--until", "2s")
    let times = late.output.split(separator: "\n").filter { $0.contains(" s  ") }
      .compactMap { Double($0.split(separator: " ")[0]) }
    #expect(!times.isEmpty && times.allSatisfy { (1...2).contains($0) })
  }

  @Test func `--artifacts all keeps what everybody heard`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "media: real")])
    let outcome = try workspace.run("run", "--artifacts", "all")
    #expect(outcome.status == 0, "\(outcome.output)")
    for name in ["alice.wav", "bob.wav", "run.pcapng"] { #expect(workspace.has("callsim-runs/a#1/\(name)"), "\(name)") }
  }

  @Test(arguments: [
    (["--tag", "naat"], "no scenario has the tag 'naat'; did you mean 'nat'?"),
    (["-k", "zzz"], "no cell's id and no scenario's title contains 'zzz'"),
    (
      ["-k", "a,zzz"],
      "no cell's id and no scenario's title contains 'a,zzz'; of several texts each has a -k of its own"
    ),
    (["--tag", "naat,x"], "no scenario has the tag 'naat'; did you mean 'nat'?"),
    (["--cell", "los=5%"], "no matrix has the variable 'los'; did you mean 'loss'?"),
    (["--cell", "loss=7%"], "'7%' is not a value of loss; there are: 0%, 5%"),
    (["--tag", "ci", "--cell", "loss=5%"], "--cell loss=5% leaves none of the 1 run that --tag ci leaves"),
  ])
  func `whoever excludes everything is told with what`(arguments: [String], message: String) throws {
    let matrix =
      "matrix: { loss: [0%, 5%] }\ntags: [nat]\n"
      + "define: { lossy: \"alice.stats.remote-inbound-rtp.audio.fractionLost > ${loss}\" }"
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
    let more =
      "vars: { loss: 0% }\n"
      + "define: { lossy: \"alice.stats.remote-inbound-rtp.audio.fractionLost > ${loss}\" }"
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
    // Only what a predicate reads is written about the wire.
    let wire = try workspace.run("replay", "a#1", "--trace", "wire")
    #expect(wire.errors == "note: --trace: nothing in this run is called 'wire'\n")
    let rest = try workspace.run("replay", "a#1", "--trace", "-alice", "--until", "1s")
    #expect(rest.status == 0 && rest.errors.isEmpty && !rest.output.contains(" s  alice "), "\(rest.errors)")
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
