internal import CallCore
package import PeerSession

/// The outputs of a connection: written into the trace when the connection has finished its work, and then delivered to
/// the delegate from the run loop, so that the connection is never re-entered.
package struct ConnectionEvents {
  private enum Told {
    case event(SessionEvent)
    case observation(SessionObservation)
  }

  private var trace: ConnectionTrace
  private let clock: PeerClock
  private var pending: [Told] = []

  init(_ trace: ConnectionTrace, clock: PeerClock) {
    self.trace = trace
    self.clock = clock
  }

  var isEmpty: Bool { pending.isEmpty }

  package mutating func append(_ event: SessionEvent) { pending.append(.event(event)) }

  package mutating func append(_ observation: SessionObservation) { pending.append(.observation(observation)) }

  /// Writes the state changes of closing the connection. Nothing is delivered afterwards.
  package mutating func close() { trace.close() }

  package mutating func deliver(from connection: any PeerConnection) {
    guard !pending.isEmpty else { return }
    var events: [SessionEvent] = []
    for told in pending {
      switch told {
      case .observation(let observation): trace.write(observation)
      case .event(let event):
        trace.write(event)
        events.append(event)
      }
    }
    pending.removeAll(keepingCapacity: true)
    guard !events.isEmpty, connection.delegate != nil else { return }
    clock.schedule(after: .zero) { [weak connection] in
      guard let connection else { return }
      for event in events { connection.delegate?.connection(connection, did: event) }
    }
  }
}
