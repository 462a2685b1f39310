internal import CallCore
package import CallSession

/// The way of a connection's events: into the trace at once, and to the delegate from the run loop, so that it is never
/// re-entered.
package struct ConnectionEvents {
  private var trace: ConnectionTrace
  private let clock: PeerClock
  private var pending: [SessionEvent] = []

  init(_ trace: ConnectionTrace, clock: PeerClock) {
    self.trace = trace
    self.clock = clock
  }

  package mutating func append(_ event: SessionEvent) { pending.append(event) }

  /// Writes what closing the connection changes. Nothing is delivered any more.
  package mutating func close() { trace.close() }

  package mutating func deliver(from connection: any PeerConnection) {
    guard !pending.isEmpty else { return }
    var forDelegate: [SessionEvent] = []
    for event in pending where trace.write(event) { forDelegate.append(event) }
    pending.removeAll(keepingCapacity: true)
    guard !forDelegate.isEmpty, connection.delegate != nil else { return }
    clock.schedule(after: .zero) { [weak connection] in
      guard let connection else { return }
      for event in forDelegate { connection.delegate?.connection(connection, did: event) }
    }
  }
}
