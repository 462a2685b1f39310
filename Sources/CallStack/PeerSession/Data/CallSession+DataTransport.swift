internal import CallCore
internal import DTLS
internal import SCTP
internal import SDP

/// The transport of data channels: SCTP in the application data of DTLS (RFC 8261).
extension CallSession {
  /// Returns the transport, and makes it if there is none.
  func makeDataTransport() -> DataTransport {
    if let data { return data }
    let number = pastData.count + 1
    let made = DataTransport(
      random: random.stream(number == 1 ? "sctp" : "sctp/\(number)"), firstID: pastData.nextID)
    data = made
    dtls.keepsApplicationData = true
    return made
  }

  /// Applies the negotiated section of data channels, or its rejection.
  func applyDataNegotiation() {
    if let negotiated = jsep.data {
      makeDataTransport().setRemoteMaximumMessageSize(negotiated.remote.maximumMessageSize)
      startDataIfReady()
    } else if jsep.signalingState == .stable, !jsep.wantsData {
      endDataTransport()
    }
  }

  /// Begins the association once both DTLS and the negotiation are done.
  func startDataIfReady() {
    guard let data, !data.isStarted, let negotiated = jsep.data, dtls.state == .connected, let role = dtls.role else {
      return
    }
    data.start(as: role, negotiated, at: now)
  }

  /// Closes all channels with the DTLS association that carried them (W3C `RTCSctpTransport.state`).
  func closeDataTransport() {
    guard let data, data.isStarted else { return }
    data.sctp.close(at: now)
    flushData()
    reportDataEvents()
  }

  /// Closes all channels, and forgets the transport: a later negotiation begins with another.
  func endDataTransport() {
    guard let data else { return }
    data.sctp.close(at: now)
    flushData()
    reportDataEvents()
    pastData.add(data)
    self.data = nil
    dtls.keepsApplicationData = false
  }

  // MARK: Packets

  /// Passes the packets that DTLS has decrypted to SCTP, and returns whether there were any.
  func receiveData() -> Bool {
    guard let data else { return false }
    let packets = dtls.takeApplicationData()
    for packet in packets { data.sctp.receive(packet.span.bytes, at: now) }
    return reportDataEvents() || !packets.isEmpty
  }

  /// Writes the next datagram with an SCTP packet, and returns false if there is none.
  func nextData(into buffer: inout OutputSpan<UInt8>) -> Bool {
    guard let data else { return false }
    defer { reportDataEvents() }
    while data.sctp.transmit(into: &buffer, at: now) {
      let isTaken = dtls.send(buffer.span.bytes, at: now)
      buffer.removeAll()
      if isTaken, dtls.transmit(into: &buffer) != nil { return true }
    }
    return false
  }

  /// Passes all packets of SCTP to DTLS, which sends them before anything else.
  private func flushData() {
    takeData { dtls.send($0, at: now) }
  }

  /// Loses the packets that cannot be sent, as on a dead link; SCTP's timers send them again.
  func dropData() {
    takeData { _ in }
    reportDataEvents()
  }

  private func takeData(_ take: (RawSpan) -> Void) {
    guard let data else { return }
    withUnsafeTemporaryAllocation(byteCount: maximumDatagramSize, alignment: 16) { memory in
      var packet = OutputSpan<UInt8>(buffer: memory.bindMemory(to: UInt8.self), initializedCount: 0)
      while data.sctp.transmit(into: &packet, at: now) {
        take(packet.span.bytes)
        packet.removeAll()
      }
    }
  }

  // MARK: Events

  /// Reports the events of channels, and returns whether there were any.
  @discardableResult
  func reportDataEvents() -> Bool {
    guard let data else { return false }
    var moved = false
    while let event = data.sctp.nextEvent() {
      moved = true
      switch event {
      case .transportStateChanged(let state): events.append(.sctpStateChange(state))
      case .restarted: break
      case .announced(let id):
        if let channel = data.sctp.snapshot(of: id) { events.append(.dataChannel(channel)) }
      case .stateChanged(let id, let state): events.append(.dataChannelStateChange(id, state))
      case .message(let id, let message): events.append(.dataChannelMessage(id, message))
      case .bufferedAmountLow(let id): events.append(.dataChannelBufferedAmountLow(id))
      case .failed(let id, let failure): events.append(.dataChannelError(id, reason: "\(failure)"))
      }
    }
    return moved
  }
}
