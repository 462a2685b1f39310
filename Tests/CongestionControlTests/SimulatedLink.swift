import CallCore

@testable import CongestionControl

/// A link with a rate, a queue, a delay and random loss.
struct SimulatedLink: ~Copyable {
  struct Packet {
    /// The index of the sender.
    let owner: Int
    let number: UInt16
    let byteCount: Int
    var enqueued: Instant
    /// The arrival at the other end, once it has left the queue.
    var arrives = Instant.zero
  }

  var rate: DataRate
  var delay: Interval
  var loss = 0.0
  /// The maximum of an additional delay that differs for each packet and does not reorder them.
  var jitter = Interval.zero
  /// The delay of the queue at which packets are dropped.
  var queueLimit = Interval.seconds(60)
  var pausedUntil = Instant.zero
  private var queue = FIFO<Packet>()
  private var flying = FIFO<Packet>()
  private(set) var queuedByteCount = 0
  private var busyUntil = Instant.zero
  private var lastArrival = Instant.zero
  private var random: RandomStream

  init(rate: DataRate, delay: Interval, seed: UInt64 = 1) {
    (self.rate, self.delay) = (rate, delay)
    random = RandomSource(seed: seed).stream("link")
  }

  /// The senders of the packets that were dropped.
  private var losses: [Int] = []

  /// Returns and forgets the number of dropped packets of a sender.
  mutating func takeLosses(of owner: Int) -> Int {
    let count = losses.count
    losses.removeAll { $0 == owner }
    return count - losses.count
  }

  var queueDelay: Interval { rate.transmissionTime(byteCount: queuedByteCount) }

  /// The time at which a packet leaves the queue or arrives; nil without one.
  var nextDue: Instant? {
    let leaves = queue.first.map { packet in
      max(max(busyUntil, packet.enqueued), pausedUntil) + rate.transmissionTime(byteCount: packet.byteCount)
    }
    guard let arrives = flying.first?.arrives else { return leaves }
    return min(arrives, leaves ?? arrives)
  }

  mutating func send(_ packet: Packet, at now: Instant) {
    guard queueDelay <= queueLimit, loss == 0 || !random.chance(loss) else {
      losses.append(packet.owner)
      return
    }
    var packet = packet
    packet.enqueued = now
    queuedByteCount += packet.byteCount
    queue.append(packet)
  }

  /// Returns the next packet that has arrived.
  mutating func receive(at now: Instant) -> Packet? {
    while var packet = queue.first {
      let start = max(max(busyUntil, packet.enqueued), pausedUntil)
      let end = start + rate.transmissionTime(byteCount: packet.byteCount)
      guard end <= now else { break }
      _ = queue.popFirst()
      queuedByteCount -= packet.byteCount
      busyUntil = end
      // A shorter delay does not reorder packets.
      let extra = jitter > .zero ? jitter.scaled(by: random.unit()) : .zero
      lastArrival = max(lastArrival, end + delay + extra)
      packet.arrives = lastArrival
      flying.append(packet)
    }
    guard let first = flying.first, first.arrives <= now else { return nil }
    return flying.popFirst()
  }
}
