/// A message of the peer, whole.
package struct SCTPMessage: Hashable, Sendable {
  package var stream: UInt16
  /// The payload protocol identifier.
  package var ppid: UInt32
  package var payload: [UInt8]

  package init(stream: UInt16, ppid: UInt32, payload: [UInt8]) {
    self.stream = stream
    self.ppid = ppid
    self.payload = payload
  }
}

/// Puts the fragments of messages together, in order per stream or as they are complete (RFC 9260 sections 6.6 and
/// 6.9).
struct ReassemblyQueue: Sendable {
  /// An operation that waits for the reset of its stream.
  private enum Deferred {
    case data(DataChunk, Int64)
    case skip([ForwardTSNChunk.SkippedStream], Int64)
  }

  /// A reset of streams that waits for data sent before it (RFC 6525 section 5.2.2).
  private struct DeferredReset {
    var lastTSN: Int64
    /// The streams; all if there is none.
    var streams: [UInt16]
    var operations: [Deferred] = []

    func covers(_ stream: UInt16) -> Bool { streams.isEmpty || streams.contains(stream) }
  }

  /// The memory that a fragment takes beside its payload. It counts, so that tiny fragments cannot take more memory than
  /// large ones.
  static let fragmentOverhead = 64

  private let capacity: Int
  private var streams: [UInt16: IncomingStream] = [:]
  private var unordered = UnorderedFragments()
  private var deferredReset: DeferredReset?
  /// The size of the waiting fragments with their overhead.
  private(set) var queuedBytes = 0
  private var complete: [SCTPMessage] = []

  init(capacity: Int) { self.capacity = capacity }

  var isFull: Bool { queuedBytes >= capacity }

  /// Above nine tenths only data that fills a gap is taken.
  var isAboveWatermark: Bool { queuedBytes >= watermark }

  /// The window that is advertised to the peer.
  var receiverWindow: UInt32 { UInt32(clamping: max(0, watermark - queuedBytes)) }

  private var watermark: Int { capacity / 10 * 9 }

  /// Returns and removes the complete messages, in order.
  mutating func takeMessages() -> [SCTPMessage] {
    guard !complete.isEmpty else { return [] }
    defer { complete = [] }
    return complete
  }

  /// Takes a fragment that has not been received before.
  mutating func add(_ chunk: DataChunk, tsn: Int64) {
    if let reset = deferredReset, tsn > reset.lastTSN, reset.covers(chunk.stream) {
      queuedBytes += Self.size(of: chunk)
      deferredReset?.operations.append(.data(chunk, tsn))
      return
    }
    queuedBytes += Self.size(of: chunk)
    if chunk.flags.contains(.unordered) {
      queuedBytes -= unordered.add(chunk, tsn: tsn, to: &complete)
    } else {
      queuedBytes -= streams[chunk.stream, default: IncomingStream()].add(chunk, tsn: tsn, to: &complete)
    }
  }

  /// Skips abandoned messages (RFC 3758 section 3.6).
  mutating func skip(_ skipped: [ForwardTSNChunk.SkippedStream], to tsn: Int64) {
    if let reset = deferredReset, tsn > reset.lastTSN {
      deferredReset?.operations.append(.skip(skipped, tsn))
      // A skip has no payload, but takes memory too.
      queuedBytes += Self.fragmentOverhead
      return
    }
    for entry in skipped {
      queuedBytes -= streams[entry.stream, default: IncomingStream()].skip(to: entry.ssn, messages: &complete)
    }
    queuedBytes -= unordered.skip(to: tsn)
  }

  /// Waits with the data of streams that comes after `lastTSN` until they are reset.
  mutating func deferReset(of streams: [UInt16], after lastTSN: Int64) {
    if deferredReset == nil { deferredReset = DeferredReset(lastTSN: lastTSN, streams: streams) }
  }

  /// Resets streams, or all if none is given, and processes what waited for that.
  mutating func reset(_ ids: [UInt16]) {
    let deferred = deferredReset
    deferredReset = nil
    // Fragments that wait in a stream at its reset can never be delivered.
    if ids.isEmpty {
      for id in streams.keys.sorted() { queuedBytes -= streams[id]?.size ?? 0 }
      streams = [:]
    } else {
      for id in ids { queuedBytes -= streams.removeValue(forKey: id)?.size ?? 0 }
    }
    for operation in deferred?.operations ?? [] {
      switch operation {
      case .data(let chunk, let tsn):
        queuedBytes -= Self.size(of: chunk)
        add(chunk, tsn: tsn)
      case .skip(let skipped, let tsn):
        queuedBytes -= Self.fragmentOverhead
        skip(skipped, to: tsn)
      }
    }
  }

  static func size(of chunk: DataChunk) -> Int { chunk.payload.count + fragmentOverhead }
}
