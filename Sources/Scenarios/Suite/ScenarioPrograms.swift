public import ScenarioFormat

/// A program that a scenario file has started: the file is code then.
public struct ScenarioProgram: Sendable, Equatable {
  public let peer: String
  public let command: [String]
}

extension Cell {
  /// The programs that the file itself names; those of `--peer` stand in the overrides, where whoever runs it put them.
  public func programs(besides overrides: [ScenarioOverride]) -> [ScenarioProgram] {
    let given = overrides.compactMap(\.replacedPeer)
    return scenario.peers.filter { $0.stack == .external && !given.contains($0.name) }
      .map { ScenarioProgram(peer: $0.name, command: $0.command) }
  }
}
