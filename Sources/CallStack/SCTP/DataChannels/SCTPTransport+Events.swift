package import CallCore

extension SCTPTransport {
  // MARK: Sans-IO

  /// Processes a packet from the peer: a decrypted DTLS record.
  package mutating func receive(_ packet: RawSpan, at now: Instant) {
    // Without a role, the streams of new channels are unknown.
    guard role != nil else { return }
    association.receive(packet, at: now)
    settle(at: now)
  }

  /// Writes the next packet into `output`, and returns false if there is none.
  package mutating func transmit(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
    let isWritten = association.transmit(into: &output, at: now)
    settle(at: now)
    return isWritten
  }

  /// Runs every timer that is due.
  package mutating func advance(to now: Instant) {
    association.advance(to: now)
    settle(at: now)
  }

  /// The time of the next ``advance(to:)``, or nil. Valid after everything was transmitted.
  package var deadline: Instant? { association.deadline }

  /// Returns and removes the next event, in order, or nil.
  package mutating func nextEvent() -> DataChannelEvent? { events.popFirst() }

  // MARK: Events of the association

  /// Processes what the association has to say.
  mutating func settle(at now: Instant) {
    while let event = association.nextEvent() { process(event, at: now) }
    for stream in association.takeDrainedStreams() {
      guard let id = channelOfStream[stream], let index = index(of: id) else { continue }
      let amount = association.bufferedBytes(of: stream)
      let channel = channels[index]
      channels[index].bufferedAmount = amount
      if channel.bufferedAmount > channel.threshold, amount <= channel.threshold {
        events.append(.bufferedAmountLow(id))
      }
      if channel.awaitsReset { requestReset(id, at: now) }
    }
  }

  private mutating func process(_ event: SCTPEvent, at now: Instant) {
    switch event {
    case .established:
      state = .connected
      events.append(.transportStateChanged(.connected))
      for id in channels.map(\.id) { activate(id, at: now) }
    case .restarted: events.append(.restarted)
    case .message(let message): receive(message, at: now)
    case .incomingStreamsReset(let streams):
      let ids = streams.isEmpty ? channels.map(\.id) : streams.compactMap { channelOfStream[$0] }
      for id in ids { receiveReset(of: id, at: now) }
    case .outgoingStreamsReset(let streams): finishReset(of: streams)
    case .streamResetRefused(let streams):
      for id in streams.compactMap({ channelOfStream[$0] }) { close(id, failure: .resetRefused) }
    case .closed(let closure):
      state = .closed
      for id in channels.map(\.id) {
        switch closure {
        case .shutdown, .aborted: finish(id)
        case .peerAborted, .timedOut, .failed: close(id, failure: .transport(closure))
        }
      }
      events.append(.transportStateChanged(.closed))
    }
  }

  private mutating func receive(_ message: SCTPMessage, at now: Instant) {
    if message.ppid == DataChannelMessage.PPID.dcep { return receiveControl(message, at: now) }
    guard let id = channelOfStream[message.stream], let index = index(of: id), channels[index].state == .open,
      let content = DataChannelMessage(ppid: message.ppid, payload: message.payload)
    else {
      refused += 1
      return
    }
    channels[index].isAcknowledged = true
    channels[index].messagesReceived += 1
    channels[index].bytesReceived += content.byteCount
    events.append(.message(id, content))
  }

  private mutating func receiveControl(_ message: SCTPMessage, at now: Instant) {
    finishPredecessor(of: message, at: now)
    let existing = channelOfStream[message.stream]
    switch DCEPMessage(parsing: message.payload.span.bytes) {
    case .acknowledgment:
      guard let existing, let index = index(of: existing) else {
        refused += 1
        return
      }
      channels[index].isAcknowledged = true
    case .open(let parameters) where existing == nil && message.stream < association.outboundStreams:
      let acknowledgment = OutgoingMessage(
        stream: message.stream, ppid: DataChannelMessage.PPID.dcep, payload: DCEPMessage.acknowledgment.encoded,
        countsAsBuffered: false, priority: parameters.priority)
      guard (try? association.send(acknowledgment, at: now)) != nil else {
        refused += 1
        return
      }
      let id = add(parameters, stream: message.stream, isRemote: true)
      events.append(.announced(id))
      markOpen(id)
    case .open:
      // The reset of a stream in use would close a channel that is not concerned.
      refused += 1
    case nil:
      refused += 1
      if existing == nil { _ = association.reset([message.stream], at: now) }
    }
  }

  /// A peer that opens a channel on the stream of one that is closing has performed our reset, although its response may
  /// be lost.
  private mutating func finishPredecessor(of message: SCTPMessage, at now: Instant) {
    guard let id = channelOfStream[message.stream], let index = index(of: id), channels[index].isIncomingReset,
      case .open? = DCEPMessage(parsing: message.payload.span.bytes)
    else { return }
    // The events that wait come after this message.
    finishReset(of: association.confirmReset(of: message.stream, at: now))
  }

  private mutating func finishReset(of streams: [UInt16]) {
    for id in streams.compactMap({ channelOfStream[$0] }) {
      guard let index = index(of: id) else { continue }
      channels[index].isOutgoingReset = true
      if channels[index].isIncomingReset { finish(id) }
    }
  }

  // MARK: States of a channel

  /// Opens a channel on the established association.
  mutating func activate(_ id: DataChannelID, at now: Instant) {
    guard let index = index(of: id), channels[index].state == .connecting, let stream = channels[index].stream else {
      return
    }
    guard stream < association.outboundStreams else { return close(id, failure: .noStream) }
    let parameters = channels[index].parameters
    if parameters.negotiatedStream == nil {
      let message = OutgoingMessage(
        stream: stream, ppid: DataChannelMessage.PPID.dcep, payload: DCEPMessage.open(parameters).encoded,
        countsAsBuffered: false, priority: parameters.priority)
      guard (try? association.send(message, at: now)) != nil else { return close(id, failure: .noStream) }
    }
    markOpen(id)
  }

  private mutating func markOpen(_ id: DataChannelID) {
    opened += 1
    change(id, to: .open)
  }

  mutating func change(_ id: DataChannelID, to state: DataChannelState) {
    guard let index = index(of: id) else { return }
    channels[index].state = state
    events.append(.stateChanged(id, state))
  }

  /// Resets our stream when everything is sent (RFC 8831 section 6.7).
  mutating func requestReset(_ id: DataChannelID, at now: Instant) {
    guard let index = index(of: id), let stream = channels[index].stream else { return }
    channels[index].awaitsReset = !association.hasSentAll(of: stream)
    guard !channels[index].awaitsReset else { return }
    // A peer without resets never hears of the end.
    if !association.reset([stream], at: now) { finish(id) }
  }

  private mutating func receiveReset(of id: DataChannelID, at now: Instant) {
    guard let index = index(of: id), let stream = channels[index].stream, !channels[index].isIncomingReset else {
      return
    }
    channels[index].isIncomingReset = true
    if channels[index].state == .open || channels[index].state == .connecting {
      change(id, to: .closing)
      association.discardUnsent(of: stream)
      requestReset(id, at: now)
    } else if channels[index].isOutgoingReset {
      finish(id)
    }
  }

  mutating func close(_ id: DataChannelID, failure: DataChannelFailure) {
    events.append(.failed(id, failure))
    finish(id)
  }

  /// Closes a channel and frees its stream.
  mutating func finish(_ id: DataChannelID) {
    guard let index = index(of: id) else { return }
    if channels[index].state != .connecting { closed += 1 }
    change(id, to: .closed)
    if let stream = channels[index].stream { channelOfStream[stream] = nil }
    channels.remove(at: index)
  }
}
