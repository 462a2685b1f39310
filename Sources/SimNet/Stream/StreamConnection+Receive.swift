package import CallCore

extension StreamConnection {
  package mutating func receive(_ datagram: RawSpan, on path: Path, at instant: Instant) {
    now = max(now, instant)
    guard let header = TCPHeader(parsing: datagram), let offset = TCPHeader.size(of: datagram) else {
      malformedCount &+= 1
      return
    }
    guard state != .closed else { return }
    lastHeard = now
    keepAliveProbes = 0
    if state == .finWait2 { lingerUntil = now + configuration.halfCloseTimeout }
    if state == .synSent {
      receiveInSynSent(header)
    } else {
      receive(header, datagram, payloadFrom: offset)
    }
    updateProbe()
  }

  /// Handles a segment in SYN-SENT (RFC 9293 section 3.10.7.3).
  private mutating func receiveInSynSent(_ header: TCPHeader) {
    let acknowledges = header.flags.contains(.ack)
    if acknowledges, header.acknowledgment != initialSequence + 1 {
      if !header.flags.contains(.rst) { resetPending = (header.acknowledgment, false) }
      return
    }
    if header.flags.contains(.rst) {
      if acknowledges { finish(.refused) }
      return
    }
    guard header.flags.contains(.syn) else { return }
    learn(header)
    receiveQueue = ReceiveQueue(next: header.sequence + 1, capacity: configuration.receiveCapacity)
    if acknowledges {
      acknowledge(header.acknowledgment)
      establish(header)
      acknowledgmentPending = true
    } else {
      // Simultaneous open.
      state = .synReceived
      synPending = true
    }
  }

  private mutating func establish(_ header: TCPHeader) {
    state = .established
    peerWindow = Int(header.window)
    windowUpdate = (header.sequence, header.acknowledgment)
    events.append(.connected)
  }

  /// Handles a segment in any later state (RFC 9293 section 3.10.7.4), with the blind-reset defence of RFC 5961.
  private mutating func receive(_ header: TCPHeader, _ segment: RawSpan, payloadFrom offset: Int) {
    let length = segment.byteCount - offset
    guard isAcceptable(header, length) else {
      return receivedStale(header, length)
    }
    if header.flags.contains(.rst) {
      if header.sequence == receiveQueue.next { receivedReset() } else { challenge() }
      return
    }
    if header.flags.contains(.syn) { return challenge() }
    guard header.flags.contains(.ack) else {
      malformedCount &+= 1
      return
    }
    if state == .synReceived {
      guard header.acknowledgment == initialSequence + 1 else {
        resetPending = (header.acknowledgment, false)
        return
      }
      acknowledge(header.acknowledgment)
      establish(header)
    } else if !process(header, hasPayload: length > 0) {
      return
    }
    guard state != .closed else { return }
    receivePayload(header, segment, payloadFrom: offset, length)
  }

  /// Handles a segment outside the window, most often a copy of one whose acknowledgment was lost.
  private mutating func receivedStale(_ header: TCPHeader, _ length: Int) {
    guard !header.flags.contains(.rst) else { return }
    if state == .timeWait { lingerUntil = now + configuration.timeWait }
    guard state == .synReceived, header.flags.contains(.syn) else {
      if length > 0 || header.flags.contains(.fin) { acknowledgmentPending = true } else { challenge() }
      return
    }
    // A SYN with an acknowledgment completes a simultaneous open; one without requires our SYN again.
    if header.flags.contains(.ack), header.acknowledgment == initialSequence + 1 {
      acknowledge(header.acknowledgment)
      establish(header)
      acknowledgmentPending = true
    } else {
      synPending = true
    }
  }

  /// Answers an unexpected segment with an acknowledgment, at most twice a second (RFC 5961 section 7): two ends that
  /// disagree would otherwise answer each other endlessly.
  private mutating func challenge() {
    if let lastChallenge, now - lastChallenge < .milliseconds(500) { return }
    lastChallenge = now
    acknowledgmentPending = true
  }

  private func isAcceptable(_ header: TCPHeader, _ length: Int) -> Bool {
    let occupied = length + (header.flags.contains(.syn) ? 1 : 0) + (header.flags.contains(.fin) ? 1 : 0)
    let first = header.sequence - receiveQueue.next
    let window = receiveQueue.window
    guard occupied > 0 else { return first == 0 || (0..<window).contains(first) }
    // A bare FIN needs no window.
    guard window > 0 else { return length == 0 && first == 0 }
    let last = first + occupied - 1
    return (0..<window).contains(first) || (0..<window).contains(last) || (first < 0 && last >= window)
  }

  private mutating func receivedReset() {
    switch state {
    case .closing, .lastAck, .timeWait: finish(.normal)
    default: finish(.reset)
    }
  }

  /// Processes the acknowledgment and window of a segment; returns false if the segment must be ignored.
  private mutating func process(_ header: TCPHeader, hasPayload: Bool) -> Bool {
    let acknowledgment = header.acknowledgment
    guard acknowledgment <= top else {
      challenge()
      return false
    }
    if acknowledgment > una {
      acknowledge(acknowledgment)
    } else if acknowledgment == una, top > una, !hasPayload, !header.flags.contains(.fin),
      Int(header.window) == peerWindow, peerWindow > 0
    {
      let response = congestion.duplicate(inFlight: top - una, end: top)
      if case .retransmitFirst = response { retransmitPending = true }
    }
    if peerWindow == 0 {
      // Any answer to a zero-window probe shows that the peer is alive.
      retries = 0
      stalledSince = top > una && retransmitAt != nil ? now : nil
    }
    let (sequence, previous) = windowUpdate
    if sequence < header.sequence || (sequence == header.sequence && previous <= acknowledgment) {
      peerWindow = Int(header.window)
      windowUpdate = (header.sequence, acknowledgment)
    }
    advanceClose()
    return true
  }

  /// Advances `una`, and updates the timers, the round-trip estimate and the congestion window.
  private mutating func acknowledge(_ acknowledgment: SequenceNumber) {
    let count = acknowledgment - una
    let wasHandshake = una == initialSequence
    una = acknowledgment
    nxt = .later(nxt, una)
    sendQueue.acknowledge(upTo: una)
    if let timed, timed.end <= una {
      timeout.sample(now - timed.sent)
      self.timed = nil
    } else {
      timeout.restore()
    }
    retries = 0
    if !wasHandshake, case .retransmitFirst = congestion.acknowledged(count, upTo: una) { retransmitPending = true }
    if una == top {
      retransmitAt = nil
      stalledSince = nil
      retransmitPending = false
    } else {
      retransmitAt = now + timeout.current
      stalledSince = now
    }
  }

  /// Advances the state after our FIN is acknowledged.
  private mutating func advanceClose() {
    guard closeRequested, una > sendQueue.end else { return }
    switch state {
    case .finWait1:
      state = .finWait2
      lingerUntil = now + configuration.halfCloseTimeout
    case .closing: enterTimeWait()
    case .lastAck: finish(.normal)
    default: break
    }
  }

  private mutating func receivePayload(
    _ header: TCPHeader, _ segment: RawSpan, payloadFrom offset: Int, _ length: Int
  ) {
    let hasFin = header.flags.contains(.fin)
    guard length > 0 || hasFin else { return }
    switch state {
    case .established, .finWait1, .finWait2: break
    default:
      acknowledgmentPending = true
      return
    }
    if length > 0 {
      let hadHole = receiveQueue.hasHole
      let advanced = receiveQueue.insert(segment, payloadFrom: offset, at: header.sequence)
      if advanced, !hadHole { delayAcknowledgment() } else { acknowledgmentPending = true }
      deliver()
    }
    if hasFin { receiveQueue.setFin(at: header.sequence + length) }
    if receiveQueue.finIsNext { receivedFin() }
  }

  /// Acknowledges every second segment at once, a lone one after the delay (RFC 9293 section 3.8.6.3).
  private mutating func delayAcknowledgment() {
    unacknowledgedSegments += 1
    if unacknowledgedSegments >= 2 {
      acknowledgmentPending = true
    } else if acknowledgeAt == nil {
      acknowledgeAt = now + configuration.acknowledgmentDelay
    }
  }

  private mutating func receivedFin() {
    receiveQueue.consumeFin()
    acknowledgmentPending = true
    isReading = true
    deliver()
    events.append(.peerClosed)
    switch state {
    case .established: state = .closeWait
    case .finWait1: state = .closing
    case .finWait2: enterTimeWait()
    default: break
    }
  }
}
