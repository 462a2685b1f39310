package import CallCore
package import Vocabulary

/// The events that wait because a fault made them late.
package struct LateEvents {
  package var held = 0
  package var released = 0

  /// Whether events wait, and none has come.
  package var holdsAll: Bool { held > 0 && released == 0 }

  /// Forgets events of a connection that was closed first.
  mutating func dropped(_ count: Int) { held -= count }
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
