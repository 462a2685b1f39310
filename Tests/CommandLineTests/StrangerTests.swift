import Foundation
import Testing

/// The command line of a profile that is not built in: another executable with the same commands.
@Suite struct StrangerTests {
  private static let greetings = """
    callsim: 1
    id: greetings
    seeds: { count: 2 }
    peers:
      alice: { profile: stranger, network: wifi }
    expect:
      - { eventually: alice.answers == 3, within: 6s }

    """

  private static func run(
    _ arguments: [String], in folder: String = NSTemporaryDirectory(), environment: [String: String] = [:]
  ) throws -> Program.Outcome {
    try Program.run(arguments, of: Program.built("stranger"), in: folder, environment: environment)
  }

  @Test func `its workers know its profile`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Self.greetings])
    let outcome = try Self.run(["run", "--jobs", "2", "--check-determinism"], in: workspace.path)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("PASS greetings#1"))
    #expect(outcome.output.contains("PASS greetings#2"))
  }

  @Test func `its coverage has its own machines, and those of no peer connection`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Self.greetings])
    let outcome = try Self.run(["coverage"], in: workspace.path)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("profile stranger: 1 of 1 transitions,"), "\(outcome)")
    #expect(outcome.output.contains("alone, message welcome") && !outcome.output.contains("ice.state"), "\(outcome)")
  }

  @Test func `a command that a message names is its own`() throws {
    let help = try Self.run(["--help"])
    #expect(help.output.contains("USAGE: stranger <subcommand>"))
    #expect(help.output.contains("Start with 'stranger run'"))
    let failing = Self.greetings.replacingOccurrences(of: "== 3, within: 6s", with: "== 4, within: 8s")
    let workspace = try Workspace(["scenarios/a.yaml": failing])
    let failed = try Self.run(["run"], in: workspace.path)
    #expect(failed.status == 1)
    #expect(failed.output.contains("replay     stranger replay 'greetings#1'"), "\(failed)")
    let replayed = try Self.run(["replay", "greetings#1"], in: workspace.path)
    #expect(replayed.status == 1)
    #expect(replayed.output.contains("answers"))
    let wrong = Self.greetings.replacingOccurrences(of: "wifi", with: "wfi")
    let broken = try Workspace(["scenarios/a.yaml": wrong])
    let validated = try Self.run(["validate"], in: broken.path)
    #expect(validated.status == 3)
    #expect(validated.output.contains("(stranger explain networks)"), "\(validated)")
  }

  @Test func `schema and explanations have its words alone`() throws {
    let schema = try Self.run(["schema"])
    #expect(schema.output.contains("\"stranger\""))
    #expect(!schema.output.contains("knotos"))
    let explained = try Self.run(["explain", "answers"])
    #expect(explained.output.contains("Answers so far."), "\(explained)")
    let callsim = try Program.run(["explain", "stranger"])
    #expect(callsim.status == 2)
  }

  @Test func `a profile that does not fit is told with its place before anything else is done`() throws {
    for arguments in [["--help"], ["run"], ["worker"]] {
      let outcome = try Self.run(arguments, environment: ["STRANGER_TWICE": "1"])
      #expect(outcome.status == 2)
      #expect(
        outcome.errors
          == "error: profile stranger, declaration: there are two profiles of that name; give one of them another name\n"
      )
      #expect(outcome.output == "")
    }
  }
}
