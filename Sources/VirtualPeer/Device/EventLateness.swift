package import CallCore
package import Vocabulary

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
