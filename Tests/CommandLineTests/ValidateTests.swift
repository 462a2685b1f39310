import Foundation
import Testing

@Suite struct ValidateTests {
  @Test func `a sound file is counted and exits with 0`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("validate")
    #expect(outcome.status == 0)
    #expect(outcome.output == "1 scenario in 1 cell, 0 errors, 0 warnings\n")
  }

  @Test(arguments: ["validate", "run", "list"])
  func `a folder without a scenario is an error that names what looks like one`(command: String) throws {
    let workspace = try Workspace([
      "empty/notes.txt": "", "alike/a.YAML": "", "alike/sub/b.json": "{}", "scenarios/a.yaml": Fixture.scenario("a"),
    ])
    let none = "error: no file in the folder '%' is called *.yaml or *.yml, so there is no scenario in it"
    let empty = try workspace.run(command, "scenarios", "empty")
    #expect(empty.status == 2 && empty.output.isEmpty)
    #expect(empty.errors == none.replacing("%", with: "empty") + "\n")
    let alike = try workspace.run(command, "alike")
    let remedy = "; rename what is meant to be one: alike/a.YAML, alike/sub/b.json\n"
    #expect(alike.status == 2 && alike.errors == none.replacing("%", with: "alike") + remedy)
    // It was searched already.
    #expect(try workspace.run(command, "scenarios", ".").status == 0)
    #expect(symlink("nowhere", workspace.path + "/scenarios/z.yaml") == 0)
    let link = try workspace.run(command)
    #expect(link.status == 2, "\(link.output)")
    #expect(
      link.errors == "error: 'scenarios/z.yaml' is a symbolic link to what does not exist; mend it or remove it\n")
  }

  @Test func `users of another product, codes that no client sees, and settings without what they need are told`()
    throws
  {
    let workspace = try Workspace([
      "scenarios/products.yaml": """
      callsim: 1
      id: t
      peers:
        alice: { profile: vonage, network: home }
        bob: { profile: twilio, network: home }
      timeline:
        - { at: 0s, do: alice.connect, session: daily }
        - { at: 0s, do: bob.connect, room: daily }
        - { at: 5s, do: alice.invite, user: bob, session: daily }
      expect:
        - { ends: bob, code: "53107" }
      """,
      "scenarios/settings.yaml": """
      callsim: 1
      id: s
      peers:
        alice: { profile: vonage, network: home, settings: { audio-fallback: false } }
        bob: { profile: twilio, network: home, settings: { track-switch-off: disabled } }
      timeline:
        - { at: 0s, do: alice.connect, session: daily }
        - { at: 0s, do: bob.connect, room: daily }
      expect:
        - { eventually: bob.room.state == connected }
      """,
    ])
    let outcome = try workspace.run("validate")
    #expect(outcome.status == 3)
    for line in [
      "products.yaml:9:39: warning[W414]: alice reaches no 'bob': one is in vonage, and the other in twilio",
      "products.yaml:11:24: error[E222]: no client sees the code '53107': The REST API refuses a number of participants.",
      "settings.yaml:4:72: warning[W414]: 'audio-fallback' changes nothing: it needs video: {}",
      "settings.yaml:5:72: warning[W414]: 'track-switch-off' changes nothing: it needs bandwidth-profile",
    ] { #expect(outcome.output.contains("scenarios/" + line), "\(outcome.output)") }
    #expect(outcome.output.hasSuffix("1 error, 3 warnings\n"))
  }

  @Test func `every mistake is shown where it stands`() throws {
    let workspace = try Workspace(["scenarios/broken.yaml": Fixture.broken])
    let outcome = try workspace.run("validate")
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("scenarios/broken.yaml:8:32: error[E210]: unknown fault 'link.dwon'\n"))
    #expect(outcome.output.contains("^^^^^^^^^ did you mean 'link.down'?  (callsim explain fault)\n"))
    #expect(outcome.output.contains("scenarios/broken.yaml:5:36: error[E213]"))
    #expect(outcome.output.hasSuffix("2 errors, 0 warnings\n"))
  }

  @Test func `JSON is one array over all files`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.broken, "scenarios/b.yaml": Fixture.broken, "scenarios/c.yaml": Fixture.scenario("c"),
    ])
    let outcome = try workspace.run("validate", "--format", "json")
    #expect(outcome.status == 3)
    let items = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
    #expect(items?.count == 4)
    #expect(items?.first?["code"] as? String == "E213")
  }

  @Test func `GitHub gets annotations`() throws {
    let workspace = try Workspace(["scenarios/broken.yaml": Fixture.broken])
    let outcome = try workspace.run("validate", "--format", "github")
    #expect(outcome.output.contains("::error file=scenarios/broken.yaml,line=8,col=32,"))
  }

  @Test func `who asks for it is told that warnings are errors`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", more: "define: { x: alice.audible }")])
    #expect(try workspace.run("validate").output.hasSuffix("0 errors, 1 warning\n"))
    let strict = try workspace.run("validate", "--strict")
    #expect(strict.status == 3)
    #expect(strict.output.hasSuffix("0 errors, 1 warning; --strict makes warnings errors\n"), "\(strict.output)")
  }

  @Test func `two files with one id are refused`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a"), "scenarios/b.yaml": Fixture.scenario("a"),
    ])
    let outcome = try workspace.run("validate")
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("the id 'a' is used by scenarios/a.yaml and scenarios/b.yaml"))
  }

  @Test func `a broken file keeps every run from starting`() throws {
    let workspace = try Workspace(["scenarios/broken.yaml": Fixture.broken, "scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("run")
    #expect(outcome.status == 3)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("error[E210]"))
    #expect(
      outcome.errors.hasSuffix(
        "2 problems in scenario files; nothing was run. 'callsim validate' shows warnings too.\n"))
  }

  @Test func `bytes that are no text are an error of the file`() throws {
    let workspace = try Workspace()
    try Data([0xFF, 0xFE, 0x00, 0x80]).write(to: URL(filePath: workspace.path + "/x.yaml"))
    let outcome = try workspace.run("validate", "x.yaml")
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("error[E1"))
  }

  @Test func `a scenario is printed as it is understood, and means the same`() throws {
    let more = "matrix: { after: [1s, 2s] }\nwhy: \"after ${after}\""
    let text = Fixture.scenario("a", more: more).replacing("after: 1s", with: "after: \"${after}\"")
    let workspace = try Workspace(["a.yaml": text])
    let several = try workspace.run("validate", "--print", "a.yaml")
    #expect(several.status == 2 && several.errors.contains("a.yaml has 2 cells; choose one, such as --set after=1s"))
    let printed = try workspace.run("validate", "--print", "a.yaml", "--set", "after=2s")
    #expect(printed.status == 0 && printed.output.contains("why: after 2s\n") && !printed.output.contains("${"))
    try printed.output.write(toFile: workspace.path + "/b.yaml", atomically: true, encoding: .utf8)
    let again = try workspace.run("validate", "--print", "b.yaml")
    #expect(again.status == 0 && again.output == printed.output)
    #expect(try workspace.run("run", "b.yaml", "--artifacts", "none").status == 0)
  }
}
