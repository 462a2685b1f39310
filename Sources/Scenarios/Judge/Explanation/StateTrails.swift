internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The states each peer's main machine went through, with their times.
struct StateTrails {
  private static let limit = 12
  private let context: MonitorContext

  init(_ context: MonitorContext) { self.context = context }

  /// `alice: idle 0.00 > calling 1.00 > connected 3.31`
  func lines(of peers: [String]) -> [String] {
    context.scenario.peers.map(\.name).filter(peers.contains).compactMap { peer in
      guard let machine = context.mainMachine(of: peer), let changes = context.story.changes(machine.name, of: peer)
      else { return nil }
      let shown = changes.elements.suffix(Self.limit).map { "\($0.value) \(Wording.number($0.time))" }
      let start = changes.total > Self.limit ? "… > " : ""
      return "\(peer): \(start)\(shown.joined(separator: " > "))"
    }
  }
}
