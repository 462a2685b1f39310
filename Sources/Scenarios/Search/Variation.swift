public import ScenarioFormat

/// A change of a scenario by moves, named by a few numbers: the same numbers give the same scenario.
public struct Variation: Hashable, Sendable {
  /// The origin of the moves.
  public enum Origin: Hashable, Sendable {
    /// One row of the table of moves.
    case single(Int)
    /// Moves drawn from these choices, then from random ones.
    case drawn(choices: [UInt64], seed: UInt64)
  }

  /// The origin of the moves.
  public var origin: Origin
  /// The kinds of moves that may be drawn.
  public var kinds: [MoveKind]
  /// The largest number of moves.
  public var most: Int

  /// Creates a variation.
  public init(_ origin: Origin, kinds: [MoveKind] = MoveKind.allCases, most: Int = 6) {
    self.origin = origin
    self.kinds = kinds
    self.most = most
  }
}

/// A scenario after its variation.
package struct VariedScenario: Sendable {
  /// The scenario with the moves, judged by the invariants alone.
  package var scenario: Scenario
  /// The moves.
  package var moves: [TimelineEntry]
  /// The choices that were made; empty for a row of the table.
  package var choices: [UInt64]
}

extension Variation {
  /// Returns the varied scenario; nil if the table has no such row.
  ///
  /// - Parameter table: the table of moves with these kinds, if it is known.
  package func scenario(_ alphabet: MoveAlphabet, table: MoveTable? = nil) -> VariedScenario? {
    switch origin {
    case .single(let row):
      let rows = (table ?? MoveTable(alphabet, kinds: kinds)).rows
      guard rows.indices.contains(row) else { return nil }
      return VariedScenario(scenario: alphabet.scenario(with: rows[row]), moves: rows[row], choices: [])
    case .drawn(let choices, let seed):
      var drawer = MoveDrawer(alphabet, kinds: kinds, choices: Choices(choices, thenRandom: seed))
      let moves = drawer.moves(most: most)
      return VariedScenario(scenario: alphabet.scenario(with: moves), moves: moves, choices: drawer.made)
    }
  }
}
