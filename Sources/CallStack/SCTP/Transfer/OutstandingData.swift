internal import CallCore

/// The DATA chunks between the peer's cumulative TSN and the next TSN, in order.
struct OutstandingData: Sendable {
  /// The effect of a SACK.
  struct Acknowledged {
    /// The size of the chunks that it acknowledges first, with headers and padding.
    var bytes = 0
    /// The highest TSN that it acknowledges first.
    var highestTSN: Int64
    /// Whether a chunk is now known to be lost.
    var hasLoss = false
  }

  private var items: [OutstandingItem] = []
  /// The index of the first item: earlier ones are acknowledged.
  private var head = 0
  private(set) var cumulativeTSN: Int64
  /// The size of the chunks in flight with headers and padding, which the congestion window limits.
  private(set) var flightBytes = 0
  /// The size of their payload, which the receiver's window limits.
  private(set) var flightPayload = 0
  private(set) var flightCount = 0
  private(set) var markedCount = 0
  /// The number of messages that were abandoned.
  private(set) var abandonedMessages = 0
  /// No chunk before this TSN waits for a retransmission.
  private var firstMarked: Int64

  private static let missesForRetransmission = 3

  init(initialTSN: UInt32) {
    cumulativeTSN = Int64(initialTSN) - 1
    firstMarked = Int64(initialTSN)
  }

  var isEmpty: Bool { head == items.count }
  var count: Int { items.count - head }
  var nextTSN: Int64 { cumulativeTSN + Int64(count) + 1 }

  // MARK: Sending

  /// Gives a fragment the next TSN and counts it as in flight.
  mutating func insert(_ fragment: OutgoingFragment, at now: Instant) -> DataChunk {
    var item = OutstandingItem(fragment: fragment, sentAt: now)
    item.fragment.chunk.tsn = TSN.wire(nextTSN)
    items.append(item)
    addToFlight(item)
    return item.fragment.chunk
  }

  /// Returns the first chunk that waits for its retransmission and fits, and counts it as in flight again.
  mutating func nextRetransmission(maximumSize: Int, queue: inout SendQueue, at now: Instant) -> (Int64, DataChunk)? {
    guard markedCount > 0 else { return nil }
    var tsn = max(firstMarked, cumulativeTSN + 1)
    while tsn < nextTSN {
      let index = index(of: tsn)
      firstMarked = tsn
      guard items[index].lifecycle == .marked else {
        tsn += 1
        continue
      }
      if items[index].isExpired(at: now) {
        abandonMessage(at: index, queue: &queue, at: now)
        continue
      }
      guard items[index].size <= maximumSize else { return nil }
      items[index].lifecycle = .active
      items[index].acknowledgment = .none
      items[index].misses = 0
      items[index].retransmissions += 1
      items[index].missedAbove = nextTSN
      markedCount -= 1
      addToFlight(items[index])
      return (tsn, items[index].fragment.chunk)
    }
    return nil
  }

  // MARK: Acknowledgment

  /// Returns the round-trip time by the acknowledgment of a TSN, unless it was sent more than once (RFC 9260 section
  /// 6.3.1, C5).
  func roundTripTime(of tsn: Int64, at now: Instant) -> Interval? {
    guard tsn > cumulativeTSN, tsn < nextTSN else { return nil }
    let item = items[index(of: tsn)]
    return item.retransmissions > 0 || item.lifecycle == .abandoned ? nil : now - item.sentAt
  }

  /// Processes a SACK.
  ///
  /// - Parameters:
  ///   - tsn: the cumulative TSN, from the present one to the last sent.
  ///   - blocks: gap blocks in order, without overlap, as TSNs.
  mutating func acknowledge(
    to tsn: Int64, blocks: [ClosedRange<Int64>], isInFastRecovery: Bool, queue: inout SendQueue, at now: Instant
  ) -> Acknowledged {
    var result = Acknowledged(highestTSN: tsn)
    let isAdvanced = tsn > cumulativeTSN
    while cumulativeTSN < tsn, !isEmpty {
      markReceived(head, in: &result)
      items[head].fragment.chunk.payload = []
      head += 1
      cumulativeTSN += 1
    }
    if head == items.count {
      items.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 >= items.count {
      items.removeFirst(head)
      head = 0
    }
    var highest: Int64?
    for block in blocks {
      guard block.lowerBound < nextTSN else { break }
      for tsn in max(block.lowerBound, cumulativeTSN + 1)...max(block.upperBound, block.lowerBound) {
        guard tsn < nextTSN else { break }
        let index = index(of: tsn)
        if items[index].acknowledgment != .received { highest = tsn }
        markReceived(index, in: &result)
      }
    }
    result.highestTSN = highest ?? tsn
    // In fast recovery, a SACK that advances counts for all chunks it reports missing (section 7.2.4).
    let reported = blocks.last.map { min($0.upperBound, nextTSN - 1) } ?? tsn
    let limit = isInFastRecovery && isAdvanced ? reported : result.highestTSN
    var missing = cumulativeTSN + 1
    for block in blocks {
      while missing < block.lowerBound, missing <= limit, missing < nextTSN {
        let index = index(of: missing)
        if result.highestTSN >= items[index].missedAbove, items[index].acknowledgment != .received {
          result.hasLoss = miss(index, isTimeout: false, queue: &queue, at: now) || result.hasLoss
        }
        missing += 1
      }
      missing = max(missing, block.upperBound + 1)
    }
    return result
  }

  /// Marks everything that is not acknowledged for retransmission, or abandons it: T3 has expired.
  mutating func missAll(queue: inout SendQueue, at now: Instant) {
    // Abandoning adds a chunk at the end, which is acknowledged.
    for index in head..<items.count where items[index].acknowledgment != .received {
      _ = miss(index, isTimeout: true, queue: &queue, at: now)
    }
  }

  // MARK: Abandoning

  /// Abandons messages at the beginning whose lifetime is over, unless they may have arrived.
  mutating func abandonExpired(queue: inout SendQueue, at now: Instant) {
    var index = head
    while index < items.count {
      let item = items[index]
      if item.lifecycle != .abandoned {
        guard item.acknowledgment == .missing, item.isExpired(at: now) else { return }
        abandonMessage(at: index, queue: &queue, at: now)
      }
      index += 1
    }
  }

  /// Abandons the message of the last chunk, whose lifetime ended before the chunk was sent.
  mutating func abandonLast(queue: inout SendQueue, at now: Instant) {
    guard !isEmpty else { return }
    let last = items.count - 1
    removeFromFlight(items[last])
    items[last].acknowledgment = .missing
    abandonMessage(at: last, queue: &queue, at: now)
  }

  /// Returns the FORWARD TSN for the abandoned chunks that follow the cumulative TSN, or nil if there is none (RFC 3758
  /// section 3.5).
  func forwardTSN(maximumStreams: Int) -> ForwardTSNChunk? {
    var chunk = ForwardTSNChunk(newCumulativeTSN: 0)
    var places: [UInt16: Int] = [:]
    var tsn = cumulativeTSN
    for item in items[head...] {
      guard item.lifecycle == .abandoned else { break }
      let data = item.fragment.chunk
      if !data.flags.contains(.unordered) {
        if let place = places[data.stream] {
          chunk.skipped[place].ssn = data.ssn
        } else {
          guard chunk.skipped.count < maximumStreams else { break }
          places[data.stream] = chunk.skipped.count
          chunk.skipped.append(ForwardTSNChunk.SkippedStream(stream: data.stream, ssn: data.ssn))
        }
      }
      tsn += 1
    }
    guard tsn > cumulativeTSN else { return nil }
    chunk.newCumulativeTSN = TSN.wire(tsn)
    return chunk
  }

  /// Whether a FORWARD TSN would advance the peer.
  var hasAbandonedFirst: Bool { !isEmpty && items[head].lifecycle == .abandoned }

  private mutating func abandonMessage(at index: Int, queue: inout SendQueue, at now: Instant) {
    let fragment = items[index].fragment
    abandonedMessages += 1
    if queue.discardRest(of: fragment.message) {
      // The peer must not take the next message for the rest of this one: a last fragment that is never sent.
      var end = OutstandingItem(fragment: fragment, sentAt: now)
      end.fragment.chunk.payload = []
      end.fragment.chunk.flags.remove(.beginning)
      end.fragment.chunk.flags.insert(.end)
      end.fragment.chunk.tsn = TSN.wire(nextTSN)
      end.acknowledgment = .received
      items.append(end)
    }
    var first = index
    while first > head, items[first - 1].fragment.message == fragment.message { first -= 1 }
    var place = first
    while place < items.count, items[place].fragment.message == fragment.message {
      if items[place].lifecycle == .marked { markedCount -= 1 }
      items[place].lifecycle = .abandoned
      place += 1
    }
  }

  // MARK: State of a chunk

  private func index(of tsn: Int64) -> Int { head + Int(tsn - cumulativeTSN) - 1 }

  private mutating func markReceived(_ index: Int, in result: inout Acknowledged) {
    let item = items[index]
    guard item.acknowledgment != .received else { return }
    result.bytes += item.size
    if item.isInFlight { removeFromFlight(item) }
    if item.lifecycle == .marked {
      markedCount -= 1
      items[index].lifecycle = .active
    }
    items[index].acknowledgment = .received
  }

  /// Counts a chunk as missing once more, and returns whether it is now known to be lost.
  private mutating func miss(_ index: Int, isTimeout: Bool, queue: inout SendQueue, at now: Instant) -> Bool {
    if items[index].isInFlight { removeFromFlight(items[index]) }
    items[index].acknowledgment = .missing
    items[index].misses += 1
    guard items[index].lifecycle == .active, isTimeout || items[index].misses >= Self.missesForRetransmission else {
      return false
    }
    if items[index].mayBeRetransmitted {
      items[index].lifecycle = .marked
      markedCount += 1
      firstMarked = min(firstMarked, cumulativeTSN + Int64(index - head) + 1)
    } else {
      abandonMessage(at: index, queue: &queue, at: now)
    }
    return true
  }

  private mutating func addToFlight(_ item: OutstandingItem) {
    flightBytes += item.size
    flightPayload += item.fragment.chunk.payload.count
    flightCount += 1
  }

  private mutating func removeFromFlight(_ item: OutstandingItem) {
    flightBytes -= item.size
    flightPayload -= item.fragment.chunk.payload.count
    flightCount -= 1
  }
}
