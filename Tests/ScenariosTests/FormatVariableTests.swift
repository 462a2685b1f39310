import Testing

@testable import ScenarioFormat

/// A value that cannot stand where its variable does is told where it is to be mended.
@Suite struct `Values of variables` {
  private static let text = """
    callsim: 1
    id: t
    vars: { wait: 3s, long: 60 }
    peers: { alice: { network: wifi }, bob: { network: wifi } }
    timeline:
      - { id: go, after: "${wait}", of: start, do: alice.call, to: bob }
      - { after: "${wait}", of: go, do: alice.mute }
      - { at: "${long}s", do: alice.hangup }
    expect:
      - { ends: alice, code: local-hangup }
    """

  private func load(_ old: String = "", _ new: String = "", set: [(name: String, value: String)] = []) -> [Diagnostic] {
    let text = old.isEmpty ? Self.text : Self.text.replacing(old, with: new)
    return ScenarioFile.load(text: text, path: "t.yaml", registry: FormatTest.registry, overrides: set).diagnostics
  }

  @Test func `one of vars is told in vars, once, with the remedy for it`() throws {
    let found = load("wait: 3s", "wait: 3")
    let problem = try #require(found.first)
    #expect(found.count == 1)
    #expect(problem.span == SourceSpan(line: 3, column: 15, length: 1))
    #expect(problem.message == "3 has no unit, where ${wait} stands at t.yaml:6:22")
    #expect(problem.hint == "write 3ms or 3s")
  }

  @Test func `one of the command line is told with the option`() throws {
    let problem = try #require(load(set: [("wait", "3")]).first)
    #expect(problem.message == "3 has no unit (by --set wait=3)")
    #expect(problem.hint == "in --set: write 3ms or 3s")
  }

  @Test func `one of several in a text is named with its value`() throws {
    let problem = try #require(load("long: 60", "long: 60s").first)
    #expect(problem.message == "there is no unit 'ss' (with long=60s)")
    #expect(problem.span.line == 8)
  }

  @Test func `what a value means beside others is told where it is used`() throws {
    let problem = try #require(load("vars: { wait: 3s", "run: 5s\nvars: { wait: 30s").first)
    #expect(problem.code == .neverFires)
    #expect(problem.span.line == 7)
  }
}
