import Foundation
import Testing

@Suite struct DiffTests {
  @Test func `a run equals itself, and its folder`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    _ = try workspace.run("run", "--artifacts", "all", "--out", "kept")
    for second in ["a#1", "kept/a#1", "kept/a#1/"] {
      let outcome = try workspace.run("diff", "a#1", second)
      #expect(outcome.status == 0, "\(second): \(outcome.errors)")
      #expect(outcome.output.hasPrefix("EQUAL ") && outcome.output.contains(" events, trace "), "\(outcome.output)")
    }
  }

  @Test func `a file that has changed differs from the folder of its run, from the changed entry on`() throws {
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a")])
    _ = try workspace.run("run", "--artifacts", "all", "--out", "kept")
    let changed = Fixture.scenario("a").replacingOccurrences(of: "after: 3s", with: "after: 4s")
    try changed.write(toFile: workspace.path + "/scenarios/a.yaml", atomically: true, encoding: .utf8)
    let outcome = try workspace.run("diff", "kept/a#1", "a#1")
    #expect(outcome.status == 1, "\(outcome.errors)")
    #expect(outcome.output.contains("\n  kept/a#1  ") && outcome.output.contains("timeline.fired  entry=bye"))
    #expect(outcome.errors.contains("note: scenarios/a.yaml is not what it was"))
  }

  @Test func `two seeds and two cells are told apart by name`() throws {
    let matrix = Fixture.scenario("a", more: "matrix: { wait: [1s, 2s] }")
      .replacingOccurrences(of: "after: 1s", with: "after: \"${wait}\"")
    let workspace = try Workspace(["m.yaml": matrix])
    let seeds = try workspace.run("diff", "a[wait=1s]#1", "a[wait=1s]#2", "m.yaml")
    #expect(seeds.status == 1 && seeds.output.contains("the seeds are 1 and 2"), "\(seeds)")
    #expect(seeds.output.contains("drawn from the stream host/alice/ports"), "\(seeds.output)")
    let cells = try workspace.run("diff", "a[wait=1s]#1", "a[wait=2s]#1", "m.yaml")
    #expect(cells.status == 1 && cells.output.contains("\n  a[wait=2s]#1  "), "\(cells)")
  }

  @Test func `a run that is not found, and one with a program, are refused`() throws {
    let program = Fixture.scenario("p").replacingOccurrences(
      of: "bob: { profile: knotos, network: wifi }",
      with: "bob: { profile: knotos, network: wifi, stack: external, command: [\"false\"] }")
    let workspace = try Workspace(["scenarios/a.yaml": Fixture.scenario("a"), "scenarios/p.yaml": program])
    let unknown = try workspace.run("diff", "a#1", "aa#1")
    #expect(unknown.status == 2 && unknown.errors.contains("no scenario is called 'aa'"), "\(unknown.errors)")
    let real = try workspace.run("diff", "a#1", "p#1")
    #expect(real.status == 2 && real.errors.contains("p#1 has programs outside the simulation"), "\(real.errors)")
    let file = try workspace.run("diff", "scenarios/a.yaml", "a#1")
    #expect(file.status == 2 && file.errors.contains("'scenarios/a.yaml' is a file, whose first run is 'a#1'"))
  }
}
