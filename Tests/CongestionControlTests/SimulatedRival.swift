import CallCore

@testable import CongestionControl

/// A TCP sender with slow start and congestion avoidance, as libwebrtc's `FakeTcpCrossTraffic`.
struct SimulatedRival {
  private var window = 10.0
  private var threshold = Double.infinity
  private var number: UInt16 = 0
  /// The packets in flight, by number, with the time of sending.
  private var flying = FIFO<(number: UInt16, sent: Instant)>()
  private var received: Set<UInt16> = []
  /// The acknowledgments on their way back.
  private var acknowledgments = FIFO<(arrives: Instant, number: UInt16)>()
  private var lastLoss = Instant.zero
  let returnDelay: Interval
  private(set) var receivedByteCount = 0

  private static let timeout = Interval.seconds(1)

  init(returnDelay: Interval) { self.returnDelay = returnDelay }

  mutating func receive(_ packet: SimulatedLink.Packet) {
    receivedByteCount += packet.byteCount
    acknowledgments.append((packet.arrives + returnDelay, packet.number))
  }

  mutating func run(into link: inout SimulatedLink, at now: Instant) {
    while let first = acknowledgments.first, first.arrives <= now {
      _ = acknowledgments.popFirst()
      received.insert(first.number)
      window += window < threshold ? 1 : 1 / window
    }
    while let first = flying.first {
      if received.remove(first.number) == nil {
        guard now - first.sent > Self.timeout else { break }
        if now - lastLoss > .milliseconds(200) {
          lastLoss = now
          threshold = max(2, window / 2)
          window = threshold
        }
      }
      _ = flying.popFirst()
    }
    while Double(flying.count) < window {
      number &+= 1
      flying.append((number, now))
      link.send(SimulatedLink.Packet(owner: -1, number: number, byteCount: 1_200, enqueued: now), at: now)
    }
  }
}
