internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The order of an app's audio with CallKit, which goes by what the device was made to do and when.
///
/// Manual audio is on before the audio session is set up, and both before an incoming call is reported. The audio unit is
/// enabled only after the system has activated the session, and not after the end action, in which manual audio is off
/// again. The session is not taken down or configured before the system has deactivated it.
final class CallKitOrder {
  private final class Side {
    let peer: String
    var isInUse = false
    /// Whether the system has activated the session.
    var isActivated = false
    var isManual = false
    var isEnabled = false
    /// Whether the session is set up for calls, and whether manual audio was on then.
    var isSetUp = false
    var wasManualAtSetUp = false
    var category = ""

    init(_ peer: String) { self.peer = peer }
  }

  private let watch: Watch
  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    watch = context.watch
    self.report = report
    for peer in context.scenario.peers.map(\.name) { follow(Side(peer)) }
  }

  private func follow(_ side: Side) {
    let state = watch.slot(side.peer, PeerEvents.callKitState)
    watch.listen(to: PeerEvents.callKit, of: side.peer) { [unowned self] record, word, _, _ in
      guard let word = CallKitWord(rawValue: word) else { return }
      side.isInUse = true
      switch word {
      case .report: judgeReport(side, record)
      case .activate: side.isActivated = true
      case .deactivate, .reset: side.isActivated = false
      case .end:
        watch.afterEvent { [unowned self] in
          if watch.value(state) == CallKitState.none.rawValue { judgeEnd(side, record) }
        }
      default: break
      }
    }
    watch.listen(to: PeerEvents.manualAudio, of: side.peer) { _, isManual in side.isManual = isManual }
    watch.listen(to: PeerEvents.audioEnabled, of: side.peer) { [unowned self] record, isEnabled in
      side.isEnabled = isEnabled
      guard isEnabled, side.isInUse, !side.isActivated else { return }
      // The app enables its audio in the event in which it is told.
      watch.afterEvent { [unowned self] in
        if !side.isActivated { tell(side, record, "enabled its audio unit", "which the system had not activated (I4)") }
      }
    }
    watch.listen(to: PeerEvents.audioSession, of: side.peer) { [unowned self] record, session, category, _ in
      judgeSession(side, record, session, category)
    }
  }

  private func judgeReport(_ side: Side, _ record: TraceRecord) {
    if !side.isManual {
      tell(side, record, "reported a call", "without manual audio (I6)")
    } else if !side.isSetUp {
      tell(side, record, "reported a call", "before its audio session was set up (I6)")
    } else if !side.wasManualAtSetUp {
      tell(side, record, "reported a call", "with an audio session set up before manual audio was on (I6)")
    }
  }

  private func judgeEnd(_ side: Side, _ record: TraceRecord) {
    if side.isEnabled { tell(side, record, "ended its call", "and left the audio unit enabled (I4, I14)") }
    if side.isManual { tell(side, record, "ended its call", "and left manual audio on (I14)") }
  }

  private func judgeSession(_ side: Side, _ record: TraceRecord, _ session: String, _ category: String) {
    let records = AudioSession.Category(rawValue: category)?.records ?? false
    if records, !side.isSetUp { side.wasManualAtSetUp = side.isManual }
    side.isSetUp = records
    if side.isActivated, session == "inactive" || category != side.category {
      let what = session == "inactive" ? "deactivated its audio session" : "configured its audio session"
      tell(side, record, what, "which the system had not deactivated yet (I5)")
    }
    side.category = category
  }

  private func tell(_ side: Side, _ record: TraceRecord, _ what: String, _ problem: String) {
    let actual = "\(side.peer) \(what) at \(Wording.time(record.time)), \(problem)"
    report(Violation(.callKitOrder, at: record.time, actual: actual))
  }
}
