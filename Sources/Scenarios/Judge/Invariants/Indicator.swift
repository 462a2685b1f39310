internal import CallCore
internal import ScenarioFormat

/// The system shows a dot while the device records, and only then: green for the camera, orange for the microphone alone.
final class Indicator {
  /// The time in which the dot follows: at the end of a run there are no events that hold both changes together.
  static let grace = Interval.milliseconds(1)

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      let (microphone, camera) = (watch.slot(peer, PeerEvents.microphone), watch.slot(peer, PeerEvents.camera))
      let dot = watch.slot(peer, PeerEvents.indicator)
      let judge: (TraceRecord) -> Void = { [unowned watch] record in
        watch.alarms.schedule(at: record.time + Self.grace) {
          let wanted = watch.value(camera) == true ? "green" : watch.value(microphone) == true ? "orange" : "none"
          guard let shown = watch.value(dot), shown != wanted else { return }
          let actual = "\(peer)'s indicator was \(shown) at \(Wording.time(record.time)), and should be \(wanted)"
          report(Violation(.indicator, at: record.time, actual: actual))
        }
      }
      watch.listen(microphone, judge)
      watch.listen(camera, judge)
      watch.listen(dot, judge)
    }
  }
}
