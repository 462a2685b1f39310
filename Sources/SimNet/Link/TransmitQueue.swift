internal import CallCore

/// A packet that waits for, or is in, transmission, with its schedule.
struct Transmission: BitwiseCopyable {
  var flight: UInt32
  /// The size; zero for a duplicate, which is created behind the queue and takes no time in it.
  var wireByteCount: UInt32
  /// The time at which its last bit is sent.
  var departure: Instant
  /// Propagation and jitter, drawn when it was accepted.
  var delay: Interval
  var arrival: Instant
  var mayOvertake: Bool

  /// Whether later packets may not arrive before it.
  var holdsBack: Bool { !mayOvertake && wireByteCount > 0 }
}

/// The packets not yet wholly sent, oldest first; the first is in transmission.
///
/// Departures are computed when a packet is accepted, so a packet costs one event per link. The queue keeps them for
/// its limit, and to recompute them when the rate changes.
struct TransmitQueue {
  private var ring: [Transmission] = []
  private var head = 0
  /// Bytes and packets accepted and not wholly sent.
  private(set) var byteCount = 0
  private(set) var packetCount = 0
  /// The latest arrival among packets wholly sent that may not be overtaken.
  private(set) var settledArrival = Instant.zero

  var isEmpty: Bool { head == ring.count }

  /// Removes packets sent by `now`. `latest` is the latest arrival of all packets accepted so far.
  mutating func settle(at now: Instant, latest: Instant) {
    while head < ring.count, ring[head].departure <= now {
      let sent = ring[head]
      if sent.holdsBack, sent.arrival > settledArrival { settledArrival = sent.arrival }
      count(sent, -1)
      head += 1
    }
    if head == ring.count {
      ring.removeAll(keepingCapacity: true)
      head = 0
      settledArrival = latest
    } else if head >= 64, head * 2 >= ring.count {
      ring.removeSubrange(..<head)
      head = 0
    }
  }

  mutating func append(_ transmission: Transmission) {
    ring.append(transmission)
    count(transmission, 1)
  }

  /// Returns whether a packet of `size` bytes still fits. Settle first. `wait` is its waiting time.
  func accepts(_ size: Int, limit: QueueLimit, wait: Interval) -> Bool {
    guard !isEmpty else { return true }
    switch limit {
    case .packets(let limit): return packetCount - 1 < limit
    case .bytes(let limit): return byteCount - Int(ring[head].wireByteCount) + size <= limit
    case .time(let limit): return wait <= limit
    case .unlimited: return true
    }
  }

  /// Reschedules every packet for a rate that changed from `old` to `new` at `now`; the bits of the first packet that
  /// are already sent count. Settle first.
  ///
  /// - Returns: the time at which the link becomes free.
  mutating func reschedule(at now: Instant, from old: DataRate, to new: DataRate?, order: DeliveryOrder) -> Instant {
    var departure = now
    var latest = settledArrival
    for index in head..<ring.count {
      if let new {
        let span =
          index == head
          ? new.transmissionTime(
            bits: min(old.bits(in: ring[index].departure - now), UInt64(ring[index].wireByteCount) * 8))
          : new.transmissionTime(byteCount: Int(ring[index].wireByteCount))
        departure += span
      }
      ring[index].departure = departure
      var arrival = departure + ring[index].delay
      if order == .keep, !ring[index].mayOvertake { arrival = max(arrival, latest) }
      if ring[index].holdsBack { latest = max(latest, arrival) }
      ring[index].arrival = arrival
    }
    return departure
  }

  /// The packets in the queue, oldest first.
  var transmissions: ArraySlice<Transmission> { ring[head...] }

  /// Removes everything queued.
  mutating func removeAll() {
    ring.removeAll(keepingCapacity: true)
    head = 0
    byteCount = 0
    packetCount = 0
  }

  private mutating func count(_ transmission: Transmission, _ sign: Int) {
    byteCount += sign * Int(transmission.wireByteCount)
    if transmission.wireByteCount > 0 { packetCount += sign }
  }
}

extension DataRate {
  /// Returns the number of bits sent in `span`, rounded up.
  func bits(in span: Interval) -> UInt64 {
    let product = UInt64(clamping: span.nanoseconds).multipliedFullWidth(by: UInt64(clamping: bitsPerSecond))
    guard product.high < 1_000_000_000 else { return .max }
    let (quotient, remainder) = UInt64(1_000_000_000).dividingFullWidth(product)
    return quotient + (remainder == 0 ? 0 : 1)
  }

  /// Returns the transmission time of `bits` bits, rounded up to a nanosecond.
  func transmissionTime(bits: UInt64) -> Interval {
    let product = bits.multipliedFullWidth(by: 1_000_000_000)
    let rate = UInt64(clamping: max(bitsPerSecond, 1))
    guard product.high < rate else { return Interval(nanoseconds: .max) }
    let (quotient, remainder) = rate.dividingFullWidth(product)
    return Interval(nanoseconds: Int64(clamping: quotient &+ (remainder == 0 ? 0 : 1)))
  }
}
