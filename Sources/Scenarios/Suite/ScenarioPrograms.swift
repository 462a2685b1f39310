public import ScenarioFormat

/// A program that a scenario file starts: such a file executes code.
public struct ScenarioProgram: Sendable, Equatable {
  /// The peer that the program stands for.
  public let peer: String
  /// The program and its arguments.
  public let command: [String]
}

extension Cell {
  /// Returns the programs that the file itself names, without those that `--peer` puts in their place.
  public func programs(besides overrides: [ScenarioOverride]) -> [ScenarioProgram] {
    let given = overrides.compactMap(\.replacedPeer)
    return scenario.peers.filter { $0.stack == .external && !given.contains($0.name) }
      .map { ScenarioProgram(peer: $0.name, command: $0.command) }
  }
}
