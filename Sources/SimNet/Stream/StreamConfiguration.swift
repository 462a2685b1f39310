package import CallCore

/// The parameters of a stream's transport.
package struct StreamConfiguration: Hashable, Sendable {
  /// Probes on a connection that has been silent (RFC 9293 section 3.8.4).
  package struct KeepAlive: Hashable, Sendable {
    /// How long the connection is silent before the first probe.
    package var idle: Interval
    package var interval: Interval
    /// How many unanswered probes end the connection.
    package var count: Int

    package init(idle: Interval = .seconds(7_200), interval: Interval = .seconds(75), count: Int = 9) {
      self.idle = idle
      self.interval = interval
      self.count = count
    }
  }

  /// Bytes of data in one segment, unless the peer asks for less.
  package var maximumSegmentSize: Int
  /// How many SYNs are sent before the attempt has timed out.
  package var connectAttempts: Int
  /// Consecutive retransmissions of one segment before the connection has timed out.
  package var maximumRetransmissions: Int
  /// The most time data may stay unacknowledged (RFC 5482), or nil for the limit on retransmissions alone.
  package var userTimeout: Interval?
  package var minimumRTO: Interval
  package var maximumRTO: Interval
  /// How long the acknowledgment of a lone segment may wait (RFC 9293 section 3.8.6.3).
  package var acknowledgmentDelay: Interval
  /// Bytes held for an application that does not read: the largest window offered.
  package var receiveCapacity: Int
  /// Bytes accepted from the application and not yet acknowledged.
  package var sendCapacity: Int
  /// How long a closed connection stays in TIME-WAIT to answer late segments.
  package var timeWait: Interval
  /// How long a connection closed on this side alone waits for a peer that is silent.
  package var halfCloseTimeout: Interval
  package var keepAlive: KeepAlive?

  package init(
    maximumSegmentSize: Int = 1_200, connectAttempts: Int = 6, maximumRetransmissions: Int = 15,
    userTimeout: Interval? = nil, minimumRTO: Interval = .milliseconds(200), maximumRTO: Interval = .seconds(60),
    acknowledgmentDelay: Interval = .milliseconds(40), receiveCapacity: Int = 65_535,
    sendCapacity: Int = 4_194_304, timeWait: Interval = .seconds(60),
    halfCloseTimeout: Interval = .minutes(5), keepAlive: KeepAlive? = nil
  ) {
    self.maximumSegmentSize = min(max(maximumSegmentSize, 1), 1_400)
    self.connectAttempts = connectAttempts
    self.maximumRetransmissions = maximumRetransmissions
    self.userTimeout = userTimeout
    self.minimumRTO = minimumRTO
    self.maximumRTO = maximumRTO
    self.acknowledgmentDelay = acknowledgmentDelay
    self.receiveCapacity = min(max(receiveCapacity, 1), 65_535)
    self.sendCapacity = sendCapacity
    self.timeWait = timeWait
    self.halfCloseTimeout = halfCloseTimeout
    self.keepAlive = keepAlive
  }
}

/// Why a stream is over.
public enum StreamCloseReason: UInt8, Sendable {
  /// Both sides have closed.
  case normal
  /// Nothing listens at the other end.
  case refused
  /// The peer sent RST: it aborted, or lost its state.
  case reset
  /// The peer did not answer.
  case timedOut
  /// This side aborted.
  case aborted

  /// The name in traces.
  public var name: String {
    switch self {
    case .normal: "normal"
    case .refused: "refused"
    case .reset: "reset"
    case .timedOut: "timed-out"
    case .aborted: "aborted"
    }
  }
}

/// A change of a stream that its host is told of.
public enum StreamEvent: Hashable, Sendable {
  /// The connection is established.
  case connected
  /// Bytes arrived, in order.
  case data([UInt8])
  /// The peer will send no more; this side may.
  case peerClosed
  /// Always the last event.
  case closed(StreamCloseReason)
}

/// A caller's mistake.
public enum StreamError: Error, Hashable, Sendable {
  /// The stream is closed, or closing, on this side.
  case closed
  /// More than ``StreamConfiguration/sendCapacity`` would wait to be acknowledged.
  case sendBufferFull
  /// The host listens on the port already.
  case portInUse
  /// No ephemeral port is free.
  case portsExhausted
  /// The host has no interface that is up and speaks the remote address's family.
  case unreachable
}
