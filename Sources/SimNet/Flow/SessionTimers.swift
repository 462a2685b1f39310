public import CallCore

/// The idle timers of a middlebox, by what the session has done so far.
public struct SessionTimers: Hashable, Sendable {
  /// UDP after the first packet.
  public var udpFirst: Interval
  /// UDP after more packets one way, while nothing came back.
  public var udpUnanswered: Interval
  /// UDP once both sides have spoken.
  public var udpAnswered: Interval
  /// How old a session must be before ``udpAnswered`` applies; until then ``udpUnanswered`` does.
  public var udpAnsweredAge: Interval
  /// TCP in the partially open phase.
  public var tcpOpening: Interval
  /// TCP once both sides have sent SYN, until they close.
  public var tcpEstablished: Interval
  /// TCP once both sides have sent FIN.
  public var tcpClosing: Interval
  /// TCP after an RST.
  public var tcpReset: Interval

  /// RFC 4787 REQ-5's recommended 5 minutes, RFC 5382 REQ-5's minima (2 h 4 min, 4 min), and RFC 7857 section 2.2's
  /// 4 minutes after an RST.
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

/// Which of the ``SessionTimers`` a session runs on.
enum IdleTimer: UInt8, BitwiseCopyable, CaseIterable {
  case udpFirst, udpUnanswered, udpAnswered, tcpOpening, tcpEstablished, tcpClosing, tcpReset
}
