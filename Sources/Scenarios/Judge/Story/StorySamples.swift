internal import CallCore
internal import Statistics

/// The sampled statistics over time: round trips, loss, the delay of the jitter buffer, the rate of pictures, the estimated
/// bandwidth.
struct StorySamples {
  /// The counters of the previous sample.
  private struct Counters {
    var lost = 0.0
    var received = 0.0
    var delay = 0.0
    var emitted = 0.0
    var shown = 0.0
    var time = Instant.zero
  }

  private(set) var gauges: [RunStory.Gauge] = []
  private var counters: [String: Counters] = [:]

  mutating func add(_ report: StatsReport, of subject: String, at time: Instant) {
    if let roundTrip = report.selectedPair?.number("currentRoundTripTime") {
      add(roundTrip, .roundTrip, of: subject, at: time)
    }
    if let bandwidth = report.selectedPair?.number("availableOutgoingBitrate") {
      add(bandwidth, .bandwidth, of: subject, at: time)
    }
    func sum(_ member: String, _ kind: String? = nil) -> Double {
      report.sum(member, of: "inbound-rtp", kind: kind) ?? 0
    }
    let now = Counters(
      lost: sum("packetsLost"), received: sum("packetsReceived"), delay: sum("jitterBufferDelay", "audio"),
      emitted: sum("jitterBufferEmittedCount", "audio"), shown: sum("framesRendered"), time: time)
    let old = counters.updateValue(now, forKey: subject) ?? Counters()
    // The counters of another connection start anew.
    guard now.received >= old.received, now.emitted >= old.emitted else { return }
    let (lost, received) = (max(0, now.lost - old.lost), now.received - old.received)
    if lost + received > 0 { add(lost / (lost + received), .loss, of: subject, at: time) }
    if now.shown > 0, now.shown >= old.shown, time > old.time {
      add((now.shown - old.shown) / (Double((time - old.time).nanoseconds) / 1e9), .frameRate, of: subject, at: time)
    }
    if now.emitted > old.emitted {
      add(max(0, now.delay - old.delay) / (now.emitted - old.emitted), .bufferDelay, of: subject, at: time)
    }
  }

  private mutating func add(
    _ value: Double, _ quantity: RunStory.Gauge.Quantity, of subject: String, at time: Instant
  ) {
    let known = gauges.firstIndex { $0.subject == subject && $0.quantity == quantity }
    if known == nil { gauges.append(.init(subject: subject, quantity: quantity, points: .init())) }
    gauges[known ?? gauges.count - 1].points.add(value, at: time)
  }
}
