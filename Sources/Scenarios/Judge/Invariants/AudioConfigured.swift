internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The audio unit starts on an audio session that is active and lets it play and record: it takes the session as it is
/// then. A simulator hides the mistake, and is judged like a phone.
final class AudioConfigured {
  private final class Side {
    var state = "inactive"
    var category = AudioSession.Category.soloAmbient
    var isUnitStopped = true
  }

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      let side = Side()
      context.watch.listen(to: PeerEvents.audioSession, of: peer) { _, state, category, _ in
        (side.state, side.category) = (state, AudioSession.Category(rawValue: category) ?? .soloAmbient)
      }
      context.watch.listen(to: PeerEvents.audioUnit, of: peer) { record, unit in
        let wasStopped = side.isUnitStopped
        side.isUnitStopped = unit == AudioUnitState.stopped.rawValue
        guard wasStopped, !side.isUnitStopped else { return }
        guard side.state != "active" || !side.category.records || !side.category.plays else { return }
        let actual =
          "\(peer)'s audio unit started at \(Wording.time(record.time)) on a session that was \(side.state) and "
          + "\(side.category) (I3, I11)"
        report(Violation(.audioConfigured, at: record.time, actual: actual))
      }
    }
  }
}
