package import CallCore
package import RTP

/// Sends packets at a rate instead of in bursts.
///
/// Audio is not paced. Every other packet adds to a debt, which decreases at the pacing rate; while the debt is larger
/// than a burst, packets wait. Audio adds to it where the estimate of the bandwidth includes audio. The packets of a probe
/// leave at its rate, whatever the debt.
package struct Pacer: ~Copyable {
  package struct Settings: Hashable, Sendable {
    /// The pacing rate.
    package var rate: DataRate
    /// The size of a burst, as time at the pacing rate.
    package var burst = Interval.milliseconds(40)
    /// The maximum size of a burst in bytes at any rate.
    package var burstLimit = 63_000
    /// The maximum time in the queue: the rate rises when it would be longer.
    package var queueLimit = Interval.seconds(2)
    /// The maximum debt, as time at the pacing rate.
    package var debtLimit = Interval.milliseconds(500)
    /// The rate up to which padding fills gaps; zero sends none.
    package var paddingRate = DataRate.bitsPerSecond(0)

    package init(rate: DataRate) { self.rate = rate }
  }

  package private(set) var settings: Settings
  private var queue = PacketQueue()
  /// Whether audio adds to the debt, as in libwebrtc where its packets have transport-wide numbers.
  package var countsAudio = false
  /// Whether padding can be the packet that a probe waits for. In libwebrtc it must be one with media; where paused video leaves
  /// only audio, none is large enough.
  package var paddingBeginsProbes = false
  /// The time at which the debt reaches zero.
  private var settled = Instant.zero
  /// The time at which padding is due, unless packets wait.
  private var paddingSettled = Instant.zero
  /// Whether a packet of media has been sent, which padding must follow.
  private var hasSentMedia = false
  private var probes = ProbeSender()
  /// Whether the current slot of a probe found nothing to send; the next packet ends this.
  private var isProbeStarved = false
  /// Whether padding can be made: a probe or a gap without packets asks for it.
  private var canPad = false

  /// The padding that is sent at once, as time at the padding rate.
  private static let paddingTime = Interval.milliseconds(5)

  package init(settings: Settings) { self.settings = settings }

  package var isEmpty: Bool { queue.count == 0 }
  package var count: Int { queue.count }
  /// The bytes of the packets that wait.
  package var byteCount: Int { queue.byteCount }

  // MARK: Rates

  /// Changes the pacing rate. The debt in bytes stays the same.
  package mutating func setRate(_ rate: DataRate, at now: Instant) {
    guard rate.bitsPerSecond > 0, rate != settings.rate else { return }
    settled = Self.scaled(settled, from: settings.rate, to: rate, at: now)
    settings.rate = rate
  }

  /// Changes the padding rate. Padding also needs calls of ``pad(at:write:)``.
  package mutating func setPaddingRate(_ rate: DataRate, at now: Instant) {
    guard rate != settings.paddingRate else { return }
    if rate > .zero, settings.paddingRate > .zero {
      paddingSettled = Self.scaled(paddingSettled, from: settings.paddingRate, to: rate, at: now)
    }
    settings.paddingRate = rate
  }

  private static func scaled(_ settled: Instant, from old: DataRate, to new: DataRate, at now: Instant) -> Instant {
    now + max(.zero, settled - now).scaled(by: old.bits / new.bits)
  }

  /// Sends a probe, from the next packet on that is large enough.
  package mutating func probe(_ cluster: ProbeCluster) { probes.append(cluster) }

  // MARK: Packets

  /// Queues the packet that `write` writes.
  ///
  /// - Returns: false when `write` returns nil.
  package mutating func enqueue(
    _ priority: PacketPriority, at now: Instant, write: (inout OutputSpan<UInt8>) -> OutgoingPacket?
  ) -> Bool {
    let before = queue.byteCount
    guard queue.append(priority, at: now, write: write) else { return false }
    probes.enqueued(byteCount: queue.byteCount - before)
    isProbeStarved = false
    return true
  }

  /// Queues padding for a probe or a gap, when it is due now. Call it before ``next(into:at:)``.
  ///
  /// - Parameter write: writes a packet with about the given number of bytes of padding, or returns nil when it cannot.
  package mutating func pad(at now: Instant, write: (Int, inout OutputSpan<UInt8>) -> OutgoingPacket?) {
    canPad = true
    probes.expire(at: now)
    var wanted = paddingByteCount(at: now)
    while wanted > 0 {
      let before = queue.byteCount
      guard queue.append(.padding, at: now, write: { write(wanted, &$0) }), queue.byteCount > before else {
        // Asked again after the time that the padding would have taken.
        if probes.cluster != nil { isProbeStarved = true } else { addPaddingDebt(wanted, at: now) }
        canPad = false
        return
      }
      isProbeStarved = false
      if paddingBeginsProbes { probes.enqueued(byteCount: queue.byteCount - before) }
      wanted -= queue.byteCount - before
    }
  }

  /// The number of bytes of padding that are due.
  private func paddingByteCount(at now: Instant) -> Int {
    guard hasSentMedia else { return 0 }
    if probes.cluster != nil {
      guard let deadline = probes.deadline, now >= deadline else { return 0 }
      // A small packet at the start of a probe marks the time from which its rate is measured.
      if probes.sentByteCount == 0, queue.isEmpty(.padding) { return 1 }
      return queue.count == 0 ? probes.wantedByteCount : 0
    }
    guard queue.count == 0, settings.paddingRate > .zero, now >= max(settled, paddingSettled) else { return 0 }
    return max(1, settings.paddingRate.byteCount(in: Self.paddingTime))
  }

  /// Appends the next packet that may be sent now; returns nil when there is none.
  package mutating func next(into output: inout OutputSpan<UInt8>, at now: Instant) -> QueuedPacket? {
    probes.expire(at: now)
    let isProbing = probes.deadline.map { now >= $0 } ?? false
    if isProbing, queue.count == 0 {
      probes.endSlot()
      isProbeStarved = true
    }
    guard let deadline, now >= deadline else { return nil }
    let rate = effectiveRate(at: now)
    // The small packet at the start of a probe.
    let isMark = isProbing && probes.sentByteCount == 0 && !queue.isEmpty(.padding)
    guard var packet = isMark ? queue.popFirst(.padding, into: &output) : queue.popFirst(into: &output) else {
      return nil
    }
    if isProbing || (packet.priority == .audio && probes.isActive) {
      packet.probe = probes.cluster?.id
      probes.sent(byteCount: packet.byteCount, at: now)
    }
    if packet.priority != .padding { hasSentMedia = true }
    guard packet.priority != .audio || countsAudio else { return packet }
    settled = min(max(settled, now) + rate.transmissionTime(byteCount: packet.byteCount), now + settings.debtLimit)
    addPaddingDebt(packet.byteCount, at: now)
    return packet
  }

  private mutating func addPaddingDebt(_ byteCount: Int, at now: Instant) {
    guard settings.paddingRate > .zero else { return }
    let time = settings.paddingRate.transmissionTime(byteCount: byteCount)
    paddingSettled = min(max(paddingSettled, now) + time, now + settings.debtLimit)
  }

  /// The time at which the next packet, or padding, may be sent; nil when there is nothing to send.
  package var deadline: Instant? {
    if queue.count > 0 {
      if !queue.isEmpty(.audio) || Defect.retransmissionsUnpaced.isPlanted { return .zero }
      let paced = settled - min(settings.burst, settings.rate.transmissionTime(byteCount: settings.burstLimit))
      return probes.deadline ?? paced
    }
    guard canPad, hasSentMedia else { return nil }
    if let probe = probes.deadline { return isProbeStarved ? nil : probe }
    return settings.paddingRate > .zero ? max(settled, paddingSettled) : nil
  }

  /// Removes all waiting packets, and passes each to `visit`: nothing can be sent, padding neither, until it is asked for
  /// again.
  package mutating func removeAll(_ visit: (QueuedPacket) -> Void) {
    queue.removeAll(visit)
    canPad = false
  }

  /// Returns the pacing rate, or a higher one that keeps the waiting time within its limit.
  private func effectiveRate(at now: Instant) -> DataRate {
    let left = max(.milliseconds(1), settings.queueLimit - queue.meanAge(at: now))
    let bits = Double(queue.byteCount * 8) / left.seconds
    return max(settings.rate, .bitsPerSecond(Int64(bits)))
  }
}
