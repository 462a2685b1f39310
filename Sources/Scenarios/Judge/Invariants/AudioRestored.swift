internal import CallCore
internal import ScenarioFormat

/// After a call the audio session is configured as before it: category and mode.
final class AudioRestored {
  /// The time that an app, and CallKit, get to take the audio down.
  static let grace = Interval.milliseconds(500)

  private struct Configuration: Equatable { var category, mode: String }

  private final class Side {
    var now = Configuration(category: "soloAmbient", mode: "default")
    /// What was configured when the user began or accepted the call, or it began to ring.
    var before: Configuration?
  }

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      let side = Side()
      let open = watch.slot(peer, PeerEvents.openConnections)
      watch.listen(to: PeerEvents.audioSession, of: peer) { _, _, category, mode in
        side.now = Configuration(category: category, mode: mode)
      }
      watch.listen(to: PeerEvents.callID, of: peer) { _, _ in side.before = side.before ?? side.now }
      watch.listen(to: PeerEvents.callEnded, of: peer) { [unowned watch] record, _ in
        guard let before = side.before else { return }
        side.before = nil
        watch.alarms.schedule(at: record.time + Self.grace) {
          // Another call may have begun.
          guard side.before == nil, watch.value(open) ?? 0 == 0, side.now != before else { return }
          let actual =
            "\(peer)'s audio session is \(side.now.category) and \(side.now.mode) \(Self.grace) after its call ended at "
            + "\(Wording.time(record.time)), and was \(before.category) and \(before.mode) (I12)"
          report(Violation(.audioRestored, at: record.time + Self.grace, actual: actual))
        }
      }
    }
  }
}
