import CallCore

/// Measures the rate at which packets arrive (libwebrtc `RobustThroughputEstimator`).
///
/// It is the lower of the rates of sending and of arrival in a window. The largest gap between arrivals counts as the
/// second largest, because a pause of the network says nothing about its capacity.
struct ThroughputEstimator: Sendable {
  private struct Packet: BitwiseCopyable {
    let sent: Instant
    let arrived: Instant
    let byteCount: Int
  }

  private var window = SlidingWindow<Packet>(capacity: 501)
  /// The latest time of sending of the packets that have left the window.
  private var lastDiscarded: Instant?

  /// The number of packets that a rate needs.
  private static let minimumCount = 10
  /// The window holds this many packets and this much time, unless that takes too long or too many.
  private static let windowCount = 20
  private static let windowTime = Interval.seconds(1)
  private static let maximumTime = Interval.seconds(5)
  private static let maximumCount = 500
  private static let maximumReordering = Interval.seconds(1)

  /// Adds a packet that has arrived.
  mutating func add(_ packet: TransportSequencer.Result, arrived: Instant) {
    window.append(
      Packet(sent: packet.sent, arrived: arrived, byteCount: packet.byteCount + packet.unnumberedByteCount))
    var index = window.count - 1
    while index > 0, window[index].arrived < window[index - 1].arrived {
      window.swapAt(index, index - 1)
      index -= 1
    }
    guard let last = window.last, last.arrived - arrived <= Self.maximumReordering else {
      window.removeAll()
      lastDiscarded = nil
      return
    }
    while let first = window.first, isOutside {
      lastDiscarded = max(lastDiscarded ?? first.sent, first.sent)
      window.removeFirst()
    }
  }

  private var isOutside: Bool {
    guard let first = window.first, let last = window.last else { return false }
    let time = last.arrived - first.arrived
    return window.count > Self.maximumCount || time > Self.maximumTime
      || (window.count > Self.windowCount && time > Self.windowTime)
  }

  /// The throughput; nil while too few packets have arrived.
  var rate: DataRate? {
    guard window.count >= Self.minimumCount, let first = window.first, let last = window.last else { return nil }
    var (largestGap, secondGap) = (Interval.zero, Interval.zero)
    var (arrivedSize, sentSize, sentCount) = (0, 0, 0)
    var (firstSent, lastSent, lastSentSize) = (Instant(nanoseconds: .max), Instant(nanoseconds: .min), 0)
    for index in 0..<window.count {
      let packet = window[index]
      if index > 0 {
        let gap = packet.arrived - window[index - 1].arrived
        if gap > largestGap {
          (largestGap, secondGap) = (gap, largestGap)
        } else {
          secondGap = max(secondGap, gap)
        }
      }
      arrivedSize += packet.byteCount
      // A reordered packet may have left long before those that are in the window.
      if let lastDiscarded, packet.sent < lastDiscarded { continue }
      if packet.sent > lastSent { (lastSent, lastSentSize) = (packet.sent, packet.byteCount) }
      firstSent = min(firstSent, packet.sent)
      sentSize += packet.byteCount
      sentCount += 1
    }
    // The time between the first and the last of N packets is that of N - 1.
    let arrivalTime = max(last.arrived - first.arrived - largestGap + secondGap, .milliseconds(1))
    let arrivalRate = DataRate(byteCount: arrivedSize - first.byteCount, per: arrivalTime)
    guard sentCount >= Self.minimumCount else { return arrivalRate }
    let sendTime = max(lastSent - firstSent, .milliseconds(1))
    return min(DataRate(byteCount: sentSize - lastSentSize, per: sendTime), arrivalRate)
  }
}
