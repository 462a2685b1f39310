package import CallCore

extension SCTPAssociation {
  /// Writes the next packet into `output`, with at most ``SCTPSettings/mtu`` bytes, and returns false if there is none.
  package mutating func transmit(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
    self.now = max(self.now, now)
    if let packet = lonePackets.popFirst() {
      guard output.freeCapacity >= SCTPPacketHeader.size + packet.chunk.count else { return false }
      let start = output.count
      writeHeader(tag: packet.tag, into: &output)
      output.append(copying: packet.chunk[...])
      SCTPPacketHeader.sealChecksum(of: &output, from: start)
      counters.packetsSent += 1
      return true
    }
    guard let tag = block?.peerTag, state != .cookieEchoed else { return false }
    let end = min(settings.mtu, output.freeCapacity) + output.count
    let start = output.count
    guard end - start >= SCTPPacketHeader.size else { return false }
    requestReset()
    writeHeader(tag: tag, into: &output)
    while let chunk = controlChunks.first, chunk.count <= end - output.count {
      output.append(copying: chunk[...])
      _ = controlChunks.popFirst()
    }
    writeTransfer(into: &output, end: end)
    if output.count == start + SCTPPacketHeader.size, block?.transmission.hasNewAbandonments == true {
      // All chunks for the packet have expired instead.
      writeTransfer(into: &output, end: end)
    }
    guard output.count > start + SCTPPacketHeader.size else {
      output.removeLast(SCTPPacketHeader.size)
      return false
    }
    if block?.capabilities.usesZeroChecksum != true { SCTPPacketHeader.sealChecksum(of: &output, from: start) }
    counters.packetsSent += 1
    return true
  }

  private func writeHeader(tag: UInt32, into output: inout OutputSpan<UInt8>) {
    SCTPPacketHeader(
      sourcePort: settings.localPort, destinationPort: settings.remotePort, verificationTag: tag
    ).write(into: &output)
  }

  /// Writes a SACK, a FORWARD TSN and DATA chunks, as they are due and fit.
  private mutating func writeTransfer(into output: inout OutputSpan<UInt8>, end: Int) {
    guard let timeout = block?.timeout.value else { return }
    let plan = maySendData ? block?.transmission.beginPacket(queue) : nil
    if block?.tracker.wantsAcknowledgment(beside: plan != nil) == true, end - output.count >= 16,
      let window = block?.reassembly.receiverWindow,
      let sack = block?.tracker.acknowledge(receiverWindow: window, capacity: end - output.count)
    {
      output.append(copying: SCTPChunk.sack(sack).encoded[...])
    }
    guard maySendData else { return }
    if let chunk = block?.transmission.nextForwardTSN(
      capacity: end - output.count, queue: &queue, timeout: timeout, at: now)
    {
      output.append(copying: SCTPChunk.forwardTSN(chunk).encoded[...])
    }
    guard var plan else { return }
    while let chunk = block?.transmission.next(
      &plan, capacity: end - output.count, queue: &queue, timeout: timeout, at: now)
    {
      chunk.write(into: &output)
    }
  }

  private mutating func requestReset() {
    guard state == .established, block?.reset.waiting.isEmpty == false, let timeout = block?.timeout.value,
      let next = block?.transmission.outstanding.nextTSN
    else { return }
    if let request = block?.reset.begin(queue, lastTSN: TSN.wire(next - 1), timeout: timeout, at: now) {
      sendControl(.reconfiguration([request]))
    }
  }

  // MARK: Timers

  /// Runs every timer that is due.
  package mutating func advance(to now: Instant) {
    begin(at: now)
    if handshakeTimer.expires(at: self.now) {
      if let limit = settings.maximumInitRetransmissions, handshakeTimer.expirations > limit {
        return end(.timedOut)
      }
      if state == .cookieWait { sendInit() } else { sendCookieEcho() }
    }
    block?.tracker.advance(to: self.now)
    if block?.transmission.advance(to: self.now, queue: &queue) == true {
      countTimeout(limit: settings.maximumRetransmissions)
    }
    if block?.reset.advance(to: self.now) == true, let request = block?.reset.parameter {
      if block?.reset.request?.isInProgress == false { countTimeout(limit: settings.maximumRetransmissions) }
      if block != nil { sendControl(.reconfiguration([request])) }
    }
    if shutdownTimer.expires(at: self.now) {
      countTimeout(limit: settings.maximumRetransmissions ?? Self.shutdownRetransmissions)
      repeatShutdown()
    }
    advanceHeartbeat()
  }

  /// The limit of a shutdown's retransmissions, in place of the timer T5 (RFC 9260 section 9.2).
  private static var shutdownRetransmissions: Int { 10 }

  // MARK: Heartbeat

  mutating func restartHeartbeat() {
    guard settings.heartbeatInterval > .zero, let timeout = block?.timeout.value else { return }
    heartbeatTimeout.stop()
    heartbeatTimer.start(settings.heartbeatInterval + timeout, at: now)
  }

  private mutating func advanceHeartbeat() {
    if heartbeatTimeout.expiresOnce(at: now) { countTimeout(limit: settings.maximumRetransmissions) }
    guard heartbeatTimer.expiresOnce(at: now), let timeout = block?.timeout.value else { return }
    heartbeatTimer.start(settings.heartbeatInterval + timeout, at: now)
    heartbeatTimeout.start(timeout, at: now)
    var information: [UInt8] = []
    information.appendTLV(InitParameters.WireType.heartbeatInfo) { [now] in $0.append(bigEndian: now.nanoseconds) }
    sendControl(.heartbeat(information))
  }

  mutating func receiveHeartbeatAck(_ information: [UInt8]) {
    let bytes = information.span.bytes
    var reader = TLVReader(bytes.byteCount)
    guard block != nil, let (type, range) = reader.next(in: bytes), type == InitParameters.WireType.heartbeatInfo,
      let sent = bytes.bigEndian(Int64.self, at: range.lowerBound), range.count == 8, sent <= now.nanoseconds
    else { return }
    errorCount = 0
    heartbeatTimeout.stop()
    block?.timeout.observe(now - Instant(nanoseconds: sent))
  }
}
