import CallCore
import Testing

@testable import ScenarioFormat

@Suite struct ProgramOverrideTests {
  private static let text = """
    callsim: 1
    id: t
    media: real
    peers:
      alice: { network: wifi, audio: { dtx: true } }
      bob: { network: wifi }
    timeline:
      - { id: go, at: 0s, do: alice.call, to: bob }
    expect:
      - { eventually: alice.q.mos > 4, within: 1s }
      - { eventually: bob.q.mos > 4, within: 1s }
      - { eventually: alice.ice.state == connected, within: 1s }
    """

  private static func load(_ overrides: [ScenarioOverride] = []) throws -> Scenario {
    let loaded = ScenarioFile.load(
      text: text, registry: FormatTest.registry, overrides: overrides.map { (name: $0.name, value: $0.value) })
    return try #require(loaded.scenario).cells[0].scenario
  }

  @Test func `a command is split at spaces, and quotes keep them`() {
    #expect(ProgramOverride.words("interop/peer  chromium") == ["interop/peer", "chromium"])
    #expect(ProgramOverride.words(#"a "b c" 'd "e"' f"g h""#) == ["a", "b c", "d \"e\"", "fg h"])
    #expect(ProgramOverride.words(#"a """#) == ["a", ""])
    #expect(ProgramOverride.words("  ") == [])
    #expect(ProgramOverride.words(#"a "b"#) == nil)
  }

  @Test func `only a program can take the place of a peer`() {
    #expect(ProgramOverride.override(peer: "alice", value: "external:prog --x")?.replacedPeer == "alice")
    #expect(ProgramOverride.override(peer: "alice", value: "external: ") == nil)
    #expect(ProgramOverride.override(peer: "alice", value: "puppet") == nil)
    #expect(ScenarioOverride(name: "loss", value: "1%").replacedPeer == nil)
  }

  @Test func `an override is told as it was given`() throws {
    let program = try #require(ProgramOverride.override(peer: "alice", value: "external:a b"))
    #expect("\(program.option) \(program.argument)" == "--peer alice=external:a b")
    let variable = ScenarioOverride(name: "loss", value: "1%")
    #expect("\(variable.option) \(variable.argument)" == "--set loss=1%")
  }

  @Test func `the same file runs with its own peer and with a program in its place`() throws {
    let program = try #require(ProgramOverride.override(peer: "alice", value: "external:a b"))
    let (before, after) = (try Self.load(), try Self.load([program]))
    #expect(!before.isRealTime && before.notJudged.isEmpty && before.expectations.count == 3)
    let alice = try #require(after.peer("alice"))
    #expect(alice.stack == .external && alice.command == ["a", "b"] && alice.hasCallStack)
    #expect(after.isRealTime && after.media == .real)
    #expect(after.wallLimit == after.limits.wall + after.limits.virtual)
  }

  @Test func `what the program cannot be asked is left out and said`() throws {
    let program = try #require(ProgramOverride.override(peer: "alice", value: "external:a"))
    let scenario = try Self.load([program])
    #expect(scenario.expectations.count == 2)
    #expect(scenario.notJudged.count == 1)
    #expect(scenario.notJudged.first?.contains("alice.q.mos") == true)
  }
}
