package import CallCore
package import RTP

/// Sends packets at a rate instead of in bursts.
///
/// Audio is neither paced nor counted. Every other packet adds to a debt, which decreases at the pacing rate; while the
/// debt is larger than a burst, packets wait.
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

    package init(rate: DataRate) { self.rate = rate }
  }

  package private(set) var settings: Settings
  private var queue = PacketQueue()
  /// The time at which the debt reaches zero.
  private var settled = Instant.zero

  package init(settings: Settings) { self.settings = settings }

  package var isEmpty: Bool { queue.count == 0 }
  package var count: Int { queue.count }

  /// Changes the pacing rate. The debt in bytes stays the same.
  package mutating func setRate(_ rate: DataRate, at now: Instant) {
    guard rate.bitsPerSecond > 0, rate != settings.rate else { return }
    let owed = max(.zero, settled - now)
    settled = now + owed.scaled(by: Double(settings.rate.bitsPerSecond) / Double(rate.bitsPerSecond))
    settings.rate = rate
  }

  /// Queues the packet that `write` writes.
  ///
  /// - Returns: false when `write` returns nil.
  package mutating func enqueue(
    _ priority: PacketPriority, at now: Instant, write: (inout OutputSpan<UInt8>) -> OutgoingPacket?
  ) -> Bool {
    queue.append(priority, at: now, write: write)
  }

  /// Appends the next packet that may be sent now; returns nil when there is none.
  package mutating func next(into output: inout OutputSpan<UInt8>, at now: Instant) -> QueuedPacket? {
    if !queue.isEmpty(.audio) { return queue.popFirst(into: &output) }
    guard let deadline, now >= deadline else { return nil }
    let rate = effectiveRate(at: now)
    guard let packet = queue.popFirst(into: &output) else { return nil }
    settled = min(max(settled, now) + rate.transmissionTime(byteCount: packet.byteCount), now + settings.debtLimit)
    return packet
  }

  /// The time at which the next packet may be sent; nil when the queue is empty.
  package var deadline: Instant? {
    guard queue.count > 0 else { return nil }
    if !queue.isEmpty(.audio) || Defect.retransmissionsUnpaced.isPlanted { return .zero }
    return settled - min(settings.burst, settings.rate.transmissionTime(byteCount: settings.burstLimit))
  }

  /// Removes all waiting packets, and passes each to `visit`.
  package mutating func removeAll(_ visit: (QueuedPacket) -> Void) { queue.removeAll(visit) }

  /// Returns the pacing rate, or a higher one that keeps the waiting time within its limit.
  private func effectiveRate(at now: Instant) -> DataRate {
    let left = max(.milliseconds(1), settings.queueLimit - queue.meanAge(at: now))
    let bits = Double(queue.byteCount * 8) / left.seconds
    return max(settings.rate, .bitsPerSecond(Int64(bits)))
  }
}
