extension Scenario {
  /// The section `fuzz` of a file: what a search may do to the scenario. A run of the file alone ignores it.
  public struct FuzzSettings: Sendable, Equatable {
    /// The kinds of moves; all if empty.
    public var moves: [Located<MoveKind>] = []
    /// The message types that moves add or change; all if empty.
    public var messages: [Located<String>] = []
    /// The peers in whose names messages are added; all, and a stranger, if empty.
    public var senders: [Located<String>] = []
    /// The largest number of moves in a run; nil for that of the command.
    public var most: Int?
    /// The largest number of drawn runs of each cell; nil for no limit.
    public var runs: Int?

    /// Creates settings that restrict nothing.
    public init() {}
  }
}
