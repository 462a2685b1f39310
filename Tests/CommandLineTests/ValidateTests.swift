import Foundation
import Testing

@Suite struct ValidateTests {
  @Test func `a sound file is counted and exits with 0`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("validate")
    #expect(outcome.status == 0)
    #expect(outcome.output == "1 scenario in 1 cell, 0 errors, 0 warnings\n")
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
}
