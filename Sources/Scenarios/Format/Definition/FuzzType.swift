import CallCore

extension Scenario.FuzzSettings {
  static let type = MappingType(
    "fuzz", "what a search may do to the scenario", Scenario.FuzzSettings(),
    [
      .key(
        "moves", ValueFormat<MoveKind>.choice.located.list(atLeast: 1).distinct(\.value.rawValue), \.moves,
        default: "all", "the kinds of moves"),
      .key(
        "messages", ValueFormat<String>.messageType.located.list(atLeast: 1).distinct(\.value), \.messages,
        default: "all", "the message types that moves add or change"),
      .key(
        "senders", ValueFormat<Located<String>>.peer.list(atLeast: 1).distinct(\.value), \.senders,
        default: "all, and a stranger", "the peers in whose names messages are added"),
      .key(
        "most", .count(1...100), \.most, default: "that of --most",
        "the largest number of moves in a run"),
      .key(
        "runs", .count(1...100_000_000), \.runs, default: "no limit",
        "the largest number of drawn runs of a cell"),
    ])
}

extension ValueFormat where Value == String {
  /// Reads a signalling message type of any peer of the scenario.
  fileprivate static var messageType: ValueFormat<String> {
    ValueFormat<ScenarioFormat.Value>.message.map { value, _, _ in
      if case .text(let type) = value { type } else { nil }
    } back: {
      .text($0)
    }
  }
}
