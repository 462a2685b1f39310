package import CallCore

/// One end of a reliable byte stream: TCP (RFC 9293) as a sans-IO machine.
///
/// Segments are real TCP segments with zero checksums. Acknowledgment, retransmission (RFC 6298), NewReno congestion
/// control (RFC 5681, 6582), flow control with zero-window probes, orderly and abortive close and keep-alive are as on
/// the wire; window scaling, timestamps and SACK are omitted, because no behavior of a call depends on them. A peer
/// that vanishes is noticed only by a writer, when its data times out.
package struct StreamConnection: SansIO {
  package typealias Event = StreamEvent

  /// The state (RFC 9293 section 3.3.2); ``StreamTable`` implements LISTEN.
  package enum State: UInt8, Sendable {
    case synSent, synReceived, established, finWait1, finWait2, closeWait, closing, lastAck, timeWait, closed
  }

  /// The reasons of ``wake``.
  enum WakeReason {
    static let retransmission: UInt8 = 1
    static let acknowledgment: UInt8 = 2
    static let windowProbe: UInt8 = 3
    static let keepAlive: UInt8 = 4
    static let linger: UInt8 = 5
  }

  package let path: Path
  package let configuration: StreamConfiguration
  package internal(set) var state: State
  /// Segments that were unreadable or invalid.
  package internal(set) var malformedCount = 0
  /// Segments sent again after a timeout or duplicate acknowledgments.
  package internal(set) var retransmissionCount = 0

  var now: Instant
  var events = FIFO<StreamEvent>()

  // Sending: una is the oldest unacknowledged number, nxt the next to send, top the highest ever sent.
  let initialSequence: SequenceNumber
  var una: SequenceNumber
  var nxt: SequenceNumber
  var top: SequenceNumber
  var sendQueue: SendQueue
  var closeRequested = false
  var segmentSize: Int
  var peerWindow = 0
  var windowUpdate: (sequence: SequenceNumber, acknowledgment: SequenceNumber)
  var congestion: CongestionWindow
  var timeout: RetransmissionTimeout
  /// The one segment whose round trip is being measured.
  var timed: (end: SequenceNumber, sent: Instant)?
  /// The number of consecutive expiries without progress.
  var retries = 0
  /// The time since which outstanding data has made no progress.
  var stalledSince: Instant?

  // Receiving.
  var receiveQueue: ReceiveQueue
  var isReading = true
  var unacknowledgedSegments = 0
  var lastChallenge: Instant?

  // Segments that transmit must send.
  var synPending = false
  var retransmitPending = false
  var probePending = false
  var keepAlivePending = false
  var acknowledgmentPending = false
  var resetPending: (sequence: SequenceNumber, withAcknowledgment: Bool)?

  // Timers.
  var retransmitAt: Instant?
  var acknowledgeAt: Instant?
  var probeAt: Instant?
  var lingerUntil: Instant?
  var lastHeard: Instant
  var keepAliveProbes = 0

  /// Opens a connection: the first transmit returns the SYN.
  ///
  /// - Parameter initialSequence: chosen at random by the caller (RFC 9293 section 3.4.1).
  package init(
    connecting path: Path, initialSequence: UInt32, configuration: StreamConfiguration = StreamConfiguration(),
    at now: Instant
  ) {
    self.init(path, .synSent, SequenceNumber(initialSequence), SequenceNumber(0), configuration, now)
    synPending = true
  }

  /// Answers a SYN; returns nil if the segment is not one.
  package init?(
    accepting segment: RawSpan, path: Path, initialSequence: UInt32,
    configuration: StreamConfiguration = StreamConfiguration(), at now: Instant
  ) {
    guard let header = TCPHeader(parsing: segment), header.flags.intersection([.syn, .ack, .rst]) == .syn else {
      return nil
    }
    self.init(
      path, .synReceived, SequenceNumber(initialSequence), header.sequence + 1, configuration, now)
    learn(header)
    peerWindow = Int(header.window)
    synPending = true
  }

  private init(
    _ path: Path, _ state: State, _ initial: SequenceNumber, _ next: SequenceNumber,
    _ configuration: StreamConfiguration, _ now: Instant
  ) {
    self.path = path
    self.state = state
    self.configuration = configuration
    self.now = now
    lastHeard = now
    initialSequence = initial
    una = initial
    nxt = initial
    top = initial
    sendQueue = SendQueue(base: initial + 1)
    segmentSize = configuration.maximumSegmentSize
    windowUpdate = (next, initial)
    congestion = CongestionWindow(segment: configuration.maximumSegmentSize)
    timeout = RetransmissionTimeout(minimum: configuration.minimumRTO, maximum: configuration.maximumRTO)
    receiveQueue = ReceiveQueue(next: next, capacity: configuration.receiveCapacity)
  }

  /// Adopts the peer's maximum segment size (RFC 9293 section 3.7.1; 536 if it names none).
  mutating func learn(_ header: TCPHeader) {
    segmentSize = max(min(configuration.maximumSegmentSize, Int(header.maximumSegmentSize ?? 536)), 1)
    congestion.setSegment(segmentSize)
  }

  // MARK: The application's side

  /// Whether the connection will produce nothing more, so that it may be removed.
  package var isFinished: Bool { state == .closed && resetPending == nil && events.isEmpty }

  /// The number of bytes written and not yet acknowledged.
  package var queuedByteCount: Int { sendQueue.count }

  /// Queues bytes; they are sent when the connection and the windows permit.
  package mutating func send(_ bytes: [UInt8], at instant: Instant) throws(StreamError) {
    now = max(now, instant)
    guard state != .closed, !closeRequested else { throw .closed }
    guard sendQueue.count + bytes.count <= configuration.sendCapacity else { throw .sendBufferFull }
    sendQueue.append(bytes)
    updateProbe()
  }

  /// Closes this direction after everything queued; the peer may continue to send.
  package mutating func close(at instant: Instant) {
    now = max(now, instant)
    guard state != .closed, !closeRequested else { return }
    if state == .synSent { return finish(.normal) }
    closeRequested = true
  }

  /// Drops everything and informs the peer with an RST.
  package mutating func abort(at instant: Instant) {
    now = max(now, instant)
    guard state != .closed else { return }
    let peerKnows = state != .synSent && state != .timeWait
    let sequence = acceptableSequence
    finish(.aborted)
    if peerKnows { resetPending = (sequence, true) }
  }

  /// Stops or resumes reading. Without a reader the window closes as data arrives.
  package mutating func setReading(_ reading: Bool, at instant: Instant) {
    now = max(now, instant)
    guard reading != isReading else { return }
    isReading = reading
    guard reading else { return }
    let wasNarrow = receiveQueue.window < min(segmentSize, configuration.receiveCapacity / 2)
    deliver()
    if wasNarrow, state != .closed { acknowledgmentPending = true }
  }

  // MARK: Driving

  package mutating func nextEvent() -> StreamEvent? { events.popFirst() }

  package var wake: Wake {
    var wake = Wake.never
    func consider(_ instant: Instant?, _ reason: UInt8) {
      if let instant { wake = .earliest(wake, .at(instant, reason: reason)) }
    }
    consider(retransmitAt, WakeReason.retransmission)
    consider(userDeadline, WakeReason.retransmission)
    consider(acknowledgeAt, WakeReason.acknowledgment)
    consider(probeAt, WakeReason.windowProbe)
    consider(keepAliveAt, WakeReason.keepAlive)
    consider(lingerUntil, WakeReason.linger)
    return wake
  }

  /// Ends the connection and informs the application, once.
  mutating func finish(_ reason: StreamCloseReason) {
    if state != .timeWait, state != .closed { events.append(.closed(reason)) }
    state = .closed
    sendQueue.removeAll()
    synPending = false
    retransmitPending = false
    probePending = false
    keepAlivePending = false
    acknowledgmentPending = false
    retransmitAt = nil
    stalledSince = nil
    acknowledgeAt = nil
    probeAt = nil
    lingerUntil = nil
  }

  /// Enters TIME-WAIT: over for the application, while late segments are still answered.
  mutating func enterTimeWait() {
    events.append(.closed(.normal))
    state = .timeWait
    retransmitAt = nil
    stalledSince = nil
    probeAt = nil
    lingerUntil = now + configuration.timeWait
  }

  /// Delivers the bytes in order, if the application reads.
  mutating func deliver() {
    if isReading, receiveQueue.hasReadyBytes { events.append(.data(receiveQueue.take())) }
  }
}
