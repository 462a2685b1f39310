package import CallCore

/// What is modelled of the wideband iSAC: packets of 30 or 60 ms of sound at 16 kHz, at a rate that follows the
/// bottleneck of the path (draft-ietf-avt-rtp-isac-04).
///
/// As in iSAC's channel-adaptive mode, the receiver estimates the bottleneck, and says it in its own packets, as one of
/// twelve rates. How it estimates is this model's own: see ``ISACBottleneckEstimator``.
package enum ISAC {
  /// The rates that packets can say, in bit/s: those of the public source.
  package static let rates: [Int64] = [
    10_000, 11_115, 12_355, 13_733, 15_265, 16_967, 18_860, 20_963, 23_301, 25_900, 28_789, 32_000,
  ]
  package static let leastBitrate = DataRate.bitsPerSecond(rates[0])
  package static let greatestBitrate = DataRate.bitsPerSecond(rates[rates.count - 1])
  /// The rate until the other side has said its estimate.
  package static let initialBitrate = DataRate.kilobitsPerSecond(20)
  package static let packetDurations = [PacketDuration.ms30, .ms60]

  /// Returns the index of the highest rate that is not above this one; zero if all are.
  static func index(of bitrate: Double) -> UInt8 {
    UInt8(rates.lastIndex { Double($0) <= bitrate } ?? 0)
  }

  /// Returns a rate by its index; nil for an index without one.
  package static func bitrate(at index: UInt8) -> DataRate? {
    Int(index) < rates.count ? .bitsPerSecond(rates[Int(index)]) : nil
  }
}

/// Estimates at the receiver the rate that a path carries, from the delays of packets. **The rule is this model's own.**
///
/// Each second counts by itself. Where every packet of it waited for more than 50 ms, a queue stands in the path: what
/// came in it is its capacity, of which 85 % are used, so that the queue drains. Where some packet waited for less than
/// 20 ms, the estimate rises by 8 %. Rates are those of packets with the 35 bytes of headers that iSAC assumes.
package struct ISACBottleneckEstimator: Sendable {
  private static let window = Interval.seconds(1)
  private static let queued = Interval.milliseconds(50)
  private static let free = Interval.milliseconds(20)
  private static let headerSize = 35
  /// What a shortest delay is forgotten by in a second, so that a longer path or a slower clock is no queue for ever.
  private static let forgetting = Interval.milliseconds(1)

  private var first: UInt32?
  private var start = Instant.zero
  /// The shortest delay of all packets, and of those in this second.
  private var base: Interval?
  private var shortest: Interval?
  private var (bytes, packets) = (0, 0)
  private var estimate = Double(ISAC.initialBitrate.bitsPerSecond)

  package init() {}

  /// The index of the rate to be said to the other side.
  package var index: UInt8 { ISAC.index(of: estimate) }

  /// Adds a packet.
  ///
  /// - Parameters:
  ///   - size: the size of the payload in bytes.
  ///   - timestamp: its time by the media clock of 16 kHz.
  package mutating func receive(size: Int, timestamp: UInt32, at now: Instant) {
    let reference = first ?? timestamp
    if first == nil { (first, start) = (timestamp, now) }
    if now - start >= Self.window { judge(at: now) }
    let ticks = Int64(Int32(bitPattern: timestamp &- reference))
    let delay = (now - Instant.zero) - .microseconds(ticks * 125 / 2)
    base = min(base ?? delay, delay)
    shortest = min(shortest ?? delay, delay)
    bytes += size
    packets += 1
  }

  private mutating func judge(at now: Instant) {
    let seconds = (now - start).seconds
    if let base, let shortest {
      let headers = Double(Self.headerSize * packets * 8) / seconds
      if shortest - base > Self.queued {
        estimate = min(estimate, (Double(bytes * 8) / seconds + headers) * 0.85 - headers)
      } else if shortest - base < Self.free {
        estimate *= 1.08
      }
      let range = Double(ISAC.rates[0])...Double(ISAC.rates[ISAC.rates.count - 1])
      estimate = min(max(estimate, range.lowerBound), range.upperBound)
      self.base = base + Self.forgetting.scaled(by: seconds)
    }
    (start, shortest, bytes, packets) = (now, nil, 0, 0)
  }
}
