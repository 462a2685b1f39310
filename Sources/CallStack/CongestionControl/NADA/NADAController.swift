package import CallCore

/// Network-Assisted Dynamic Adaptation (RFC 8698): a rate that keeps the congestion of the path, a sum of queuing delay
/// and loss, near a reference that is higher for lower rates.
///
/// All is calculated at the sender, as section 5.3 allows, from the feedback about packets that ``BandwidthEstimator``
/// takes too. There are no probes; ECN is not used.
package struct NADAController: Sendable {
  package struct Settings: Hashable, Sendable {
    package var minimumRate = DataRate.kilobitsPerSecond(150)
    /// The rate until something is known of the path; nil begins at the minimum, as RFC 8698 does.
    package var startRate: DataRate? = .kilobitsPerSecond(300)
    /// The largest rate, by which flows that share a link are weighted (RMAX).
    package var maximumRate = DataRate.kilobitsPerSecond(1_500)
    /// The pacing rate as a multiple of the reference rate.
    package var pacingFactor = 1.1
    package var parameters = NADAParameters()

    package init() {}
  }

  package private(set) var settings: Settings
  package private(set) var target: TargetRate
  /// The congestion signal of the last update (x_curr).
  package private(set) var congestion = Interval.zero
  /// Whether the last update was an accelerated ramp-up.
  package private(set) var isRampingUp = true
  /// The rate that NADA calculates (r_ref).
  private var reference = DataRate.zero
  private var isStarted = false
  private var routeStart: Instant?
  private var lastProcess: Instant?
  private var lastUpdate: Instant?
  private var lastFeedback: Instant?
  private var lastSent: Instant?
  private var lastTimeout: Instant?
  private var delay = NADADelayFilter()
  private var loss = NADALossFilter()
  private var throughput = NADAThroughput()
  private var stable = StableRateTracker()
  /// The times of the packets whose queuing delay was above that of an empty path, and the delay of the last packet.
  private var lastQueued: Instant?
  private var queuing = Interval.zero
  private var receiverLimit: DataRate?
  private var streams = StreamLimits()
  private var queuedByteCount = 0
  private var batch = FeedbackBatch()
  private var changes = FIFO<EstimateChange>()

  private static let processInterval = Interval.milliseconds(25)
  /// The time without feedback after which the rate is halved, and again after each such time.
  private static let timeout = Interval.seconds(1)
  /// The share of the rate that the sender's queue may change at most (RFC 8698 section 5.2.2).
  private static let queueShare = 0.05

  package init(settings: Settings = Settings()) {
    self.settings = settings
    target = .initial
  }

  // MARK: Outputs

  /// Returns the next change of the rate.
  package mutating func nextChange() -> EstimateChange? { changes.popFirst() }

  /// The time of the next regular update; nil before the start.
  package var deadline: Instant? { lastProcess.map { $0 + Self.processInterval } }

  /// The acknowledged rate (r_recv); nil while it is unknown.
  package var acknowledgedRate: DataRate? { throughput.rate(over: settings.parameters.window) }

  // MARK: Configuration

  /// Notes whether the transport can send. The first time begins the estimation.
  package mutating func setAvailable(_ isAvailable: Bool, at now: Instant) {
    guard isAvailable, !isStarted else { return }
    isStarted = true
    lastProcess = now
    restart(at: now)
  }

  /// Changes the limits and, unless it is nil, the start rate, which replaces the rate.
  package mutating func setRates(minimum: DataRate, start: DataRate?, maximum: DataRate?, at now: Instant) {
    settings.minimumRate = minimum
    if let maximum { settings.maximumRate = maximum }
    guard isStarted else {
      settings.startRate = start ?? settings.startRate
      return
    }
    set(start ?? reference, .configured, at: now)
  }

  /// Notes that packets take another path, of which nothing is known.
  package mutating func changeRoute(start: DataRate?, at now: Instant) {
    settings.startRate = start
    routeStart = now
    delay = NADADelayFilter()
    loss = NADALossFilter()
    throughput = NADAThroughput()
    (congestion, queuing, lastQueued, lastUpdate, lastFeedback) = (.zero, .zero, nil, nil, nil)
    if isStarted { restart(at: now) }
  }

  private mutating func restart(at now: Instant) {
    let start = settings.startRate ?? minimumRate
    stable.setStart(start)
    set(start, .configured, at: now)
  }

  /// The minimum rate (RMIN). Without probes nothing would tell that a stream which was paused has room again: there is always
  /// enough for all.
  private var minimumRate: DataRate {
    max(max(settings.minimumRate, AIMDRateController.floor), max(streams.minimum, streams.resumption))
  }

  /// Sets the use of the bandwidth by the streams, whenever it changes. Their maximum, where it is known, is the largest rate.
  package mutating func setStreams(_ limits: StreamLimits, at now: Instant) {
    streams = limits
    if limits.maximum > .zero { settings.maximumRate = limits.maximum }
    if isStarted { set(reference, .configured, at: now) }
  }

  /// Sets the pacing rate as a multiple of the rate.
  package mutating func setPacingFactor(_ factor: Double) {
    settings.pacingFactor = factor
    publish()
  }

  /// Sets the bytes that wait at the sender (buffer_len), which lower the encoder's rate and raise that of sending
  /// (RFC 8698 section 5.2.2).
  package mutating func setQueue(byteCount: Int) {
    queuedByteCount = max(0, byteCount)
    publish()
  }

  // MARK: Packets and reports

  /// Notes a packet with a transport-wide number.
  package mutating func sent(byteCount: Int, at now: Instant) {
    if lastFeedback == nil { lastFeedback = now }
    lastSent = now
  }

  /// Takes the results of a feedback packet.
  package mutating func receive(_ results: [TransportSequencer.Result], at now: Instant) {
    batch.load(results, since: routeStart)
    guard isStarted, !batch.packets.isEmpty else { return }
    (lastFeedback, lastTimeout) = (now, nil)
    let parameters = settings.parameters
    loss.add(batch.packets, window: parameters.window, weight: parameters.lossWeight, at: now)
    for packet in batch.arrivals {
      guard let arrived = packet.arrived else { continue }
      throughput.add(byteCount: packet.byteCount + packet.unnumberedByteCount, arrived: arrived)
      queuing = delay.add(arrived - packet.sent, at: now)
      if queuing >= parameters.emptyDelay { lastQueued = now }
    }
    if let shortest = batch.roundTrips(at: now)?.shortest { target.roundTrip = max(.zero, shortest) }
    update(at: now)
  }

  /// Takes the limit of a REMB (draft-alvestrand-rmcat-remb-03); zero removes it.
  package mutating func receiveEstimate(_ rate: DataRate, at now: Instant) {
    receiverLimit = rate > .zero ? rate : nil
    if isStarted { set(reference, .remb, at: now) }
  }

  /// Performs the regular update, when it is due.
  package mutating func process(at now: Instant) {
    guard let deadline, now >= deadline else { return }
    lastProcess = now
    // Without feedback, congestion may be what holds it back. Time counts only while packets are sent.
    guard let lastFeedback, let lastSent, lastSent - lastFeedback > Self.timeout,
      now - (lastTimeout ?? lastFeedback) > Self.timeout
    else { return }
    lastTimeout = now
    set(reference * 0.5, .roundTripBackoff, at: now)
  }

  // MARK: Algorithm

  /// Calculates the rate (RFC 8698 sections 4.2 and 4.3).
  private mutating func update(at now: Instant) {
    let parameters = settings.parameters
    let interval = min(lastUpdate.map { now - $0 } ?? parameters.feedbackInterval, parameters.timeConstant)
    lastUpdate = now
    let before = congestion
    congestion = measured()
    let isQueued = lastQueued.map { now - $0 <= parameters.window } ?? false
    isRampingUp = !isQueued && !loss.hasLoss
    target.lossRatio = loss.ratio
    if isRampingUp {
      guard let received = acknowledgedRate else { return publish() }
      let delays = (target.roundTrip + parameters.feedbackInterval + parameters.filterDelay).seconds
      let step = min(parameters.maximumStep, parameters.delayBound.seconds / max(delays, 0.001))
      return set(max(reference, received * (1 + step)), .delayIncrease, at: now)
    }
    let constant = parameters.timeConstant.seconds
    let level = parameters.priority * parameters.referenceDelay.seconds * settings.maximumRate.bits
    let offset = congestion.seconds - level / max(1, reference.bits)
    let change = (congestion - before).seconds
    let factor =
      1 - parameters.gain * (interval.seconds / constant) * (offset / constant)
      - parameters.gain * parameters.derivativeGain * (change / constant)
    let rate = reference * max(0, factor)
    set(rate, loss.hasLoss ? .lossBased : rate < reference ? .delayOveruse : .delayIncrease, at: now)
  }

  /// Returns the congestion signal (equations 1 and 2). With recent losses a long queuing delay counts less, because then
  /// other flows fill the queue whatever this one does.
  private func measured() -> Interval {
    let parameters = settings.parameters
    var warped = queuing
    if queuing > parameters.warpThreshold, loss.isRecent(within: parameters.lossMemory) {
      let excess = (queuing - parameters.warpThreshold).seconds / parameters.warpThreshold.seconds
      warped = parameters.warpThreshold.scaled(by: ElementaryFunctions.exp(-parameters.warpExponent * excess))
    }
    let ratio = loss.ratio / parameters.referenceLoss
    return min(warped + parameters.lossDelay.scaled(by: ratio * ratio), parameters.maximumCongestion)
  }

  private mutating func set(_ rate: DataRate, _ reason: EstimateChange.Reason, at now: Instant) {
    let before = reference
    let maximum = min(max(settings.maximumRate, minimumRate), receiverLimit ?? .bitsPerSecond(.max))
    reference = min(max(rate, minimumRate), maximum)
    if reference < before { stable.drop(to: reference, at: now) }
    stable.target(reference, acknowledged: acknowledgedRate, at: now)
    if reference != before { changes.note(reason, from: before, to: reference, at: now) }
    publish()
  }

  private mutating func publish() {
    let queue = settings.parameters.queueGain * 8 * Double(queuedByteCount) * settings.parameters.frameRate
    let shift = DataRate(min(Self.queueShare * reference.bits, queue))
    target.estimate = reference
    target.target = max(min(minimumRate, reference), reference - shift)
    target.stable = min(stable.rate, target.target)
    target.pacing = max(streams.minimum, reference + shift) * settings.pacingFactor
    target.padding = min(streams.padding, target.target)
  }
}
