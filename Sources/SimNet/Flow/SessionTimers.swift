public import CallCore

/// The idle timers of a middlebox, by the state of a session.
public struct SessionTimers: Hashable, Sendable {
  /// The timer of UDP after the first packet.
  public var udpFirst: Interval
  /// The timer of UDP after more packets in one direction, without a reply.
  public var udpUnanswered: Interval
  /// The timer of UDP after packets in both directions.
  public var udpAnswered: Interval
  /// The age of a session from which ``udpAnswered`` applies; ``udpUnanswered`` applies before.
  public var udpAnsweredAge: Interval
  /// The timer of TCP in the partially open phase.
  public var tcpOpening: Interval
  /// The timer of TCP after a SYN from both sides, until they close.
  public var tcpEstablished: Interval
  /// The timer of TCP after a FIN from both sides.
  public var tcpClosing: Interval
  /// The timer of TCP after an RST.
  public var tcpReset: Interval

  /// Creates timers. The defaults are RFC 4787 REQ-5's recommended 5 minutes, RFC 5382 REQ-5's minima (2 h 4 min, 4
  /// min), and RFC 7857 section 2.2's 4 minutes after an RST.
  public init(
    udp: Interval = .seconds(300), tcpEstablished: Interval = .minutes(124), tcpTransitory: Interval = .minutes(4)
  ) {
    udpFirst = udp
    udpUnanswered = udp
    udpAnswered = udp
    udpAnsweredAge = .zero
    self.tcpEstablished = tcpEstablished
    tcpOpening = tcpTransitory
    tcpClosing = tcpTransitory
    tcpReset = tcpTransitory
  }

  subscript(timer: IdleTimer) -> Interval {
    switch timer {
    case .udpFirst: udpFirst
    case .udpUnanswered: udpUnanswered
    case .udpAnswered: udpAnswered
    case .tcpOpening: tcpOpening
    case .tcpEstablished: tcpEstablished
    case .tcpClosing: tcpClosing
    case .tcpReset: tcpReset
    }
  }
}

/// The one of the ``SessionTimers`` that applies to a session.
enum IdleTimer: UInt8, BitwiseCopyable, CaseIterable {
  case udpFirst, udpUnanswered, udpAnswered, tcpOpening, tcpEstablished, tcpClosing, tcpReset
}
