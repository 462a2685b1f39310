import CallCore

/// The direction in which a packet crosses a border.
package enum BorderDirection: UInt8, Sendable, BitwiseCopyable {
  case outbound, inbound
}

/// The observed packets of one session, enough to choose its idle timer.
struct SessionActivity: BitwiseCopyable {
  let created: Instant
  private var outboundPackets: UInt8 = 0
  private var inboundPackets: UInt8 = 0
  private var finSeen: (outbound: Bool, inbound: Bool) = (false, false)
  private var wasReset = false

  init(created: Instant) { self.created = created }

  /// Records one packet and returns the timer that now applies.
  mutating func record(
    _ direction: BorderDirection, _ transport: TransportProtocol, flags: TCPFlags, at now: Instant,
    timers: SessionTimers
  ) -> IdleTimer {
    if transport == .tcp { record(direction, flags) }
    switch direction {
    case .outbound: outboundPackets = min(outboundPackets &+ 1, 2)
    case .inbound: inboundPackets = min(inboundPackets &+ 1, 2)
    }
    return transport == .tcp ? tcpTimer : udpTimer(at: now, timers: timers)
  }

  private func udpTimer(at now: Instant, timers: SessionTimers) -> IdleTimer {
    if outboundPackets > 0, inboundPackets > 0 {
      return now - created < timers.udpAnsweredAge ? .udpUnanswered : .udpAnswered
    }
    return outboundPackets &+ inboundPackets > 1 ? .udpUnanswered : .udpFirst
  }

  /// The timer by RFC 6146 section 3.5.2's state machine, reduced to the phases that differ in their timer.
  private var tcpTimer: IdleTimer {
    if wasReset { return .tcpReset }
    if finSeen.outbound && finSeen.inbound { return .tcpClosing }
    return outboundPackets > 0 && inboundPackets > 0 ? .tcpEstablished : .tcpOpening
  }

  private mutating func record(_ direction: BorderDirection, _ flags: TCPFlags) {
    if flags.contains(.rst) {
      wasReset = true
      return
    }
    let isOver = wasReset || (finSeen.outbound && finSeen.inbound)
    if flags.contains(.syn), !flags.contains(.ack), isOver {
      // The same ports are used for a new connection.
      outboundPackets = 0
      inboundPackets = 0
      finSeen = (false, false)
    }
    // Any segment other than an RST shows that an earlier RST was spurious (RFC 6146 section 3.5.2.2, TRANS).
    wasReset = false
    if flags.contains(.fin) {
      switch direction {
      case .outbound: finSeen.outbound = true
      case .inbound: finSeen.inbound = true
      }
    }
  }
}
