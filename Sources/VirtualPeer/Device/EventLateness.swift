package import CallCore
package import Vocabulary

/// An event that a fault made late.
package struct LateEvent {
  package enum Outcome {
    case waiting
    case came
    /// Its connection was closed first.
    case discarded
  }

  package let name: ConnectionEventName
  /// The time at which it would have reached the app.
  package let due: Instant
  package let delay: Interval
  package internal(set) var outcome = Outcome.waiting
}

/// The delays with which the events of peer connections reach an app: between a media stack and an app there are threads
/// and queues.
package struct EventLateness: Equatable {
  private var delays: [ConnectionEventName: Interval] = [:]

  package init() {}

  package subscript(event: ConnectionEventName) -> Interval {
    get { delays[event] ?? .zero }
    set { delays[event] = newValue == .zero ? nil : newValue }
  }
}
