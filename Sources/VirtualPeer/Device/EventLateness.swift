package import CallCore
package import Vocabulary

/// An event that a fault made late.
package struct LateEvent {
  package enum Outcome {
    case waiting
    /// It reached the app, or the app did without it until its connection was closed.
    case missed
    /// Its connection was closed at once.
    case discarded
  }

  package let name: ConnectionEventName
  /// The fault that made it late.
  package let fault: Int
  /// The time at which it happened.
  package let began: Instant
  /// The time at which it reaches the app.
  package let due: Instant
  package internal(set) var outcome = Outcome.waiting
}

/// The delays with which the events of peer connections reach an app: between a media stack and an app there are threads
/// and queues.
package struct EventLateness: Equatable {
  private struct Delay: Equatable {
    let length: Interval
    let fault: Int
  }

  private var delays: [ConnectionEventName: Delay] = [:]

  package init() {}

  package subscript(event: ConnectionEventName) -> Interval { delays[event]?.length ?? .zero }

  func fault(of event: ConnectionEventName) -> Int? { delays[event]?.fault }

  /// Makes events of a name late. The delay of an older fault that is as long stays that fault's.
  package mutating func set(_ length: Interval, of event: ConnectionEventName, by fault: Int) {
    guard self[event] != length else { return }
    delays[event] = length == .zero ? nil : Delay(length: length, fault: fault)
  }
}
