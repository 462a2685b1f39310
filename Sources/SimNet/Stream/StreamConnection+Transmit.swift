package import CallCore

extension StreamConnection {
  package mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    if let reset = resetPending {
      resetPending = nil
      return write(reset.withAcknowledgment ? [.rst, .ack] : .rst, at: reset.sequence, into: &buffer)
    }
    if synPending { return transmitSyn(into: &buffer) }
    switch state {
    case .closed, .synSent, .synReceived: return nil
    default: break
    }
    if let path = transmitData(into: &buffer) { return path }
    if probePending {
      probePending = false
      top = .later(top, una + 1)
      return write([.ack, .psh], at: una, count: 1, into: &buffer)
    }
    if keepAlivePending {
      keepAlivePending = false
      return write(.ack, at: una + -1, into: &buffer)
    }
    return acknowledgmentPending ? write(.ack, at: acceptableSequence, into: &buffer) : nil
  }

  /// The number for a segment without data: the highest sent that lies in the peer's window. Going back to `una` after
  /// a timeout must not be visible, or the peer would treat its acknowledgment as stale and both would answer
  /// endlessly.
  var acceptableSequence: SequenceNumber { top - una <= peerWindow ? top : una + peerWindow }

  private mutating func transmitSyn(into buffer: inout OutputSpan<UInt8>) -> Path? {
    synPending = false
    if top == initialSequence { timed = (initialSequence + 1, now) } else { timed = nil }
    nxt = initialSequence + 1
    top = nxt
    arm()
    return write(
      state == .synSent ? .syn : [.syn, .ack], at: initialSequence,
      maximumSegmentSize: UInt16(configuration.maximumSegmentSize), into: &buffer)
  }

  /// Sends the next segment that occupies sequence space: a retransmission first, then the data that the windows
  /// permit.
  private mutating func transmitData(into buffer: inout OutputSpan<UInt8>) -> Path? {
    if retransmitPending {
      retransmitPending = false
      let count = min(segmentSize, max(sendQueue.end - una, 0))
      if count > 0 || finIsDue(after: una) { return send(from: una, count: count, into: &buffer) }
    }
    let available = max(sendQueue.end - nxt, 0)
    let usable = min(congestion.bytes, peerWindow) - (nxt - una)
    let whole = min(segmentSize, available)
    let count = max(min(whole, usable), 0)
    // The window may shorten a segment only if no other segment would bring an acknowledgment (silly window).
    if count > 0, count == whole || nxt == una { return send(from: nxt, count: count, into: &buffer) }
    return available == 0 && finIsDue(after: nxt) ? send(from: nxt, count: 0, into: &buffer) : nil
  }

  private func finIsDue(after sequence: SequenceNumber) -> Bool { closeRequested && sequence == sendQueue.end }

  private mutating func send(
    from sequence: SequenceNumber, count: Int, into buffer: inout OutputSpan<UInt8>
  ) -> Path {
    var flags: TCPFlags = .ack
    var end = sequence + count
    if end == sendQueue.end, count > 0 { flags.insert(.psh) }
    if finIsDue(after: end) {
      flags.insert(.fin)
      end = end + 1
      switch state {
      case .established: state = .finWait1
      case .closeWait: state = .lastAck
      default: break
      }
    }
    if sequence < top {
      // Karn's algorithm: an acknowledgment could be for either copy.
      timed = nil
      retransmissionCount &+= 1
    } else if timed == nil {
      timed = (end, now)
    }
    nxt = .later(nxt, end)
    top = .later(top, nxt)
    arm()
    return write(flags, at: sequence, count: count, into: &buffer)
  }

  /// Starts the retransmission timer if it is not running (RFC 6298 rule 5.1).
  private mutating func arm() {
    if retransmitAt == nil { retransmitAt = now + timeout.current }
    if stalledSince == nil { stalledSince = now }
  }

  private mutating func write(
    _ flags: TCPFlags, at sequence: SequenceNumber, count: Int = 0, maximumSegmentSize: UInt16? = nil,
    into buffer: inout OutputSpan<UInt8>
  ) -> Path {
    let acknowledges = flags.contains(.ack)
    TCPHeader(
      path: path, sequence: sequence, acknowledgment: acknowledges ? receiveQueue.next : SequenceNumber(0),
      flags: flags, window: UInt16(receiveQueue.window), maximumSegmentSize: maximumSegmentSize
    ).encode(into: &buffer)
    if count > 0 { sendQueue.write(from: sequence, count: count, into: &buffer) }
    if acknowledges {
      acknowledgmentPending = false
      acknowledgeAt = nil
      unacknowledgedSegments = 0
    }
    return path
  }
}
