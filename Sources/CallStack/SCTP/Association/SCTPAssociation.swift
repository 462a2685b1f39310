package import CallCore

/// An SCTP association with one peer over DTLS (RFC 9260, RFC 8261), sans-IO.
///
/// Both sides may open it at the same time. After every call the owner calls ``transmit(into:at:)`` until it returns
/// false, then ``nextEvent()`` until nil, and reads ``deadline``.
package struct SCTPAssociation: ~Copyable {
  /// The settings that the association was made with, and the peer's port.
  package internal(set) var settings: SCTPSettings
  /// The state of the association.
  package internal(set) var state = SCTPAssociationState.closed
  /// The counters since the association was made.
  package internal(set) var counters = SCTPCounters()

  /// A packet of one chunk that is not sent with others.
  struct LonePacket {
    var tag: UInt32
    var chunk: [UInt8]
  }

  var random: RandomStream
  let cookieKey: [UInt8]
  var ownTag: UInt32
  let ownInitialTSN: UInt32
  var block: TransmissionControlBlock?
  var queue = SendQueue()
  /// The cookie that is echoed until the peer acknowledges it.
  var cookie: [UInt8] = []
  var lonePackets = FIFO<LonePacket>()
  /// Encoded chunks that leave before others.
  var controlChunks = FIFO<[UInt8]>()
  private var events = FIFO<SCTPEvent>()
  /// The timer T1 of the handshake.
  var handshakeTimer: SCTPTimer
  /// The timer T2 of the shutdown.
  var shutdownTimer: SCTPTimer
  var heartbeatTimer = SCTPTimer()
  var heartbeatTimeout = SCTPTimer()
  /// The number of timeouts since the peer was last heard.
  var errorCount = 0
  var now = Instant.zero

  private static let maximumAnswers = 64

  /// Makes an association that answers the peer. All random numbers come from `random`.
  package init(settings: SCTPSettings = SCTPSettings(), random: consuming RandomStream) {
    self.settings = settings
    cookieKey = random.bytes(32)
    ownTag = Self.tag(&random)
    ownInitialTSN = UInt32(truncatingIfNeeded: random.next())
    self.random = random
    handshakeTimer = SCTPTimer(maximumBackoff: settings.maximumBackoff)
    shutdownTimer = SCTPTimer(maximumBackoff: settings.maximumBackoff)
  }

  /// Draws a verification tag, which is never zero.
  static func tag(_ random: inout RandomStream) -> UInt32 { UInt32(random.uniform(in: 1...Int64(UInt32.max))) }

  // MARK: Commands

  /// Opens the association, unless the peer has.
  package mutating func start(at now: Instant) {
    begin(at: now)
    guard state == .closed else { return }
    state = .cookieWait
    handshakeTimer.start(settings.initTimeout, at: self.now)
    sendInit()
  }

  /// Sends a message.
  package mutating func send(_ message: OutgoingMessage, at now: Instant) throws(SCTPError) {
    begin(at: now)
    guard state == .established, let capabilities = block?.capabilities else { throw .notEstablished }
    guard message.stream < capabilities.outboundStreams else { throw .noSuchStream }
    guard block?.reset.isResetting(message.stream) != true else { throw .streamIsReset }
    guard !message.payload.isEmpty else { throw .emptyMessage }
    guard queue.totalBytes + message.payload.count <= settings.sendBuffer else { throw .sendBufferFull }
    var message = message
    if !capabilities.supportsForwardTSN {
      message.maximumRetransmissions = nil
      message.expiry = nil
    }
    queue.append(message)
  }

  /// The user's bytes of a stream that are not yet sent.
  package func bufferedBytes(of stream: UInt16) -> Int { queue.bufferedBytes(of: stream) }

  /// Whether a stream has nothing that is not yet sent.
  package func hasSentAll(of stream: UInt16) -> Bool { queue.isEmpty(stream) }

  /// Forgets the messages of a stream that are not yet sent.
  package mutating func discardUnsent(of stream: UInt16) { queue.discard(stream) }

  /// Returns and forgets the streams whose unsent bytes have become fewer.
  package mutating func takeDrainedStreams() -> [UInt16] { queue.takeDrained() }

  /// Resets outgoing streams once they have sent everything. ``SCTPEvent/outgoingStreamsReset(_:)`` reports the end.
  ///
  /// - Returns: false if the peer does not support that.
  package mutating func reset(_ streams: [UInt16], at now: Instant) -> Bool {
    begin(at: now)
    guard let capabilities = block?.capabilities, capabilities.supportsReconfiguration else { return false }
    block?.reset.add(streams)
    return true
  }

  /// Ends the association without regard to unsent messages (RFC 9260 section 9.1).
  package mutating func abort(reason: String = "", at now: Instant) {
    begin(at: now)
    guard state != .ended else { return }
    sendAbort(SCTPErrorCause(.userInitiatedAbort, text: reason))
    end(.aborted)
  }

  /// Whether DATA can be sent in the present state.
  var maySendData: Bool { state == .established || state == .shutdownPending || state == .shutdownReceived }

  // MARK: Sans-IO

  /// Returns and removes the next event, in order, or nil.
  package mutating func nextEvent() -> SCTPEvent? { events.popFirst() }

  /// The time of the next ``advance(to:)``, or nil. Valid after everything was transmitted.
  package var deadline: Instant? {
    var earliest: Instant?
    for deadline in [
      handshakeTimer.deadline, shutdownTimer.deadline, heartbeatTimer.deadline, heartbeatTimeout.deadline,
      block?.transmission.timer.deadline, block?.tracker.deadline, block?.reset.timer.deadline,
    ] {
      if let deadline { earliest = earliest.map { min($0, deadline) } ?? deadline }
    }
    return earliest
  }

  /// Takes the time, and allows a burst of packets for what happens now.
  mutating func begin(at now: Instant) {
    self.now = max(self.now, now)
    block?.transmission.renewBurst()
  }

  // MARK: Progress

  mutating func emit(_ event: SCTPEvent) { events.append(event) }

  /// Queues a chunk that leaves with the next packet.
  mutating func sendControl(_ chunk: SCTPChunk) {
    let bytes = chunk.encoded
    guard controlChunks.count < Self.maximumAnswers, bytes.count <= settings.mtu - SCTPPacketHeader.size else {
      counters.droppedAnswers += 1
      return
    }
    controlChunks.append(bytes)
  }

  /// Queues a packet of one chunk.
  mutating func sendAlone(_ chunk: SCTPChunk, tag: UInt32) {
    let bytes = chunk.encoded
    guard lonePackets.count < Self.maximumAnswers, bytes.count <= settings.mtu - SCTPPacketHeader.size else {
      counters.droppedAnswers += 1
      return
    }
    lonePackets.append(LonePacket(tag: tag, chunk: bytes))
  }

  mutating func sendAbort(_ cause: SCTPErrorCause) {
    guard let block else { return }
    lonePackets.removeAll()
    sendAlone(.abort([cause], isTagReflected: false), tag: block.peerTag)
  }

  /// Aborts the association because of the peer.
  mutating func fail(_ cause: SCTPErrorCause) {
    guard state != .ended else { return }
    sendAbort(cause)
    end(.failed(cause.code))
  }

  mutating func end(_ closure: SCTPClosure) {
    guard state != .ended else { return }
    state = .ended
    block = nil
    queue = SendQueue()
    controlChunks.removeAll()
    handshakeTimer.stop()
    shutdownTimer.stop()
    heartbeatTimer.stop()
    heartbeatTimeout.stop()
    emit(.closed(closure))
  }

  /// Counts a timeout of the peer, and ends the association after too many.
  mutating func countTimeout(limit: Int?) {
    errorCount += 1
    if let limit, errorCount > limit {
      sendAbort(SCTPErrorCause(.userInitiatedAbort, text: "too many retransmissions"))
      end(.timedOut)
    }
  }
}
