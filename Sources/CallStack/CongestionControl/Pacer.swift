package import CallCore
package import RTP

/// Lets packets leave at a rate instead of in bursts.
///
/// Audio is not paced and not counted: it leaves at once. All else adds to a debt that is paid off at the pacing rate; while
/// the debt is larger than a burst, packets wait.
package struct Pacer: ~Copyable {
  package struct Settings: Hashable, Sendable {
    /// How fast debt is paid off.
    package var rate: DataRate
    /// What may leave at once, as time at the pacing rate.
    package var burst = Interval.milliseconds(40)
    /// What may leave at once, however high the rate is.
    package var burstLimit = 63_000
    /// How long packets wait at most: the rate rises when it would be longer.
    package var queueLimit = Interval.seconds(2)
    /// The most that packets that are not held back can run up.
    package var debtLimit = Interval.milliseconds(500)

    package init(rate: DataRate) { self.rate = rate }
  }

  package private(set) var settings: Settings
  private var queue = PacketQueue()
  /// When all debt will be paid off.
  private var settled = Instant.zero

  package init(settings: Settings) { self.settings = settings }

  package var isEmpty: Bool { queue.count == 0 }
  package var count: Int { queue.count }

  /// Changes the pacing rate, from now on: what is owed stays the same number of bytes.
  package mutating func setRate(_ rate: DataRate, at now: Instant) {
    guard rate.bitsPerSecond > 0, rate != settings.rate else { return }
    let owed = max(.zero, settled - now)
    settled = now + owed.scaled(by: Double(settings.rate.bitsPerSecond) / Double(rate.bitsPerSecond))
    settings.rate = rate
  }

  /// Adds what `write` writes to the packets that wait.
  ///
  /// - Returns: false when it writes nothing.
  package mutating func enqueue(
    _ priority: PacketPriority, at now: Instant, write: (inout OutputSpan<UInt8>) -> OutgoingPacket?
  ) -> Bool {
    queue.append(priority, at: now, write: write)
  }

  /// Appends the next packet that may leave now; nil when none may.
  package mutating func next(into output: inout OutputSpan<UInt8>, at now: Instant) -> QueuedPacket? {
    if !queue.isEmpty(.audio) { return queue.popFirst(into: &output) }
    guard let deadline, now >= deadline else { return nil }
    let rate = effectiveRate(at: now)
    guard let packet = queue.popFirst(into: &output) else { return nil }
    settled = min(max(settled, now) + rate.transmissionTime(byteCount: packet.byteCount), now + settings.debtLimit)
    return packet
  }

  /// When the next packet may leave; nil when none waits.
  package var deadline: Instant? {
    guard queue.count > 0 else { return nil }
    if !queue.isEmpty(.audio) || Defect.retransmissionsUnpaced.isPlanted { return .zero }
    return settled - min(settings.burst, settings.rate.transmissionTime(byteCount: settings.burstLimit))
  }

  /// Throws away what waits, and tells what it was.
  package mutating func removeAll(_ visit: (QueuedPacket) -> Void) { queue.removeAll(visit) }

  /// The pacing rate, or the one at which nothing waits longer than it may.
  private func effectiveRate(at now: Instant) -> DataRate {
    let left = max(.milliseconds(1), settings.queueLimit - queue.meanAge(at: now))
    let bits = Double(queue.byteCount * 8) / left.seconds
    return max(settings.rate, .bitsPerSecond(Int64(bits)))
  }
}
