package import CallCore

/// The parameters of a stream's transport.
package struct StreamConfiguration: Hashable, Sendable {
  /// Probes on an idle connection (RFC 9293 section 3.8.4).
  package struct KeepAlive: Hashable, Sendable {
    /// The idle time before the first probe.
    package var idle: Interval
    package var interval: Interval
    /// The number of unanswered probes that end the connection.
    package var count: Int

    package init(idle: Interval = .seconds(7_200), interval: Interval = .seconds(75), count: Int = 9) {
      self.idle = idle
      self.interval = interval
      self.count = count
    }
  }

  /// The number of data bytes in one segment, unless the peer requires fewer.
  package var maximumSegmentSize: Int
  /// The number of SYNs before the attempt times out.
  package var connectAttempts: Int
  /// The number of consecutive retransmissions of one segment before the connection times out.
  package var maximumRetransmissions: Int
  /// The longest time for which data may stay unacknowledged (RFC 5482), or nil for the limit on retransmissions alone.
  package var userTimeout: Interval?
  package var minimumRTO: Interval
  package var maximumRTO: Interval
  /// The delay of the acknowledgment of a lone segment (RFC 9293 section 3.8.6.3).
  package var acknowledgmentDelay: Interval
  /// The number of bytes held for an application that does not read: the largest window offered.
  package var receiveCapacity: Int
  /// The number of bytes accepted from the application and not yet acknowledged.
  package var sendCapacity: Int
  /// The time for which a closed connection stays in TIME-WAIT to answer late segments.
  package var timeWait: Interval
  /// The time for which a connection closed only on this side waits for a silent peer.
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

/// The reason for the end of a stream.
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

/// A change of a stream that is reported to its host.
public enum StreamEvent: Hashable, Sendable {
  /// The connection is established.
  case connected
  /// Bytes arrived, in order.
  case data([UInt8])
  /// The peer sends no more data; this side may.
  case peerClosed
  /// The stream is over. Always the last event.
  case closed(StreamCloseReason)
}

/// A caller's mistake in using a stream.
public enum StreamError: Error, Hashable, Sendable {
  /// The stream is closed, or closing, on this side.
  case closed
  /// More than ``StreamConfiguration/sendCapacity`` bytes would be unacknowledged.
  case sendBufferFull
  /// The host already listens on the port.
  case portInUse
  /// No ephemeral port is free.
  case portsExhausted
  /// The host has no interface that is up and has an address of the remote address's family.
  case unreachable
}
