import CallCore

/// The packets of one feedback packet, prepared for the estimators, in memory that is reused.
struct FeedbackBatch: Sendable {
  /// All packets, in the order of their numbers. Times are whole milliseconds, as libwebrtc measures them.
  private(set) var packets: [TransportSequencer.Result] = []
  /// Those that have arrived, in the order of their arrival.
  private(set) var arrivals: [TransportSequencer.Result] = []

  /// Replaces the packets by those sent since a time.
  mutating func load(_ results: [TransportSequencer.Result], since start: Instant?) {
    packets.removeAll(keepingCapacity: true)
    arrivals.removeAll(keepingCapacity: true)
    for var packet in results where packet.sent >= start ?? packet.sent {
      packet.sent = packet.sent.wholeMillisecond
      packet.arrived = packet.arrived?.wholeMillisecond
      packets.append(packet)
      if let arrived = packet.arrived { insert(packet, arrived: arrived) }
    }
  }

  private mutating func insert(_ packet: TransportSequencer.Result, arrived: Instant) {
    arrivals.append(packet)
    var index = arrivals.count - 1
    while index > 0, let previous = arrivals[index - 1].arrived,
      (arrived, packet.sent) < (previous, arrivals[index - 1].sent)
    {
      arrivals.swapAt(index, index - 1)
      index -= 1
    }
  }

  var lostCount: Int { packets.count - arrivals.count }

  /// Returns the longest time from sending to feedback, and the shortest one without the wait for the feedback; nil
  /// when nothing has arrived.
  func roundTrips(at now: Instant) -> (longest: Interval, shortest: Interval)? {
    guard let last = arrivals.last?.arrived else { return nil }
    var (longest, shortest) = (Interval(nanoseconds: .min), Interval(nanoseconds: .max))
    for packet in arrivals {
      guard let arrived = packet.arrived else { continue }
      longest = max(longest, now - packet.sent)
      shortest = min(shortest, now - packet.sent - (last - arrived))
    }
    return (longest, shortest)
  }
}
