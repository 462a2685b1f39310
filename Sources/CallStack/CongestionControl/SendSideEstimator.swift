import CallCore

/// Combines the estimates from delay and loss with the limits of the receiver, the round trip and the configuration
/// (libwebrtc `SendSideBandwidthEstimation`).
struct SendSideEstimator: Sendable {
  private(set) var lossBased = LossBasedEstimator()
  private(set) var lossState = LossBasedEstimator.State.delayBased
  private var backoff = RoundTripBackoff()
  private var stableRate = StableRateTracker()
  private var current = DataRate.zero
  private var reason = EstimateChange.Reason.configured
  private(set) var minimum = AIMDRateController.floor
  private var maximum = SendSideEstimator.ceiling
  private var receiverLimit: DataRate?
  private var delayLimit: DataRate?
  private var delayReason = EstimateChange.Reason.delayIncrease
  private var acknowledged: DataRate?
  private(set) var roundTrip = Interval.zero
  /// The loss of the last report in 1/256.
  private(set) var lossFraction = 0
  private var lostCount = 0
  private var expectedCount = 0
  private var firstReport: Instant?
  private var lastReport: Instant?
  private var lastDecrease: Instant?
  private var hasDecreased = false
  /// The minima of the last second, rising.
  private var minima = SlidingWindow<(time: Instant, rate: DataRate)>(capacity: 128)

  private static let ceiling = DataRate.megabitsPerSecond(1_000)
  private static let startPhase = Interval.seconds(2)
  private static let minimumReport = 20
  private static let increaseInterval = Interval.seconds(1)
  private static let decreaseInterval = Interval.milliseconds(300)
  /// The time for which a report is used: 1.2 times the longest interval of RTCP.
  private static let reportTime = Interval.seconds(6)
  private static let (lowLoss, highLoss) = (0.02, 0.1)

  /// The estimate.
  var target: DataRate { max(minimum, receiverLimit.map { min(current, $0) } ?? current) }
  /// The rule that limits the estimate.
  var targetReason: EstimateChange.Reason {
    if let receiverLimit, receiverLimit < current { return .remb }
    return reason
  }
  var stable: DataRate { stableRate.rate }
  /// Whether the round trip is so long that the estimate is reduced.
  var isBackingOff: Bool { backoff.isActive }

  // MARK: Configuration

  mutating func setLimits(minimum: DataRate, maximum: DataRate?) {
    self.minimum = max(minimum, AIMDRateController.floor)
    self.maximum = max(maximum ?? Self.ceiling, self.minimum)
    lossBased.minimum = self.minimum
    lossBased.maximum = self.maximum
  }

  mutating func setStart(_ rate: DataRate, at now: Instant) {
    stableRate.setStart(rate)
    setTarget(rate, .configured, at: now)
  }

  /// Sets the target, without the limit of the last estimate from delay.
  mutating func setTarget(_ rate: DataRate, _ reason: EstimateChange.Reason, at now: Instant) {
    delayLimit = nil
    update(to: rate, reason, at: now)
    minima.removeAll()
  }

  /// Forgets the path. The observations of loss stay, as in libwebrtc.
  mutating func changeRoute() {
    let old = self
    self = SendSideEstimator()
    (lossBased, backoff, stableRate, acknowledged) = (old.lossBased, old.backoff, old.stableRate, old.acknowledged)
    setLimits(minimum: .zero, maximum: nil)
  }

  // MARK: Inputs

  mutating func sent(at now: Instant) { backoff.sent(at: now) }

  /// Takes the shortest round trip of a feedback packet's packets.
  mutating func setPropagation(_ roundTrip: Interval, at now: Instant) { backoff.feedback(roundTrip, at: now) }

  mutating func setRoundTrip(_ roundTrip: Interval) {
    if roundTrip > .zero { self.roundTrip = roundTrip }
  }

  /// Takes the limit of a REMB; zero is none.
  mutating func setReceiverLimit(_ rate: DataRate, at now: Instant) {
    receiverLimit = rate > .zero ? rate : nil
    applyLimits(at: now)
  }

  mutating func setDelayEstimate(_ rate: DataRate, _ reason: EstimateChange.Reason, at now: Instant) {
    stableRate.delayEstimate(rate, at: now)
    delayLimit = rate > .zero ? rate : nil
    delayReason = reason
    applyLimits(at: now)
  }

  mutating func setAcknowledged(_ rate: DataRate?) {
    acknowledged = rate
    if let rate { lossBased.setAcknowledged(rate) }
  }

  mutating func receive(_ packets: [TransportSequencer.Result], isApplicationLimited: Bool, at now: Instant) {
    lossBased.update(packets, delayEstimate: delayLimit, isApplicationLimited: isApplicationLimited)
    update(at: now)
  }

  /// Takes the packets that were expected and lost since the last report.
  mutating func receiveReport(lost: Int, expected: Int, at now: Instant) {
    if firstReport == nil { firstReport = now }
    guard expected > 0 else { return }
    expectedCount += expected
    lostCount += lost
    guard expectedCount >= Self.minimumReport else { return }
    hasDecreased = false
    lossFraction = min(max(lostCount, 0) * 256 / expectedCount, 255)
    (lostCount, expectedCount) = (0, 0)
    lastReport = now
    update(at: now)
  }

  // MARK: Estimate

  mutating func update(at now: Instant) {
    if backoff.isActive { return backOff(at: now) }
    if lossFraction == 0, firstReport.map({ now - $0 < Self.startPhase }) ?? true, startUp(at: now) { return }
    remember(at: now)
    guard let lastReport else { return applyLimits(at: now) }
    if let estimate = lossBased.estimate {
      lossState = lossBased.state
      let reason: EstimateChange.Reason =
        switch lossState {
        case .delayBased: delayReason
        case .increasing: .lossRecovery
        case .decreasing: .lossBased
        }
      return update(to: estimate, reason, at: now)
    }
    guard now - lastReport < Self.reportTime else { return applyLimits(at: now) }
    updateFromReports(at: now)
  }

  private mutating func backOff(at now: Instant) {
    guard lastDecrease.map({ now - $0 >= RoundTripBackoff.interval }) ?? true, current > RoundTripBackoff.floor
    else { return applyLimits(at: now) }
    lastDecrease = now
    let rate = max(current * RoundTripBackoff.factor, RoundTripBackoff.floor)
    stableRate.drop(to: rate, at: now)
    update(to: rate, .roundTripBackoff, at: now)
  }

  /// Trusts the receiver and the delay at the start, while there is no loss, so that probes take effect.
  private mutating func startUp(at now: Instant) -> Bool {
    var rate = current
    var reason = self.reason
    if let receiverLimit, receiverLimit > rate { (rate, reason) = (receiverLimit, .remb) }
    if let delayLimit, delayLimit > rate { (rate, reason) = (delayLimit, delayReason) }
    guard rate != current else { return false }
    minima.removeAll()
    minima.append((now, current))
    update(to: rate, reason, at: now)
    return true
  }

  private mutating func updateFromReports(at now: Instant) {
    let loss = Double(lossFraction) / 256
    if loss <= Self.lowLoss {
      // 8 % above the lowest rate of the last second, and a little more to leave very low rates.
      let rate = DataRate((minima.first?.rate ?? current).bits * 1.08 + 0.5) + .kilobitsPerSecond(1)
      return update(to: rate, .reportedLossRecovery, at: now)
    }
    let interval = Self.decreaseInterval + roundTrip
    if loss > Self.highLoss, !hasDecreased, lastDecrease.map({ now - $0 >= interval }) ?? true {
      lastDecrease = now
      hasDecreased = true
      return update(to: current * (Double(512 - lossFraction) / 512), .reportedLoss, at: now)
    }
    applyLimits(at: now)
  }

  /// Keeps the lowest rate of the last second at the front.
  private mutating func remember(at now: Instant) {
    while let first = minima.first, now - first.time + .milliseconds(1) > Self.increaseInterval { minima.removeFirst() }
    while let last = minima.last, current <= last.rate { minima.removeLast() }
    minima.append((now, current))
  }

  private mutating func applyLimits(at now: Instant) { update(to: current, reason, at: now) }

  private mutating func update(to rate: DataRate, _ reason: EstimateChange.Reason, at now: Instant) {
    var (rate, reason) = (rate, reason)
    if let delayLimit, delayLimit < rate { (rate, reason) = (delayLimit, delayReason) }
    if maximum < rate { (rate, reason) = (maximum, .configured) }
    if rate < minimum { (rate, reason) = (minimum, reason) }
    current = rate
    self.reason = reason
    stableRate.target(current, acknowledged: acknowledged, at: now)
  }
}
