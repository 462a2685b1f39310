package import CallCore

/// The identifier of a stream of a host; never reused while the host runs.
public struct StreamID: Hashable, Sendable, BitwiseCopyable {
  let slot: UInt32
  let generation: UInt32
}

/// The streams of one host: listening ports, demultiplexing by addresses and ports, refusal of everything else.
package struct StreamTable: SansIO, ~Copyable {
  package enum Event: Hashable, Sendable {
    /// A listening port has a new, connected stream. `path.remote` is the peer.
    case accepted(StreamID, Path)
    case stream(StreamID, StreamEvent)
  }

  private struct Entry {
    var connection: StreamConnection
    var isAccepting: Bool
    /// The host that sends the other end's segments; nil before the first one.
    var peer: HostID?
  }

  private struct Flow: Hashable {
    var local: Endpoint
    var remote: Endpoint

    init(_ path: Path) {
      local = path.local
      remote = path.remote
    }
  }

  private struct Refusal {
    var header: TCPHeader
    var path: Path
  }

  /// The ports given to outgoing connections (RFC 6335 section 6).
  package static let ephemeralPorts: ClosedRange<UInt16> = 49_152...65_535

  package private(set) var configuration: StreamConfiguration
  package private(set) var malformedCount = 0
  private var entries: [Entry?] = []
  private var generations: [UInt32] = []
  private var free: [UInt32] = []
  private var slots: [Flow: UInt32] = [:]
  private var listeners: Set<UInt16> = []
  private var refusals = FIFO<Refusal>()
  private var events = FIFO<Event>()
  /// Slots touched since the last drain, oldest first.
  private var touched = FIFO<UInt32>()
  private var random: RandomStream

  package init(configuration: StreamConfiguration = StreamConfiguration(), random: consuming RandomStream) {
    self.configuration = configuration
    self.random = random
  }

  /// Limits segments, with the larger IP header and the TCP header, to an interface's MTU (RFC 9293 section 3.7.1).
  mutating func fitSegments(into mtu: Int) {
    configuration.maximumSegmentSize = max(min(configuration.maximumSegmentSize, mtu - 60), 1)
  }

  /// The number of streams with state, including lingering ones.
  package var count: Int { slots.count }

  // MARK: The application's side

  /// Accepts connections to `port` on any address of the host.
  package mutating func listen(on port: UInt16) throws(StreamError) {
    guard listeners.insert(port).inserted else { throw .portInUse }
  }

  /// Refuses further connections; existing ones stay.
  package mutating func stopListening(on port: UInt16) { listeners.remove(port) }

  /// Opens a stream.
  ///
  /// - Parameter local: the local address; port 0 requests an ephemeral one.
  package mutating func connect(
    from local: Endpoint, to remote: Endpoint, at now: Instant
  ) throws(StreamError) -> StreamID {
    var path = Path(local: local, remote: remote)
    if local.port == 0 {
      path.local.port = try ephemeralPort(for: path)
    } else if slots[Flow(path)] != nil {
      throw .portInUse
    }
    let sequence = UInt32(truncatingIfNeeded: random.next())
    let connection = StreamConnection(
      connecting: path, initialSequence: sequence, configuration: configuration, at: now)
    return insert(Entry(connection: connection, isAccepting: false))
  }

  private mutating func ephemeralPort(for path: Path) throws(StreamError) -> UInt16 {
    let range = Self.ephemeralPorts
    let count = UInt64(range.count)
    let start = random.uniform(below: count)
    for offset in 0..<count {
      var candidate = path
      candidate.local.port = range.lowerBound + UInt16((start + offset) % count)
      if slots[Flow(candidate)] == nil { return candidate.local.port }
    }
    throw .portsExhausted
  }

  package func path(of id: StreamID) -> Path? { isLive(id) ? entries[Int(id.slot)]?.connection.path : nil }

  package func state(of id: StreamID) -> StreamConnection.State? {
    isLive(id) ? entries[Int(id.slot)]?.connection.state : nil
  }

  /// Returns the host at the stream's other end, or nil before its first segment.
  func peer(of id: StreamID) -> HostID? { isLive(id) ? entries[Int(id.slot)]?.peer : nil }

  /// Returns the number of bytes written and not yet acknowledged; 0 for a stream that is gone.
  package func queuedByteCount(of id: StreamID) -> Int {
    isLive(id) ? entries[Int(id.slot)]?.connection.queuedByteCount ?? 0 : 0
  }

  package mutating func send(_ bytes: [UInt8], on id: StreamID, at now: Instant) throws(StreamError) {
    guard isLive(id) else { throw .closed }
    touched.append(id.slot)
    try entries[Int(id.slot)]?.connection.send(bytes, at: now)
  }

  /// Closes this direction after everything queued is sent. Does nothing if the stream is gone.
  package mutating func close(_ id: StreamID, at now: Instant) {
    guard isLive(id) else { return }
    touched.append(id.slot)
    entries[Int(id.slot)]?.connection.close(at: now)
  }

  package mutating func abort(_ id: StreamID, at now: Instant) {
    guard isLive(id) else { return }
    touched.append(id.slot)
    entries[Int(id.slot)]?.connection.abort(at: now)
  }

  package mutating func setReading(_ reading: Bool, on id: StreamID, at now: Instant) {
    guard isLive(id) else { return }
    touched.append(id.slot)
    entries[Int(id.slot)]?.connection.setReading(reading, at: now)
  }

  /// Cuts the host's power: every stream and listener disappears without a message to any peer.
  package mutating func reset() {
    for slot in entries.indices where entries[slot] != nil { remove(UInt32(slot)) }
    listeners.removeAll()
    refusals.removeAll()
    events.removeAll()
    touched.removeAll()
  }

  // MARK: Driving

  /// - Parameter sender: the host that sent the segment, independent of address translation by NATs.
  mutating func receive(_ datagram: RawSpan, on path: Path, from sender: HostID, at now: Instant) {
    receive(datagram, on: path, at: now)
    if let slot = slots[Flow(path)] { entries[Int(slot)]?.peer = sender }
  }

  package mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    guard let header = TCPHeader(parsing: datagram), let size = TCPHeader.size(of: datagram) else {
      malformedCount &+= 1
      return
    }
    let isSyn = header.flags.intersection([.syn, .ack, .rst]) == .syn
    if let slot = slots[Flow(path)] {
      // A new connection may reuse the ports of one in TIME-WAIT (RFC 9293 section 3.10.7.4).
      let isReopening = isSyn && entries[Int(slot)]?.connection.state == .timeWait
      if !isReopening {
        entries[Int(slot)]?.connection.receive(datagram, on: path, at: now)
        touched.append(slot)
        return
      }
      drain(slot)
      if entries[Int(slot)] != nil { remove(slot) }
    }
    if isSyn, listeners.contains(path.local.port),
      let connection = StreamConnection(
        accepting: datagram, path: Path(local: path.local, remote: path.remote),
        initialSequence: UInt32(truncatingIfNeeded: random.next()), configuration: configuration, at: now)
    {
      _ = insert(Entry(connection: connection, isAccepting: true))
    } else if !header.flags.contains(.rst) {
      refuse(header, payload: datagram.byteCount - size, path)
    }
  }

  /// Answers a segment for no connection with an RST (RFC 9293 section 3.10.7.1).
  private mutating func refuse(_ header: TCPHeader, payload: Int, _ path: Path) {
    let back = Path(local: path.local, remote: path.remote)
    let hasAck = header.flags.contains(.ack)
    let occupied =
      payload + (header.flags.contains(.syn) ? 1 : 0) + (header.flags.contains(.fin) ? 1 : 0)
    let reply = TCPHeader(
      path: back, sequence: hasAck ? header.acknowledgment : SequenceNumber(0),
      acknowledgment: hasAck ? SequenceNumber(0) : header.sequence + occupied,
      flags: hasAck ? .rst : [.rst, .ack], window: 0)
    refusals.append(Refusal(header: reply, path: back))
  }

  package mutating func advance(to now: Instant) {
    for slot in entries.indices {
      guard let deadline = entries[slot]?.connection.wake.deadline, deadline <= now else { continue }
      entries[slot]?.connection.advance(to: now)
      touched.append(UInt32(slot))
    }
  }

  package mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    if let refusal = refusals.popFirst() {
      refusal.header.encode(into: &buffer)
      return refusal.path
    }
    while let slot = touched.first {
      if let path = entries[Int(slot)]?.connection.transmit(into: &buffer) { return path }
      _ = touched.popFirst()
      drain(slot)
    }
    return nil
  }

  package mutating func nextEvent() -> Event? { events.popFirst() }

  package var wake: Wake {
    var wake = Wake.never
    for slot in entries.indices {
      if let next = entries[slot]?.connection.wake { wake = .earliest(wake, next) }
    }
    return wake
  }

  /// Passes a connection's events on, and removes it when it has finished.
  private mutating func drain(_ slot: UInt32) {
    let id = StreamID(slot: slot, generation: generations[Int(slot)])
    while let event = entries[Int(slot)]?.connection.nextEvent() {
      if entries[Int(slot)]?.isAccepting == true {
        // A connection that fails before it is established was never offered to the application.
        guard event == .connected, let path = entries[Int(slot)]?.connection.path else { continue }
        entries[Int(slot)]?.isAccepting = false
        events.append(.accepted(id, path))
      } else {
        events.append(.stream(id, event))
      }
    }
    if entries[Int(slot)]?.connection.isFinished == true { remove(slot) }
  }

  // MARK: Slots

  private func isLive(_ id: StreamID) -> Bool {
    Int(id.slot) < entries.count && generations[Int(id.slot)] == id.generation && entries[Int(id.slot)] != nil
  }

  private mutating func insert(_ entry: Entry) -> StreamID {
    let slot: UInt32
    if let reused = free.popLast() {
      slot = reused
      entries[Int(reused)] = entry
    } else {
      slot = UInt32(entries.count)
      entries.append(entry)
      generations.append(0)
    }
    slots[Flow(entry.connection.path)] = slot
    touched.append(slot)
    return StreamID(slot: slot, generation: generations[Int(slot)])
  }

  private mutating func remove(_ slot: UInt32) {
    if let path = entries[Int(slot)]?.connection.path { slots[Flow(path)] = nil }
    entries[Int(slot)] = nil
    generations[Int(slot)] &+= 1
    free.append(slot)
  }
}
