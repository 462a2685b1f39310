internal import CallCore

/// Decides which DATA chunks leave, and when: retransmission, congestion and receiver windows (RFC 9260 sections 6 and
/// 7).
struct TransmissionQueue: Sendable {
  private(set) var outstanding: OutstandingData
  private(set) var congestion: CongestionControl
  /// The retransmission timer T3.
  private(set) var timer: SCTPTimer
  /// The peer's last advertised window.
  private(set) var peerWindow: Int
  /// The number of packets with chunks that were sent before, and the size of these chunks.
  private(set) var retransmittedPackets = 0
  private(set) var retransmittedBytes = 0

  private let settings: SCTPSettings
  private let supportsForwardTSN: Bool
  /// One packet of lost chunks leaves without regard to the congestion window (section 7.2.4).
  private var isFastRetransmitDue = false
  private var isForwardTSNDue = false
  /// The number of abandoned messages at the last FORWARD TSN.
  private var reportedAbandonments = 0
  /// The number of packets with DATA that may still leave before the next event.
  private var burst = 0

  /// More chunks would not fit the gap offsets of a SACK.
  private static let maximumOutstanding = 32_768

  init(settings: SCTPSettings, initialTSN: UInt32, peerWindow: UInt32, supportsForwardTSN: Bool) {
    self.settings = settings
    self.peerWindow = Int(peerWindow)
    self.supportsForwardTSN = supportsForwardTSN
    outstanding = OutstandingData(initialTSN: initialTSN)
    congestion = CongestionControl(
      mtu: settings.mtu, initialPackets: settings.initialWindowPackets, minimumPackets: settings.minimumWindowPackets,
      receiverWindow: Int(peerWindow))
    timer = SCTPTimer(maximumBackoff: settings.maximumBackoff)
  }

  /// Allows another burst of packets. Everything that happens does so.
  mutating func renewBurst() { burst = settings.maximumBurst }

  // MARK: Acknowledgment

  /// The effect of a SACK on the association.
  struct Effect {
    var roundTripTime: Interval?
    /// Whether something was acknowledged, which shows that the peer is reachable.
    var isProgress = false
  }

  /// Processes a SACK, or returns nil if it is outdated or acknowledges what was not sent.
  mutating func receive(_ sack: SACKChunk, queue: inout SendQueue, timeout: Interval, at now: Instant) -> Effect? {
    let before = outstanding.cumulativeTSN
    let tsn = TSN.extend(sack.cumulativeTSN, near: before)
    guard tsn >= before, tsn < outstanding.nextTSN else { return nil }
    let flight = outstanding.flightBytes
    var effect = Effect()
    if sack.gapBlocks.isEmpty { effect.roundTripTime = outstanding.roundTripTime(of: tsn, at: now) }
    congestion.leaveFastRecovery(at: tsn)
    let acknowledged = outstanding.acknowledge(
      to: tsn, blocks: Self.blocks(sack, above: tsn), isInFastRecovery: congestion.isInFastRecovery, queue: &queue,
      at: now)
    peerWindow = Int(sack.receiverWindow)
    effect.isProgress = acknowledged.bytes > 0
    if tsn > before {
      timer.stop()
      congestion.advance(acknowledged: acknowledged.bytes, flight: flight)
    }
    if acknowledged.hasLoss {
      if !congestion.isInFastRecovery, outstanding.markedCount > 0 { isFastRetransmitDue = true }
      congestion.lose(highestOutstanding: outstanding.nextTSN - 1)
    }
    isForwardTSNDue = outstanding.hasAbandonedFirst
    if !outstanding.isEmpty, !timer.isRunning { timer.start(timeout, at: now) }
    return effect
  }

  /// The gap blocks as TSNs in order and without overlap, whatever the peer sent.
  private static func blocks(_ sack: SACKChunk, above tsn: Int64) -> [ClosedRange<Int64>] {
    var blocks: [ClosedRange<Int64>] = []
    for block in sack.gapBlocks.sorted(by: { $0.start < $1.start }) where 1 <= block.start && block.start <= block.end {
      let (start, end) = (tsn + Int64(block.start), tsn + Int64(block.end))
      if let last = blocks.last, start <= last.upperBound + 1 {
        blocks[blocks.count - 1] = last.lowerBound...max(last.upperBound, end)
      } else {
        blocks.append(start...end)
      }
    }
    return blocks
  }

  /// Returns whether T3 has expired. Everything in flight then counts as lost (section 6.3.3).
  mutating func advance(to now: Instant, queue: inout SendQueue) -> Bool {
    guard timer.expires(at: now) else { return false }
    if outstanding.isEmpty {
      timer.stop()
      return false
    }
    congestion.timeOut()
    isFastRetransmitDue = false
    outstanding.missAll(queue: &queue, at: now)
    isForwardTSNDue = outstanding.hasAbandonedFirst
    return true
  }

  // MARK: Sending

  /// Whether messages were abandoned since the last FORWARD TSN.
  var hasNewAbandonments: Bool { outstanding.abandonedMessages != reportedAbandonments }

  /// Returns the FORWARD TSN that is due, if any.
  mutating func nextForwardTSN(capacity: Int, queue: inout SendQueue, timeout: Interval, at now: Instant)
    -> ForwardTSNChunk?
  {
    guard supportsForwardTSN, capacity >= 12 else { return nil }
    outstanding.abandonExpired(queue: &queue, at: now)
    if hasNewAbandonments {
      reportedAbandonments = outstanding.abandonedMessages
      isForwardTSNDue = true
    }
    guard isForwardTSNDue else { return nil }
    isForwardTSNDue = false
    guard let chunk = outstanding.forwardTSN(maximumStreams: (capacity - 8) / 4) else { return nil }
    if !timer.isRunning { timer.start(timeout, at: now) }
    return chunk
  }

  /// Whether a packet with DATA may leave now.
  func wantsToSend(_ queue: borrowing SendQueue) -> Bool {
    if isFastRetransmitDue, outstanding.markedCount > 0 { return true }
    guard burst > 0 else { return false }
    if outstanding.markedCount > 0 { return budget > 0 }
    return !queue.isEmpty && mayBeginNewPacket
  }

  /// Begins a packet, and returns the way its chunks are chosen.
  mutating func beginPacket(_ queue: borrowing SendQueue) -> PacketPlan? {
    guard wantsToSend(queue) else { return nil }
    let isFastRetransmit = isFastRetransmitDue && outstanding.markedCount > 0
    isFastRetransmitDue = false
    if isFastRetransmit {
      return PacketPlan(ignoresWindow: true, hasNewData: false)
    }
    return PacketPlan(ignoresWindow: false, hasNewData: mayBeginNewPacket)
  }

  /// The choice of chunks for one packet.
  struct PacketPlan {
    var ignoresWindow: Bool
    var hasNewData: Bool
    var hasRetransmission = false
    var isEmpty = true
  }

  /// Returns the next chunk for a packet in which `capacity` bytes are free, or nil.
  mutating func next(
    _ plan: inout PacketPlan, capacity: Int, queue: inout SendQueue, timeout: Interval, at now: Instant
  ) -> DataChunk? {
    let room = (plan.ignoresWindow ? capacity : min(capacity, budget)) & ~3
    if let (tsn, chunk) = outstanding.nextRetransmission(maximumSize: room, queue: &queue, at: now) {
      if plan.ignoresWindow, tsn == outstanding.cumulativeTSN + 1 { timer.stop() }
      if !plan.hasRetransmission { retransmittedPackets += 1 }
      plan.hasRetransmission = true
      retransmittedBytes += chunk.encodedSize
      return sent(chunk, in: &plan, timeout: timeout, at: now)
    }
    guard plan.hasNewData, outstanding.markedCount == 0, outstanding.count < Self.maximumOutstanding else { return nil }
    while let fragment = queue.next(maximum: room - DataChunk.headerSize, at: now) {
      let chunk = outstanding.insert(fragment, at: now)
      if let expiry = fragment.expiry, expiry <= now {
        outstanding.abandonLast(queue: &queue, at: now)
        continue
      }
      return sent(chunk, in: &plan, timeout: timeout, at: now)
    }
    return nil
  }

  private mutating func sent(
    _ chunk: DataChunk, in plan: inout PacketPlan, timeout: Interval, at now: Instant
  ) -> DataChunk {
    if !timer.isRunning { timer.start(timeout, at: now) }
    if plan.isEmpty, !plan.ignoresWindow { burst -= 1 }
    plan.isEmpty = false
    var chunk = chunk
    // With a small window the peer's SACK must not be delayed (RFC 7053).
    if congestion.window < settings.immediateAcknowledgmentPackets * settings.mtu { chunk.flags.insert(.immediate) }
    return chunk
  }

  /// The bytes that the windows leave.
  private var budget: Int {
    let congestionBudget = max(0, congestion.window - outstanding.flightBytes)
    let receiverBudget = max(0, peerWindow - outstanding.flightPayload)
    // With nothing in flight one packet probes a closed window (section 6.1, A).
    if outstanding.flightCount == 0 { return min(congestionBudget, max(receiverBudget, settings.mtu)) }
    return min(congestionBudget, receiverBudget)
  }

  /// Whether new data may begin a packet: a large window is not filled with small fragments.
  private var mayBeginNewPacket: Bool {
    let isLarge = congestion.window >= settings.avoidFragmentationPackets * settings.mtu
    return budget >= (isLarge ? settings.mtu : DataChunk.headerSize + 4)
  }
}
