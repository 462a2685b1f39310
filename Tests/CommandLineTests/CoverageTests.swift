import Foundation
import Testing

@Suite struct CoverageTests {
  @Test func `a suite's coverage is printed for each profile, and failed runs are counted`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a"), "scenarios/b.yaml": Fixture.scenario("b", code: "declined"),
    ])
    let outcome = try workspace.run("coverage", "--jobs", "2")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.hasPrefix("2 runs, 1 did not pass: b#1 (fail)\n"), "\(outcome.output)")
    #expect(outcome.output.contains("profile knotos: 7 of 10 transitions, 2 of 14 end codes"), "\(outcome.output)")
    #expect(outcome.output.contains("first in a#1"))
    #expect(outcome.output.contains("  transitions never taken: 3\n"), "\(outcome.output)")
    #expect(!workspace.has("callsim-runs"))
  }

  @Test func `the selection is that of run, and what is not selected is not covered`() throws {
    let workspace = try Workspace([
      "scenarios/a.yaml": Fixture.scenario("a"), "scenarios/b.yaml": Fixture.scenario("b", more: "tags: [x]"),
    ])
    let outcome = try workspace.run("coverage", "scenarios", "-t", "x", "--seeds", "2")
    #expect(outcome.output.hasPrefix("2 runs, all passed\n") && !outcome.output.contains("a#1"), "\(outcome.output)")
    let nothing = try workspace.run("coverage", "-k", "nowhere")
    #expect(nothing.status == 7 && nothing.errors.contains("no cell's id and no scenario's title contains 'nowhere'"))
  }

  @Test func `JSON goes to standard output alone, and the same runs give the same bytes`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcomes = try (1...2).map { try workspace.run("coverage", "--format", "json", "--seeds", "3", "-j", "\($0)") }
    #expect(outcomes[0].output == outcomes[1].output && outcomes[0].status == 0)
    let json = try JSONSerialization.jsonObject(with: Data(outcomes[0].output.utf8)) as? [String: Any]
    let profile = try #require((json?["profiles"] as? [[String: Any]])?.first)
    #expect(profile["name"] as? String == "knotos" && json?["runs"] as? Int == 3)
    #expect((profile["machines"] as? [[String: Any]])?.compactMap { $0["name"] as? String }.first == "call.state")
  }

  @Test func `the page is written beside the text`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    let outcome = try workspace.run("coverage", "--page", "c.html")
    #expect(outcome.status == 0 && outcome.output.contains("profile knotos"))
    let page = try workspace.text("c.html")
    #expect(page.hasPrefix("<!doctype html>") && page.contains("<h1>knotos</h1>") && page.hasSuffix("</html>\n"))
  }

  @Test func `puppets are told once`() throws {
    let puppet = """
      callsim: 1
      id: p
      peers:
        victim: { profile: knotos, network: wifi }
        mallory: { stack: puppet }
      timeline:
        - { at: 2s, send: call_offer, from: mallory, to: victim, fields: { callId: m1, offer: "v=0" } }
        - { at: 3s, do: victim.decline }
      expect:
        - { eventually: victim.call.state == ringing, within: 3s, of: start }

      """
    let workspace = try Workspace(["scenarios/p.yaml": puppet])
    let outcome = try workspace.run("coverage", "--seeds", "2")
    let line = "1 peer without coverage: puppets and programs have none\n"
    #expect(outcome.output.components(separatedBy: line).count == 2, "\(outcome.output)")
  }

  @Test func `a page that cannot be written, and a file with errors, are told before any run`() throws {
    let workspace = try Workspace(["a.yaml": Fixture.scenario("a"), "b.yaml": Fixture.broken])
    let page = try workspace.run("coverage", "a.yaml", "--page", "nowhere/c.html")
    #expect(page.status == 2 && page.errors.contains("the page 'nowhere/c.html' cannot be written: No such file"))
    let same = try workspace.run("coverage", "a.yaml", "--page", "a.yaml")
    #expect(same.status == 2 && same.errors.contains("a scenario and --page name the same file"))
    let broken = try workspace.run("coverage", "b.yaml")
    #expect(broken.status == 3 && broken.output.isEmpty && broken.errors.contains("unknown network 'wifii'"))
  }
}
