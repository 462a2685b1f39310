internal import CallCore
internal import VirtualPeer

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

  /// Returns an event that waits; nil if none does.
  ///
  /// - Parameter limit: an event that happened from then on does not count; nil to count all.
  func held(before limit: Instant?) -> LateEvent? {
    waiting.first { event in limit.map { event.began < $0 } ?? true }
  }
}
