internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// An app that lost the audio in a call has it again when it is next in the foreground, whether or not it was told that the
/// interruption ended.
final class AudioRecovered {
  /// The time that an app gets to activate its audio session.
  static let grace = Interval.seconds(1)

  private final class Side {
    var isActive = false
    var isAppActive = true
    var isInterrupted = false
    /// When the audio was taken from an active session in a connected call; nil once the session is active again.
    var lostAt: Instant?
  }

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      let side = Side()
      let isConnected = { if case .connected? = CallStage(of: peer, context) { true } else { false } }
      let judge: (TraceRecord) -> Void = { [unowned watch] record in
        guard let lostAt = side.lostAt, side.isAppActive, !side.isInterrupted, record.time > lostAt else { return }
        watch.alarms.schedule(at: record.time + Self.grace) {
          guard side.lostAt == lostAt, side.isAppActive, !side.isInterrupted, isConnected() else { return }
          side.lostAt = nil
          let actual =
            "\(peer)'s audio session was inactive \(Self.grace) after its app came to the foreground at "
            + "\(Wording.time(record.time)); something had taken the audio at \(Wording.time(lostAt)) (I9)"
          report(Violation(.audioRecovered, at: record.time + Self.grace, actual: actual))
        }
      }
      watch.listen(to: PeerEvents.audioSession, of: peer) { _, state, _, _ in
        side.isActive = state == "active"
        if side.isActive { side.lostAt = nil }
      }
      watch.listen(to: PeerEvents.audioInterrupted, of: peer) { record, isInterrupted in
        side.isInterrupted = isInterrupted
        if isInterrupted, side.isActive, isConnected() { side.lostAt = record.time }
      }
      watch.listen(to: PeerEvents.appState, of: peer) { record, state in
        side.isAppActive = state == AppState.active.rawValue
        if side.isAppActive { judge(record) }
      }
      watch.listen(to: PeerEvents.callEnded, of: peer) { _, _ in side.lostAt = nil }
    }
  }
}
