internal import CallCore

/// The received TSNs, and the time of their acknowledgment (RFC 9260 section 6.2).
struct DataTracker: Sendable {
  /// The need for a SACK.
  private enum Need { case none, afterPacket, delayed, now }

  /// The highest TSN up to which everything was received or skipped.
  private(set) var cumulativeTSN: Int64
  /// The ranges of TSNs above the cumulative one, in order, with gaps between them.
  private var blocks: [ClosedRange<Int64>] = []
  private var duplicates: [UInt32] = []
  private var need = Need.none
  private var hasReceived = false
  private var delayTimer = SCTPTimer()

  /// The gap offsets have sixteen bits.
  private static let window: Int64 = 65_535
  private static let reportedBlocks = 20
  private static let reportedDuplicates = 20

  init(initialTSN: UInt32) { cumulativeTSN = Int64(initialTSN) - 1 }

  var deadline: Instant? { delayTimer.deadline }
  var hasGaps: Bool { !blocks.isEmpty }

  /// Returns the extended number of a TSN, or nil if it is too far ahead.
  func extended(_ raw: UInt32) -> Int64? {
    let tsn = TSN.extend(raw, near: cumulativeTSN)
    return tsn - cumulativeTSN <= Self.window ? tsn : nil
  }

  /// Whether a TSN would raise the cumulative one.
  func isNext(_ tsn: Int64) -> Bool { tsn == cumulativeTSN + 1 }

  /// Records a TSN and returns whether it is new.
  mutating func observe(_ tsn: Int64, isImmediate: Bool) -> Bool {
    var isNew = true
    if tsn <= cumulativeTSN {
      isNew = false
    } else if isNext(tsn) {
      cumulativeTSN = tsn
      absorbFirstBlock()
    } else {
      isNew = insert(tsn)
    }
    if !isNew {
      if duplicates.count < Self.reportedDuplicates { duplicates.append(TSN.wire(tsn)) }
      need = .now
    }
    // The first DATA chunk, one after a gap, and one with the I bit are acknowledged at once.
    if !blocks.isEmpty || isImmediate || !hasReceived { need = .now }
    hasReceived = true
    wantAcknowledgment()
    return isNew
  }

  /// Skips everything up to a TSN (RFC 3758 section 3.6), and returns whether that raised the cumulative TSN.
  mutating func skip(to tsn: Int64) -> Bool {
    guard tsn > cumulativeTSN else {
      // The last SACK may have been lost.
      need = .now
      return false
    }
    cumulativeTSN = tsn
    if let kept = blocks.firstIndex(where: { $0.upperBound > tsn }) {
      blocks.removeFirst(kept)
      if blocks[0].lowerBound <= tsn { blocks[0] = tsn + 1...blocks[0].upperBound }
      absorbFirstBlock()
    } else {
      blocks.removeAll()
    }
    wantAcknowledgment()
    return true
  }

  /// Asks for a SACK without delay.
  mutating func acknowledgeNow() { need = .now }

  /// Ends a received packet: its DATA is acknowledged at once or within `delay`, at least every second packet
  /// (section 6.2).
  mutating func endPacket(delay: Interval, at now: Instant) {
    guard need == .afterPacket else { return }
    need = .delayed
    delayTimer.start(delay, at: now)
  }

  mutating func advance(to now: Instant) {
    if delayTimer.expiresOnce(at: now) { need = .now }
  }

  /// Returns whether a SACK is due; with DATA in the same packet, one that is delayed is due too.
  func wantsAcknowledgment(beside data: Bool) -> Bool { need == .now || (data && need != .none) }

  /// Returns the SACK of the present state, with at most `capacity` bytes.
  mutating func acknowledge(receiverWindow: UInt32, capacity: Int) -> SACKChunk {
    need = .none
    delayTimer.stop()
    var sack = SACKChunk(cumulativeTSN: TSN.wire(cumulativeTSN), receiverWindow: receiverWindow)
    let room = max(0, (capacity - 16) / 4)
    for block in blocks.prefix(min(Self.reportedBlocks, room)) {
      sack.gapBlocks.append(
        SACKChunk.GapBlock(
          start: UInt16(clamping: block.lowerBound - cumulativeTSN),
          end: UInt16(clamping: block.upperBound - cumulativeTSN)))
    }
    sack.duplicates = Array(duplicates.prefix(room - sack.gapBlocks.count))
    duplicates.removeAll(keepingCapacity: true)
    return sack
  }

  private mutating func wantAcknowledgment() {
    switch need {
    case .none: need = .afterPacket
    case .delayed: need = .now
    case .afterPacket, .now: break
    }
  }

  private mutating func absorbFirstBlock() {
    guard let first = blocks.first, first.lowerBound == cumulativeTSN + 1 else { return }
    cumulativeTSN = first.upperBound
    blocks.removeFirst()
  }

  /// Adds a TSN above the cumulative one to the blocks, and returns false if it is in one.
  private mutating func insert(_ tsn: Int64) -> Bool {
    // The first block that holds the TSN, touches it or lies after it.
    var (low, high) = (0, blocks.count)
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].upperBound + 1 < tsn { low = middle + 1 } else { high = middle }
    }
    guard low < blocks.count else {
      blocks.append(tsn...tsn)
      return true
    }
    let block = blocks[low]
    if block.contains(tsn) { return false }
    if block.upperBound + 1 == tsn {
      if low + 1 < blocks.count, blocks[low + 1].lowerBound == tsn + 1 {
        blocks[low] = block.lowerBound...blocks[low + 1].upperBound
        blocks.remove(at: low + 1)
      } else {
        blocks[low] = block.lowerBound...tsn
      }
    } else if block.lowerBound == tsn + 1 {
      blocks[low] = tsn...block.upperBound
    } else {
      blocks.insert(tsn...tsn, at: low)
    }
    return true
  }
}
