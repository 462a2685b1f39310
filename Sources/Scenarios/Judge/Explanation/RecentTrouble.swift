internal import CallCore
internal import ScenarioFormat

/// The last notable events of a peer: errors, refusals, failures.
struct RecentTrouble {
  private static let perPeer = 4
  private let context: MonitorContext

  init(_ context: MonitorContext) { self.context = context }

  /// `bob: 192.0.2.7:3478 answered 403: Forbidden at 19.62 s`
  func lines(of peers: [String], at time: Instant) -> [String] {
    let notes = context.story.notes.elements.filter(\.isTrouble)
    return peers.flatMap { peer in
      notes.filter { RunStory.isSubject($0.subject, of: peer) }.suffix(Self.perPeer).map {
        "\(peer): \($0.text) at \(Wording.time($0.time))"
      }
    }
  }
}
