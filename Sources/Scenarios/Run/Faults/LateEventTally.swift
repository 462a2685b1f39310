internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// What became of the events that one `device.events-late` delayed: those of its names, with its delay, in its time.
final class LateEventTally {
  private let names: [ConnectionEventName]
  private let delay: Interval
  private let device: Device
  private let since: Instant
  /// The end of the fault; nil while it acts.
  var end: Instant?

  init(names: [ConnectionEventName], delay: Interval, device: Device, since: Instant) {
    (self.names, self.delay, self.device, self.since) = (names, delay, device, since)
  }

  private var events: some Sequence<LateEvent> {
    device.lateEvents.lazy.filter { [names, delay, since, end] event in
      names.contains(event.name) && event.delay == delay && event.due >= since && end.map { event.due <= $0 } ?? true
    }
  }

  /// Whether an event has not reached the app yet.
  var isWaiting: Bool { events.contains { $0.outcome == .waiting } }

  /// Whether every event was thrown away, because its connection was closed first.
  var isDiscarded: Bool { events.allSatisfy { $0.outcome == .discarded } }
}
