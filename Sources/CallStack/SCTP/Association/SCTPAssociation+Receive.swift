package import CallCore

extension SCTPAssociation {
  /// Processes a packet from the peer.
  package mutating func receive(_ packet: RawSpan, at now: Instant) {
    begin(at: now)
    counters.packetsReceived += 1
    // No datagram is larger, and a chunk of a larger one could not be reported.
    guard packet.byteCount <= Self.maximumPacket, let (header, checksum) = SCTPPacketHeader.parse(packet) else {
      counters.malformed += 1
      return
    }
    // Our INIT or INIT ACK has said whether a checksum of zero is accepted (RFC 9653 section 5.3).
    guard checksum == .correct || (checksum == .zero && settings.offersZeroChecksum) else {
      counters.wrongChecksum += 1
      return
    }
    guard header.sourcePort == settings.remotePort, header.destinationPort == settings.localPort else {
      counters.wrongPort += 1
      return
    }
    var reader = SCTPChunkReader()
    var next = reader.next(in: packet)
    if let first = next {
      guard accepts(header.verificationTag, first: first) else {
        counters.wrongTag += 1
        return
      }
      if case .initiation = first {
        // An INIT is alone in its packet (RFC 9260 section 6.10).
        guard reader.next(in: packet) == nil, !reader.isMalformed else {
          counters.malformed += 1
          return
        }
      }
    }
    while let chunk = next, process(chunk, tag: header.verificationTag) { next = reader.next(in: packet) }
    if reader.isMalformed { counters.malformed += 1 }
    if let timeout = block?.timeout.value {
      block?.tracker.endPacket(delay: min(timeout / 2, settings.acknowledgmentDelay), at: self.now)
    }
  }

  private static var maximumPacket: Int { 65_535 }

  /// The rules for verification tags (RFC 9260 section 8.5).
  private func accepts(_ tag: UInt32, first: SCTPChunk) -> Bool {
    switch first {
    case .initiation: tag == 0
    case .abort(_, let isReflected), .shutdownComplete(let isReflected):
      isReflected ? tag == block?.peerTag : tag == ownTag
    case .cookieEcho: true  // The cookie names the tag.
    case .shutdownAck: tag == ownTag || block == nil
    default: tag == ownTag
    }
  }

  /// Processes a chunk, and returns whether the rest of the packet is read.
  private mutating func process(_ chunk: SCTPChunk, tag: UInt32) -> Bool {
    switch chunk {
    case .initiation(let chunk): receiveInit(chunk)
    case .initiationAck(let chunk): receiveInitAck(chunk)
    case .cookieEcho(let cookie):
      receiveCookieEcho(cookie, tag: tag)
      // What follows belongs to an association of these tags.
      return tag == ownTag && block != nil
    case .cookieAck: receiveCookieAck()
    case .data(let chunk): receiveData(chunk)
    case .sack(let chunk): receiveSACK(chunk)
    case .forwardTSN(let chunk): receiveForwardTSN(chunk)
    case .reconfiguration(let parameters): receiveReconfiguration(parameters)
    case .heartbeat(let information): if block != nil { sendControl(.heartbeatAck(information)) }
    case .heartbeatAck(let information): receiveHeartbeatAck(information)
    case .abort(let causes, _): if block != nil || state == .cookieWait { end(.peerAborted(causes)) }
    case .shutdown(let tsn): receiveShutdown(cumulativeTSN: tsn)
    case .shutdownAck: receiveShutdownAck(tag: tag)
    case .shutdownComplete: receiveShutdownComplete()
    case .error(let causes):
      counters.errorsReceived += 1
      if causes.contains(where: { $0.code == .staleCookie }) { receiveStaleCookie() }
    case .unknown(let type, let bytes):
      counters.unknownChunks += 1
      let rule = UnknownTypeRule(chunkType: type)
      if rule.isReported, block != nil {
        sendControl(.error([SCTPErrorCause(.unrecognizedChunkType, information: bytes)]))
      }
      return rule.continues
    }
    return state != .ended
  }

  // MARK: Data

  private mutating func receiveData(_ chunk: DataChunk) {
    // A peer that sends DATA has received our cookie, although its COOKIE ACK may be lost.
    if state == .cookieEchoed { establish() }
    guard state == .established || state == .shutdownPending || state == .shutdownSent,
      let cumulative = block?.tracker.cumulativeTSN, let inbound = block?.capabilities.inboundStreams
    else { return }
    guard !chunk.payload.isEmpty else { return fail(SCTPErrorCause(.noUserData, value: chunk.tsn)) }
    guard let tsn = block?.tracker.extended(chunk.tsn) else {
      counters.refusedData += 1
      return
    }
    if tsn > cumulative, block?.reassembly.isFull == true { return fail(SCTPErrorCause(.outOfResource)) }
    if tsn > cumulative + 1, block?.reassembly.isAboveWatermark == true {
      // The peer sends beyond our window: it must hear of that.
      counters.refusedData += 1
      block?.tracker.acknowledgeNow()
      return
    }
    let isNew = block?.tracker.observe(tsn, isImmediate: chunk.flags.contains(.immediate)) == true
    if state == .shutdownSent { repeatShutdown() }
    guard isNew else { return }
    guard chunk.stream < inbound else {
      counters.refusedData += 1
      var information: [UInt8] = []
      information.append(bigEndian: chunk.stream)
      information += [0, 0]
      return sendControl(.error([SCTPErrorCause(.invalidStreamIdentifier, information: information)]))
    }
    block?.reassembly.add(chunk, tsn: tsn)
    deliver()
  }

  private mutating func receiveForwardTSN(_ chunk: ForwardTSNChunk) {
    guard block?.capabilities.supportsForwardTSN == true, let tsn = block?.tracker.extended(chunk.newCumulativeTSN)
    else {
      counters.refusedData += 1
      return
    }
    if block?.tracker.skip(to: tsn) == true {
      block?.reassembly.skip(chunk.skipped, to: tsn)
      deliver()
    }
  }

  private mutating func deliver() {
    for message in block?.reassembly.takeMessages() ?? [] { emit(.message(message)) }
  }

  mutating func receiveSACK(_ chunk: SACKChunk) {
    guard let timeout = block?.timeout.value,
      let effect = block?.transmission.receive(chunk, queue: &queue, timeout: timeout, at: now)
    else { return }
    if let roundTripTime = effect.roundTripTime { block?.timeout.observe(roundTripTime) }
    if effect.isProgress {
      errorCount = 0
      restartHeartbeat()
    }
    continueShutdown()
  }

  // MARK: Reset of streams

  private mutating func receiveReconfiguration(_ parameters: [ReconfigurationParameter]) {
    guard block?.capabilities.supportsReconfiguration == true else { return }
    var answers: [ReconfigurationParameter] = []
    for parameter in parameters {
      switch parameter {
      case .outgoingReset(let reset):
        answers.append(.response(number: reset.requestNumber, result: receiveOutgoingReset(reset)))
      case .incomingReset(let number, _), .other(_, let number):
        // Data channels use neither (RFC 8831 section 6.7).
        var isKnown = false
        if case .incomingReset = parameter { isKnown = true }
        var result = isKnown ? ReconfigurationParameter.Result.nothingToDo : .denied
        if case .answer(let earlier) = block?.reset.treatment(of: number) {
          result = earlier
        } else {
          block?.reset.answered(number, with: result)
        }
        answers.append(.response(number: number, result: result))
      case .response(let number, let result): receiveResponse(number: number, result)
      }
    }
    if !answers.isEmpty { sendControl(.reconfiguration(answers)) }
  }

  private mutating func receiveOutgoingReset(
    _ reset: ReconfigurationParameter.OutgoingReset
  ) -> ReconfigurationParameter.Result {
    guard let cumulative = block?.tracker.cumulativeTSN else { return .denied }
    if case .answer(let earlier) = block?.reset.treatment(of: reset.requestNumber) { return earlier }
    let lastTSN = TSN.extend(reset.lastTSN, near: cumulative)
    var result = ReconfigurationParameter.Result.performed
    if lastTSN > cumulative {
      // Data from before the reset is still missing (RFC 6525 section 5.2.2, E2).
      block?.reassembly.deferReset(of: reset.streams, after: lastTSN)
      result = .inProgress
    } else {
      block?.reassembly.reset(reset.streams)
      emit(.incomingStreamsReset(reset.streams))
      deliver()
    }
    block?.reset.answered(reset.requestNumber, with: result)
    return result
  }

  private mutating func receiveResponse(number: UInt32, _ result: ReconfigurationParameter.Result) {
    guard let timeout = block?.timeout.value,
      let (streams, isPerformed) = block?.reset.receive(result, number: number, timeout: timeout, at: now)
    else { return }
    errorCount = 0
    if isPerformed { for stream in streams { queue.resetSequence(of: stream) } }
    emit(isPerformed ? .outgoingStreamsReset(streams) : .streamResetRefused(streams))
  }

  /// Ends the request for the reset of a stream as if the peer had confirmed it, without an event, and returns the
  /// streams that are reset.
  mutating func confirmReset(of stream: UInt16, at now: Instant) -> [UInt16] {
    guard let timeout = block?.timeout.value, let request = block?.reset.request, request.streams.contains(stream),
      let (streams, _) = block?.reset.receive(.performed, number: request.number, timeout: timeout, at: now)
    else { return [] }
    for stream in streams { queue.resetSequence(of: stream) }
    return streams
  }
}
