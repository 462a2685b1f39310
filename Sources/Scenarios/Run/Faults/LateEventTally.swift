internal import CallCore
internal import ScenarioFormat
internal import VirtualPeer
internal import Vocabulary

/// What became of the events that one `device.events-late` delayed.
struct LateEventTally {
  let device: Device
  let fault: FaultID

  private var events: some Sequence<LateEvent> { device.lateEvents.lazy.filter { $0.fault == fault.number } }

  /// The events that have not reached the app yet.
  private var waiting: some Sequence<LateEvent> { events.filter { $0.outcome == .waiting } }

  /// Whether every event was thrown away at once, because its connection was closed.
  var isDiscarded: Bool { events.allSatisfy { $0.outcome == .discarded } }

  /// The time at which the last of the waiting events reaches the app; nil if none waits.
  var heldUntil: Instant? { waiting.map(\.due).max() }

  /// Says which event waits; nil if none does.
  var rest: String? {
    waiting.first { _ in true }.map {
      "\($0.name.rawValue) was to come at \(Wording.time($0.due)), after the end of the run"
    }
  }
}
