package import CallCore

/// A message to be sent, with the limits of its delivery.
package struct OutgoingMessage: Sendable {
  package var stream: UInt16
  /// The payload protocol identifier.
  package var ppid: UInt32
  package var payload: [UInt8]
  /// Whether the payload counts as buffered: control messages, and the byte of an empty message, do not.
  package var countsAsBuffered: Bool
  /// Whether the message may pass others of its stream.
  package var isUnordered: Bool
  /// The number of retransmissions after which the message is abandoned, or nil for no limit.
  package var maximumRetransmissions: Int?
  /// The time at which the message is abandoned, or nil for none.
  package var expiry: Instant?
  /// The weight of the stream among others, with 256 as the normal one (RFC 8831 section 6.4). Zero is normal, too: some
  /// peers do not set it.
  package var priority: UInt16

  package init(
    stream: UInt16, ppid: UInt32, payload: [UInt8], countsAsBuffered: Bool = true, isUnordered: Bool = false,
    maximumRetransmissions: Int? = nil, expiry: Instant? = nil, priority: UInt16 = 256
  ) {
    self.stream = stream
    self.ppid = ppid
    self.payload = payload
    self.countsAsBuffered = countsAsBuffered
    self.isUnordered = isUnordered
    self.maximumRetransmissions = maximumRetransmissions
    self.expiry = expiry
    self.priority = priority
  }
}

/// A fragment of a message that was given a place among the sent ones, and not yet a TSN.
struct OutgoingFragment: Sendable {
  var chunk: DataChunk
  /// The number of the message, unique in the association.
  var message: UInt64
  var maximumRetransmissions: Int?
  var expiry: Instant?
}

/// The messages that are not yet sent, by stream.
///
/// Streams take turns by whole messages, since the fragments of two messages may not be mixed without I-DATA. A stream
/// of twice the priority gets twice the turns.
struct SendQueue: Sendable {
  private struct Stream: Sendable {
    var messages = FIFO<(id: UInt64, message: OutgoingMessage)>()
    var nextSSN: UInt16 = 0
    /// The SSN of the message that is partly sent.
    var presentSSN: UInt16 = 0
    var bufferedBytes = 0
    /// The virtual time at which the stream's next turn ends.
    var turn: UInt64 = 0
  }

  private var streams: [UInt16: Stream] = [:]
  /// The streams with messages, in the order in which they got their first.
  private var active: [UInt16] = []
  private var virtualTime: UInt64 = 0
  private var nextMessage: UInt64 = 0
  /// The stream whose first message is partly sent, and the offset of the rest.
  private var present: (stream: UInt16, offset: Int)?
  /// The size of all messages or rests of messages.
  private(set) var totalBytes = 0
  /// The streams whose buffered amount has fallen since it was last asked for, in order.
  private var drained: [UInt16] = []

  /// The least payload of a fragment, unless it is the last.
  private static let smallestFragment = 10

  var isEmpty: Bool { active.isEmpty }

  /// The user's bytes of a stream that are not yet sent.
  func bufferedBytes(of stream: UInt16) -> Int { streams[stream]?.bufferedBytes ?? 0 }

  func isEmpty(_ stream: UInt16) -> Bool { streams[stream]?.messages.isEmpty ?? true }

  mutating func append(_ message: OutgoingMessage) {
    let wasEmpty = isEmpty(message.stream)
    if wasEmpty {
      active.append(message.stream)
      streams[message.stream, default: Stream()].turn = virtualTime + Self.length(of: message)
    }
    if message.countsAsBuffered { streams[message.stream]?.bufferedBytes += message.payload.count }
    streams[message.stream]?.messages.append((nextMessage, message))
    nextMessage += 1
    totalBytes += message.payload.count
  }

  /// Returns and forgets the streams whose buffered amount has fallen.
  mutating func takeDrained() -> [UInt16] {
    guard !drained.isEmpty else { return [] }
    defer { drained = [] }
    return drained
  }

  /// Returns the next fragment with at most `maximum` bytes of payload, or nil.
  ///
  /// An expired message that is partly sent comes as a fragment too; the caller abandons it.
  mutating func next(maximum: Int, at now: Instant) -> OutgoingFragment? {
    guard maximum > 0 else { return nil }
    while present == nil {
      guard let stream = nextStream() else { return nil }
      if let expiry = streams[stream]?.messages.first?.message.expiry, expiry <= now {
        dropFirst(of: stream, sent: 0)
      } else {
        present = (stream, 0)
      }
    }
    guard let (stream, offset) = present, let (id, message) = streams[stream]?.messages.first else { return nil }
    let rest = message.payload.count - offset
    if rest > maximum, maximum < Self.smallestFragment { return nil }
    let size = min(rest, maximum)
    var flags: DataChunk.Flags = message.isUnordered ? .unordered : []
    if offset == 0 {
      flags.insert(.beginning)
      takeSSN(of: stream, isUnordered: message.isUnordered)
    }
    if size == rest { flags.insert(.end) }
    let chunk = DataChunk(
      flags: flags, tsn: 0, stream: stream, ssn: message.isUnordered ? 0 : streams[stream]?.presentSSN ?? 0,
      ppid: message.ppid, payload: message.payload[offset..<offset + size])
    if size == rest {
      dropFirst(of: stream, sent: offset)
    } else {
      present = (stream, offset + size)
      release(size, of: message)
    }
    return OutgoingFragment(
      chunk: chunk, message: id, maximumRetransmissions: message.maximumRetransmissions, expiry: message.expiry)
  }

  /// Forgets the rest of a message that is partly sent, and returns whether there was one.
  mutating func discardRest(of id: UInt64) -> Bool {
    guard let (stream, offset) = present, streams[stream]?.messages.first?.id == id else { return false }
    dropFirst(of: stream, sent: offset)
    return true
  }

  /// Forgets the messages of a stream, except the rest of one that is partly sent.
  mutating func discard(_ stream: UInt16) {
    guard var messages = streams[stream]?.messages, !messages.isEmpty else { return }
    var kept = FIFO<(id: UInt64, message: OutgoingMessage)>()
    if present?.stream == stream, let first = messages.popFirst() { kept.append(first) }
    while let (_, message) = messages.popFirst() { release(message.payload.count, of: message) }
    if kept.isEmpty { active.removeAll { $0 == stream } }
    streams[stream]?.messages = kept
  }

  /// Begins a stream anew with the first SSN, after a reset of the stream.
  mutating func resetSequence(of stream: UInt16) {
    guard isEmpty(stream) else {
      streams[stream]?.nextSSN = 0
      return
    }
    streams[stream] = nil
  }

  /// Begins all streams anew, after a restart of the peer. A message that is partly sent will be sent as a whole.
  mutating func restart() {
    if let (stream, offset) = present, let message = streams[stream]?.messages.first?.message {
      totalBytes += offset
      if message.countsAsBuffered { streams[stream]?.bufferedBytes += offset }
    }
    present = nil
    let kept = active.compactMap { id in streams[id].map { (id, $0) } }
    streams = [:]
    for (id, var stream) in kept {
      stream.nextSSN = 0
      streams[id] = stream
    }
  }

  // MARK: Turns

  private func nextStream() -> UInt16? {
    var best: (stream: UInt16, turn: UInt64)?
    for id in active {
      let turn = streams[id]?.turn ?? 0
      if best.map({ turn < $0.turn }) ?? true { best = (id, turn) }
    }
    return best?.stream
  }

  /// The length of a message's turn in virtual time.
  private static func length(of message: OutgoingMessage) -> UInt64 {
    (1 << 20) / UInt64(message.priority == 0 ? 256 : message.priority)
  }

  private mutating func takeSSN(of stream: UInt16, isUnordered: Bool) {
    guard !isUnordered, var state = streams[stream] else { return }
    state.presentSSN = state.nextSSN
    state.nextSSN &+= 1
    streams[stream] = state
  }

  /// Removes the first message of a stream, of which `sent` bytes had left.
  private mutating func dropFirst(of stream: UInt16, sent: Int) {
    guard let (_, message) = streams[stream]?.messages.popFirst() else { return }
    if present?.stream == stream { present = nil }
    // What has left is released already.
    release(message.payload.count - sent, of: message)
    virtualTime = max(virtualTime, streams[stream]?.turn ?? 0)
    if let next = streams[stream]?.messages.first {
      streams[stream]?.turn = virtualTime + Self.length(of: next.message)
    } else {
      active.removeAll { $0 == stream }
    }
  }

  private mutating func release(_ bytes: Int, of message: OutgoingMessage) {
    totalBytes -= bytes
    if message.countsAsBuffered { streams[message.stream]?.bufferedBytes -= bytes }
    if drained.last != message.stream { drained.append(message.stream) }
  }
}
