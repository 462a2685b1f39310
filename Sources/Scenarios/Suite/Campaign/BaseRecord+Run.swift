internal import Profiles
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import ScenarioSearch

extension BaseRecord {
  /// The seed of the run without moves. No run of a search has it, so that ids, certificates and addresses differ.
  static let seed: UInt64 = 0x0BA5_E000_0000

  /// Plays a cell without moves.
  init(playing cell: Cell, path: String, profiles: ProfileCatalogue) throws {
    var outputs = RunOutputs()
    outputs.wantsCoverage = true
    outputs.wantsMessages = true
    self.init(try SingleRun(cell: cell, seed: Self.seed, path: path, profiles: profiles).execute(outputs: outputs))
  }

  /// Takes what a run without moves has shown.
  init(_ result: RunResult) {
    self.init()
    for profile in result.coverage?.profiles ?? [] {
      // The state in which a machine begins has no transition.
      states[profile.name] = Set(profile.transitions.flatMap { [$0.element.from, $0.element.to] })
      received[profile.name] = Set(profile.received.map(\.element))
    }
    messages = result.messages
    course = result.course
  }
}
