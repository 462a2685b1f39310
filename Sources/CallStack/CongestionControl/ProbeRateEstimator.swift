import CallCore

/// Measures the rate that a probe achieved (libwebrtc `ProbeBitrateEstimator`).
struct ProbeRateEstimator: Sendable {
  /// The packets of a cluster that have arrived.
  private struct Arrivals: BitwiseCopyable {
    let cluster: ProbeCluster
    var count = 0
    var byteCount = 0
    var firstSent = Instant(nanoseconds: .max)
    var lastSent = Instant(nanoseconds: .min)
    var lastSentSize = 0
    var firstArrived = Instant(nanoseconds: .max)
    var lastArrived = Instant(nanoseconds: .min)
    var firstArrivedSize = 0
  }

  private var clusters = SlidingWindow<Arrivals>(capacity: 16)

  private static let minimumShare = 0.8
  private static let maximumInterval = Interval.seconds(1)
  private static let maximumRatio = 2.0
  /// The ratio of arrival to sending rate below which the path is saturated, and the used share of its rate.
  private static let unsaturatedRatio = 0.9
  private static let utilisation = 0.95

  /// Expects the packets of a cluster.
  mutating func expect(_ cluster: ProbeCluster) { clusters.append(Arrivals(cluster: cluster)) }

  /// Takes a packet of a cluster, and returns the rate achieved so far; nil while it is unknown or implausible.
  mutating func add(_ packet: TransportSequencer.Result, of id: Int32, arrived: Instant) -> DataRate? {
    guard let index = (0..<clusters.count).last(where: { clusters[$0].cluster.id == id }) else { return nil }
    var arrivals = clusters[index]
    if arrivals.count > 0, arrived - arrivals.lastArrived > .seconds(1) {
      arrivals = Arrivals(cluster: arrivals.cluster)
    }
    arrivals.firstSent = min(arrivals.firstSent, packet.sent)
    if packet.sent > arrivals.lastSent { (arrivals.lastSent, arrivals.lastSentSize) = (packet.sent, packet.byteCount) }
    if arrived < arrivals.firstArrived {
      (arrivals.firstArrived, arrivals.firstArrivedSize) = (arrived, packet.byteCount)
    }
    arrivals.lastArrived = max(arrivals.lastArrived, arrived)
    arrivals.byteCount += packet.byteCount
    arrivals.count += 1
    clusters[index] = arrivals
    return Self.rate(of: arrivals)
  }

  private static func rate(of arrivals: Arrivals) -> DataRate? {
    let cluster = arrivals.cluster
    guard arrivals.count >= Int(Double(cluster.packetCount) * minimumShare),
      arrivals.byteCount >= Int(Double(cluster.byteCount) * minimumShare)
    else { return nil }
    let sendTime = arrivals.lastSent - arrivals.firstSent
    let arrivalTime = arrivals.lastArrived - arrivals.firstArrived
    let times = Interval(nanoseconds: 1)...maximumInterval
    guard times.contains(sendTime), times.contains(arrivalTime) else { return nil }
    // The time of sending the last packet, and of receiving the first one, lies outside of the intervals.
    let sendRate = DataRate(byteCount: arrivals.byteCount - arrivals.lastSentSize, per: sendTime)
    let arrivalRate = DataRate(byteCount: arrivals.byteCount - arrivals.firstArrivedSize, per: arrivalTime)
    // A buffer on the path has been emptied at once.
    guard arrivalRate.bits <= maximumRatio * sendRate.bits else { return nil }
    if arrivalRate.bits < unsaturatedRatio * sendRate.bits { return arrivalRate * utilisation }
    return min(sendRate, arrivalRate)
  }
}
