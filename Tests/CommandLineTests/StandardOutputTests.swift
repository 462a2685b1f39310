import Foundation
import Testing

/// A program that reads standard output gets the report it asked for and nothing else.
@Suite struct `Standard output` {
  private static let gitHub = ["GITHUB_ACTIONS": "true"]

  private func failing(_ arguments: String...) throws -> Program.Outcome {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a", code: "declined")])
    return try Program.run(["run", "--artifacts", "none"] + arguments, in: workspace.path, environment: Self.gitHub)
  }

  @Test func `JSON Lines are all there is, and GitHub gets its annotations on standard error`() throws {
    let outcome = try failing("--json")
    #expect(outcome.status == 1)
    for line in outcome.output.split(separator: "\n") {
      #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }
    #expect(outcome.errors.contains("\n::error file=scenarios/a.yaml,line=12,"), "\(outcome.errors)")
  }

  @Test func `a JUnit report ends with its last tag`() throws {
    for file in ["-", "/dev/stdout"] {
      let outcome = try failing("--report", "junit=\(file)")
      #expect(outcome.output.hasPrefix("<?xml"))
      #expect(outcome.output.hasSuffix("</testsuites>\n"), "\(outcome.output)")
    }
  }

  @Test func `a TAP report has no annotations`() throws {
    let outcome = try failing("--report", "tap=-")
    #expect(!outcome.output.contains("::error"))
    #expect(outcome.errors.contains("::error"))
  }

  @Test func `annotations stay on standard output while nobody else has it`() throws {
    let outcome = try failing("--report", "tap=t.tap")
    #expect(outcome.output.contains("::error file=scenarios/a.yaml,line=12,"))
  }

  @Test func `annotations that are asked for cannot share it either`() throws {
    let outcome = try failing("--json", "--report", "github=-")
    #expect(outcome.status == 2)
    let message = "error: github and json cannot share standard output; give one of them a file: --report github=FILE\n"
    #expect(outcome.errors == message)
  }

  @Test func `a step summary that has no place is told`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run(
      "run", environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "scenarios"])
    #expect(outcome.status == 0)
    let message = "note: there is no step summary: 'scenarios' cannot be written: Is a directory\n"
    #expect(outcome.errors == message)
  }
}

/// Where runs leave their files.
@Suite struct `The folder of runs` {
  @Test(arguments: ["/proc/nothing", "scenarios/a.yaml", "scenarios/a.yaml/runs"])
  func `one that cannot be written is refused before anything runs`(folder: String) throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    for mode in ["fail", "all"] {
      let outcome = try workspace.run("run", "--out", folder, "--artifacts", mode)
      #expect(outcome.status == 2)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.hasPrefix("error: runs cannot leave their files in '\(folder)': "), "\(outcome.errors)")
      #expect(outcome.errors.hasSuffix("; name another folder with --out, or give --artifacts none\n"))
    }
    let outcome = try workspace.run("run", "--out", folder, "--artifacts", "none")
    #expect(outcome.status == 0)
  }

  @Test func `asking whether it can be written leaves nothing behind`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    #expect(try workspace.run("run", "--out", "deep/down/runs").status == 0)
    #expect(!workspace.has("deep"))
  }
}
