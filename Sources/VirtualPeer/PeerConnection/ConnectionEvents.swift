internal import CallCore
package import PeerSession
internal import SCTP
internal import Vocabulary

/// The outputs of a connection: written into the trace when the connection has finished its work, and then delivered to
/// the delegate from the run loop, so that the connection is never re-entered.
package struct ConnectionEvents {
  private enum Told {
    case event(SessionEvent)
    case observation(SessionObservation)
  }

  private var trace: ConnectionTrace
  private let clock: PeerClock
  private let device: Device
  private var pending: [Told] = []
  private let held = HeldEvents()
  /// Follows each event when it is written, whenever it is delivered.
  private let follow: (SessionEvent, any PeerConnection) -> Void

  /// The deliveries that a fault has made late.
  private final class HeldEvents {
    var timers: [(places: Range<Int>, timer: PeerTimer)] = []
  }

  init(
    _ trace: ConnectionTrace, clock: PeerClock, device: Device,
    follow: @escaping (SessionEvent, any PeerConnection) -> Void
  ) {
    self.follow = follow
    self.trace = trace
    self.clock = clock
    self.device = device
  }

  var isEmpty: Bool { pending.isEmpty }

  package mutating func append(_ event: SessionEvent) { pending.append(.event(event)) }

  package mutating func append(_ observation: SessionObservation) { pending.append(.observation(observation)) }

  /// Writes the state changes of closing the connection. Nothing is delivered afterwards.
  package mutating func close() {
    trace.close()
    for (places, timer) in held.timers {
      timer.cancel()
      device.settle(places, at: clock.now)
    }
    held.timers = []
  }

  package mutating func deliver(from connection: any PeerConnection) {
    guard !pending.isEmpty else { return }
    var events: [SessionEvent] = []
    for told in pending {
      switch told {
      case .observation(let observation): trace.write(observation)
      case .event(let event):
        trace.write(event)
        follow(event, connection)
        events.append(event)
      }
    }
    pending.removeAll(keepingCapacity: true)
    guard !events.isEmpty, connection.delegate != nil else { return }
    var rest = events[...]
    while let first = rest.first {
      let lateness = device.takeLateness(of: first.name)
      let end = rest.dropFirst().firstIndex { device.eventLateness[$0.name] != lateness } ?? rest.endIndex
      for event in rest[..<end].dropFirst() { _ = device.takeLateness(of: event.name) }
      deliver(rest[..<end], from: connection, after: lateness)
      rest = rest[end...]
    }
  }

  private func deliver(_ events: ArraySlice<SessionEvent>, from connection: any PeerConnection, after delay: Interval) {
    guard delay > .zero else {
      clock.schedule(after: .zero) { [weak connection] in
        if let connection { Self.deliver(events, to: connection) }
      }
      return
    }
    let places = device.hold(events.map(\.name), from: clock.now, until: clock.now + delay)
    let timer = clock.schedule(after: delay) { [weak connection, clock, device, held] in
      device.settle(places, at: clock.now)
      // A later event may have a shorter delay.
      held.timers.removeAll { $0.places == places }
      if let connection { Self.deliver(events, to: connection) }
    }
    held.timers.append((places, timer))
  }

  private static func deliver(_ events: ArraySlice<SessionEvent>, to connection: any PeerConnection) {
    for event in events { connection.delegate?.connection(connection, did: event) }
  }
}

extension SessionEvent {
  /// The name of W3C's event handler.
  fileprivate var name: ConnectionEventName {
    switch self {
    case .signalingStateChange: .signalingStateChange
    case .iceGatheringStateChange: .iceGatheringStateChange
    case .iceCandidate: .iceCandidate
    case .iceCandidatesRemoved: .iceCandidatesRemoved
    case .iceServerError: .iceCandidateError
    case .iceConnectionStateChange: .iceConnectionStateChange
    case .selectedCandidatePairChange: .selectedCandidatePairChange
    case .dtlsStateChange: .stateChange
    case .dtlsFailed: .error
    case .connectionStateChange: .connectionStateChange
    case .negotiationNeeded: .negotiationNeeded
    case .track: .track
    case .removeTrack: .removeTrack
    case .mute: .mute
    case .unmute: .unmute
    case .ended: .ended
    case .sctpStateChange: .stateChange
    case .dataChannel: .dataChannel
    // A channel is made in the state `connecting`.
    case .dataChannelStateChange(_, .open), .dataChannelStateChange(_, .connecting): .open
    case .dataChannelStateChange(_, .closing): .closing
    case .dataChannelStateChange(_, .closed): .close
    case .dataChannelMessage: .message
    case .dataChannelBufferedAmountLow: .bufferedAmountLow
    case .dataChannelError: .error
    case .toneChange: .toneChange
    // Only a server has it, which delays no event.
    case .forwardingChange: .stateChange
    }
  }
}
