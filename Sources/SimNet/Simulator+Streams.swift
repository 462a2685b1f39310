public import CallCore

/// Reliable streams of a host. The consequences of a call here happen in the run loop, in a separate event at the same
/// time: a call never calls a delegate.
extension Simulator {
  /// Accepts connections to the port on any of the host's addresses.
  public func listen(_ host: HostID, port: UInt16) throws(StreamError) {
    try hosts[host.index].streams.listen(on: port)
  }

  /// Refuses further connections; existing ones stay.
  public func stopListening(_ host: HostID, port: UInt16) { hosts[host.index].streams.stopListening(on: port) }

  /// Opens a stream. A ``StreamEvent`` reports success or failure.
  ///
  /// - Parameter address: the host's address to connect from, or nil to choose as for datagrams.
  public func connect(
    _ host: HostID, from address: IPAddress? = nil, to remote: Endpoint
  ) throws(StreamError) -> StreamID {
    guard let source = sourceAddress(of: host, bound: address, to: remote.address) else {
      hosts[host.index].unreachableCount += 1
      throw .unreachable
    }
    let now = fabric.now
    let stream = try hosts[host.index].streams.connect(from: Endpoint(source, port: 0), to: remote, at: now)
    requestStreams(of: host)
    return stream
  }

  /// Sends bytes on a stream, after those that are queued.
  ///
  /// - Throws: ``StreamError/closed`` if this side has closed the stream, or ``StreamError/sendBufferFull`` if too many
  ///   bytes are unacknowledged.
  public func send(_ bytes: [UInt8], on stream: StreamID, of host: HostID) throws(StreamError) {
    let now = fabric.now
    try hosts[host.index].streams.send(bytes, on: stream, at: now)
    requestStreams(of: host)
  }

  /// Sends one whole message of a framed protocol, such as TURN. Packet rules treat it as a datagram; a dropped message
  /// is never written.
  ///
  /// - Returns: whether it was written.
  @discardableResult
  package func send(message: RawSpan, on stream: StreamID, of host: HostID) throws(StreamError) -> Bool {
    if fabric.rules.drop(message, from: host, to: nil) || isDropped(message, on: stream, of: host) {
      trace.write(
        NetworkEvents.messageDropped, hosts[host.index].subject, PacketContent(message).rawValue, message.byteCount)
      return false
    }
    try send(message.copied, on: stream, of: host)
    return true
  }

  /// Returns whether a rule for the host at the stream's other end drops the message. That host is unknown until it has
  /// answered.
  private func isDropped(_ message: RawSpan, on stream: StreamID, of host: HostID) -> Bool {
    guard !fabric.rules.isEmpty, let receiver = hosts[host.index].streams.peer(of: stream) else { return false }
    return fabric.rules.drop(message, from: host, to: receiver)
  }

  /// Closes this direction after everything queued is sent. Does nothing if the stream is gone.
  public func close(_ stream: StreamID, of host: HostID) {
    let now = fabric.now
    hosts[host.index].streams.close(stream, at: now)
    requestStreams(of: host)
  }

  /// Ends the stream immediately and informs the peer.
  public func abort(_ stream: StreamID, of host: HostID) {
    let now = fabric.now
    hosts[host.index].streams.abort(stream, at: now)
    requestStreams(of: host)
  }

  /// Stops or resumes reading, so that the peer's window closes or opens.
  public func setReading(_ reading: Bool, on stream: StreamID, of host: HostID) {
    let now = fabric.now
    hosts[host.index].streams.setReading(reading, on: stream, at: now)
    requestStreams(of: host)
  }

  /// Returns the stream's two ends, or nil if it is gone.
  public func path(of stream: StreamID, of host: HostID) -> Path? { hosts[host.index].streams.path(of: stream) }

  /// Returns the number of bytes written to the stream and not yet acknowledged.
  public func queuedByteCount(of stream: StreamID, of host: HostID) -> Int {
    hosts[host.index].streams.queuedByteCount(of: stream)
  }

  /// Returns the number of streams with state, including those in TIME-WAIT.
  public func streamCount(of host: HostID) -> Int { hosts[host.index].streams.count }

  // MARK: Driving

  /// Schedules an event at the current time that drains the streams.
  private func requestStreams(of host: HostID) {
    hosts[host.index].streamCause = trace.cause
    wakeStreams(of: host, at: fabric.now)
  }

  private func wakeStreams(of host: HostID, at time: Instant) {
    guard hosts[host.index].streamWake != time else { return }
    hosts[host.index].streamWake = time
    hosts[host.index].streamEvent = fabric.schedule(.streams, UInt32(host.index), at: time)
  }

  func runStreams(_ event: Event) {
    let host = HostID(index: Int(event.index))
    guard hosts[host.index].streamEvent == event.number else { return }
    hosts[host.index].streamWake = nil
    trace.cause = hosts[host.index].streamCause
    hosts[host.index].streams.advance(to: event.time)
    drainStreams(of: host)
  }

  /// Sends the streams' segments, reports their events to the host, and schedules their next wake-up.
  func drainStreams(of host: HostID) {
    var moved = true
    while moved {
      moved = false
      while let (path, count) = nextSegment(of: host) {
        let segment = UnsafeRawBufferPointer(start: segmentBuffer.baseAddress, count: count).bytes
        let header = PacketHeader(
          source: path.local, destination: path.remote, transport: .tcp, flags: TCPHeader.flags(of: segment) ?? [],
          ecn: path.ecn)
        send(segment, header, from: host)
        moved = true
      }
      while let event = hosts[host.index].streams.nextEvent() {
        tell(host, event)
        moved = true
      }
    }
    guard let deadline = hosts[host.index].streams.wake.deadline else { return }
    // Keeps an earlier wake-up that a delegate requested meanwhile.
    if let planned = hosts[host.index].streamWake, planned <= deadline { return }
    wakeStreams(of: host, at: deadline)
  }

  private func nextSegment(of host: HostID) -> (Path, Int)? {
    var buffer = OutputSpan<UInt8>(buffer: segmentBuffer, initializedCount: 0)
    let path = hosts[host.index].streams.transmit(into: &buffer)
    let count = buffer.finalize(for: segmentBuffer)
    return path.map { ($0, count) }
  }

  private func tell(_ host: HostID, _ event: StreamTable.Event) {
    switch event {
    case .accepted(let stream, let path): hosts[host.index].delegate?.accepted(stream, path: path)
    case .stream(let stream, let event): hosts[host.index].delegate?.streamEvent(event, on: stream)
    }
  }
}
