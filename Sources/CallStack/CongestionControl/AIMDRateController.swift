import CallCore

/// Controls the rate by additive increase and multiplicative decrease (libwebrtc `AimdRateControl`,
/// draft-ietf-rmcat-gcc-02 section 5.5).
struct AIMDRateController: Sendable {
  private enum State { case hold, increase, decrease }

  /// The estimate; meaningful once ``isInitialised``.
  private(set) var rate = DataRate.megabitsPerSecond(30)
  private(set) var isInitialised = false
  /// The round-trip time, 200 ms until one is known.
  var roundTrip = Interval.milliseconds(200)
  private var minimum = AIMDRateController.floor
  private var throughput = DataRate.megabitsPerSecond(30)
  private var capacity = LinkCapacityEstimator()
  private var state = State.hold
  private var lastChange: Instant?
  private var firstThroughput: Instant?
  private var lastDecrease: DataRate?

  /// The lowest rate of a congestion controller.
  static let floor = DataRate.kilobitsPerSecond(5)
  private static let backoff = 0.85
  /// The natural logarithm of 1.08, the increase per second while the capacity is unknown.
  private static let growth = 0.0769610411361284
  private static let responseTime = Interval.milliseconds(100)
  private static let minimumIncrease = 4_000.0

  mutating func setStart(_ start: DataRate) {
    rate = start
    throughput = start
    isInitialised = true
  }

  mutating func setMinimum(_ minimum: DataRate) {
    self.minimum = minimum
    rate = max(rate, minimum)
  }

  /// Sets the estimate, such as the result of a probe.
  mutating func setEstimate(_ estimate: DataRate, at now: Instant) {
    isInitialised = true
    rate = max(estimate, minimum)
    lastChange = now
  }

  /// Returns whether an over-use may reduce the rate again: once a round trip, or at once if less than half arrives.
  func mayReduce(throughput: DataRate, at now: Instant) -> Bool {
    let interval = min(max(roundTrip, .milliseconds(10)), .milliseconds(200))
    guard let lastChange, now - lastChange < interval else { return true }
    return isInitialised && throughput < rate * 0.5
  }

  /// Returns whether an over-use may halve the rate while the throughput is unknown.
  func mayHalve(at now: Instant) -> Bool {
    isInitialised && mayReduce(throughput: rate * 0.5 - .bitsPerSecond(1), at: now)
  }

  /// Takes a state of the path and the acknowledged rate.
  mutating func update(_ usage: BandwidthUsage, acknowledged: DataRate?, at now: Instant) {
    initialise(acknowledged, at: now)
    if let acknowledged { throughput = acknowledged }
    // An over-use reduces the rate even before the first estimate, and yields one.
    guard isInitialised || usage == .overusing else { return }
    switch usage {
    case .normal:
      if state == .hold {
        lastChange = now
        state = .increase
      }
    case .overusing: state = .decrease
    case .underusing: state = .hold
    }
    switch state {
    case .hold: rate = max(rate, minimum)
    case .increase: increase(at: now)
    case .decrease: decrease(at: now)
    }
  }

  /// Takes the throughput as the first estimate when there is no start rate and 5 s have passed.
  private mutating func initialise(_ acknowledged: DataRate?, at now: Instant) {
    guard !isInitialised, let acknowledged else { return }
    if let firstThroughput {
      guard now - firstThroughput > .seconds(5) else { return }
      rate = acknowledged
      isInitialised = true
    } else {
      firstThroughput = now
    }
  }

  private mutating func increase(at now: Instant) {
    if capacity.isExceeded(by: throughput) { capacity.reset() }
    // The limit lies above small throughputs, because uneven output of an encoder must not hold the rate down.
    let limit = throughput * 1.5 + .kilobitsPerSecond(10)
    if rate < limit {
      let elapsed = lastChange.map { (now - $0).seconds }
      let step: DataRate
      if capacity.estimate != nil {
        step = DataRate(nearMaximumIncrease * (elapsed ?? 0))
      } else {
        let growth = ElementaryFunctions.exp(Self.growth * min(elapsed ?? 1, 1))
        step = max(rate * (growth - 1), .kilobitsPerSecond(1))
      }
      rate = min(rate + step, limit)
    }
    rate = max(rate, minimum)
    lastChange = now
  }

  private mutating func decrease(at now: Instant) {
    // A little less than what arrives, so that the queue drains.
    var reduced = throughput * Self.backoff
    if reduced > .kilobitsPerSecond(5) { reduced -= .kilobitsPerSecond(5) }
    if reduced > rate, let capacity = capacity.estimate { reduced = capacity * Self.backoff }
    if isInitialised, throughput < rate { lastDecrease = rate - min(reduced, rate) }
    rate = max(min(rate, reduced), minimum)
    if capacity.isMissed(by: throughput) { capacity.reset() }
    isInitialised = true
    capacity.overused(at: throughput)
    // The rate is held until the queue has drained.
    state = .hold
    lastChange = now
  }

  /// The additive increase in bits per second and second: about one packet in two response times.
  var nearMaximumIncrease: Double {
    let frame = rate.bits / 30 / 8
    let packet = frame / max(1, (frame / 1_200).rounded(.up))
    let response = (roundTrip + Self.responseTime) * 2
    return max(Self.minimumIncrease, packet * 8 / response.seconds)
  }

  /// The expected time between two decreases.
  var bandwidthPeriod: Interval {
    guard let lastDecrease else { return .seconds(3) }
    let seconds = lastDecrease.bits / nearMaximumIncrease
    return min(max(Interval.seconds(1).scaled(by: seconds), .seconds(2)), .seconds(50))
  }
}
