package import CallCore

/// Estimates the bandwidth of a path at its sender, from feedback about packets (Google congestion control as in
/// libwebrtc, `GoogCcNetworkController`, without field trials).
///
/// It takes results of any format of feedback: those of transport-wide feedback and of RFC 8888 come from
/// ``TransportSequencer``. After each call, take the probes and the changes, and apply ``target``. Another controller,
/// such as NADA (RFC 8698) or SCReAM (RFC 8298), would take the same inputs and give the same ``TargetRate``.
package struct BandwidthEstimator: Sendable {
  package struct Settings: Hashable, Sendable {
    package var minimumRate = DataRate.kilobitsPerSecond(0)
    /// The rate until something is known of the path; nil waits for 5 s of feedback.
    package var startRate: DataRate? = .kilobitsPerSecond(300)
    package var maximumRate: DataRate?
    /// The pacing rate as a multiple of the estimate. libwebrtc uses 1.1 for video with transport-wide feedback.
    package var pacingFactor = 2.5
    /// Whether feedback about packets alone gives the round trip and the loss, instead of RTCP reports.
    package var usesFeedbackOnly = false
    package var probing = ProbeController.Settings()
    package var applicationLimit = ApplicationLimitDetector.Settings()
    package var congestionWindow = CongestionWindow.Settings()

    package init() {}
  }

  package private(set) var settings: Settings
  package private(set) var target: TargetRate
  private var streams = StreamLimits()
  private var isStarted = false
  /// The start of the current route: earlier packets took another one.
  private var routeStart: Instant?
  private var lastProcess: Instant?
  private var sendSide = SendSideEstimator()
  private var delayBased = DelayBasedEstimator()
  private var throughput = ThroughputEstimator()
  private var probeRate = ProbeRateEstimator()
  private var applicationLimit: ApplicationLimitDetector
  private var wasApplicationLimited = false
  private var lastLossState = LossBasedEstimator.State.delayBased
  private var probing: ProbeController
  private var window: CongestionWindow
  private var probes = FIFO<ProbeCluster>()
  private var changes = FIFO<EstimateChange>()
  private var batch = FeedbackBatch()
  /// The packets since the last calculation of loss from feedback.
  private var (lostCount, expectedCount) = (0, 0)
  private var nextLoss: Instant?

  /// The interval of regular updates.
  private static let processInterval = Interval.milliseconds(25)
  private static let lossInterval = Interval.seconds(1)
  /// The share of the throughput below which the result of a probe is not believed.
  private static let probeFloor = 0.85

  package init(settings: Settings = Settings()) {
    self.settings = settings
    probing = ProbeController(settings: settings.probing)
    applicationLimit = ApplicationLimitDetector(settings: settings.applicationLimit)
    window = CongestionWindow(settings: settings.congestionWindow)
    target = .initial
  }

  // MARK: Outputs

  /// Returns the next probe to send.
  package mutating func nextProbe() -> ProbeCluster? {
    guard let probe = probes.popFirst() else { return nil }
    probeRate.expect(probe)
    return probe
  }

  /// Returns the next change of the estimate.
  package mutating func nextChange() -> EstimateChange? { changes.popFirst() }

  /// The time of the next regular update; nil before the start.
  package var deadline: Instant? { lastProcess.map { $0 + Self.processInterval } }

  /// The acknowledged rate; nil while it is unknown.
  package var acknowledgedRate: DataRate? { throughput.rate }
  /// The state of the path's queue.
  package var usage: BandwidthUsage { delayBased.usage }
  /// Whether the application sends much less than the estimate.
  package var isApplicationLimited: Bool { applicationLimit.start != nil }

  // MARK: Configuration

  /// Notes whether the transport can send. The first time begins the estimation.
  package mutating func setAvailable(_ isAvailable: Bool, at now: Instant) {
    if isAvailable, !isStarted { start(at: now) }
    probing.setAvailable(isAvailable, into: &probes, at: now)
  }

  private mutating func start(at now: Instant) {
    isStarted = true
    lastProcess = now
    applyRates(at: now)
    publish(at: now)
  }

  /// Changes the limits and, unless it is nil, the start rate, which replaces the estimate.
  package mutating func setRates(minimum: DataRate, start: DataRate?, maximum: DataRate?, at now: Instant) {
    (settings.minimumRate, settings.startRate, settings.maximumRate) = (minimum, start, maximum)
    guard isStarted else { return }
    applyRates(at: now)
    publish(at: now)
  }

  /// Notes that packets take another path, of which nothing is known.
  package mutating func changeRoute(start: DataRate?, at now: Instant) {
    settings.startRate = start
    routeStart = now
    throughput = ThroughputEstimator()
    probeRate = ProbeRateEstimator()
    delayBased = DelayBasedEstimator()
    sendSide.changeRoute()
    probes.removeAll()
    probing.reset(at: now)
    guard isStarted else { return }
    applyRates(at: now)
    publish(at: now)
  }

  private mutating func applyRates(at now: Instant) {
    let start = settings.startRate.map { max($0, minimumRate) }
    let maximum = settings.maximumRate.map { max($0, minimumRate) }
    sendSide.setLimits(minimum: minimumRate, maximum: maximum)
    if let start {
      sendSide.setStart(start, at: now)
      delayBased.setStart(start)
    }
    delayBased.setMinimum(minimumRate)
    probing.setRates(minimum: minimumRate, start: start, maximum: maximum, into: &probes, at: now)
  }

  private var minimumRate: DataRate {
    max(max(settings.minimumRate, AIMDRateController.floor), streams.minimum)
  }

  /// Sets the use of the bandwidth by the streams, whenever it changes.
  package mutating func setStreams(_ limits: StreamLimits, at now: Instant) {
    guard limits != streams else { return }
    let old = streams
    streams = limits
    if limits.minimum != old.minimum {
      delayBased.setMinimum(minimumRate)
      sendSide.setLimits(minimum: minimumRate, maximum: settings.maximumRate.map { max($0, minimumRate) })
    }
    probing.limitedStart = applicationLimit.start
    probing.setAllocated(limits.maximum, into: &probes, at: now)
    updatePacing()
  }

  /// Sets the pacing rate as a multiple of the estimate.
  package mutating func setPacingFactor(_ factor: Double) {
    settings.pacingFactor = factor
    updatePacing()
  }

  /// Enables probing while the application is limited.
  package mutating func setProbesWhileApplicationLimited(_ isEnabled: Bool) {
    settings.probing.probesWhileApplicationLimited = isEnabled
    probing.settings.probesWhileApplicationLimited = isEnabled
  }

  /// Sets the rate with which a paused stream could go on, which is probed for; zero for none.
  package mutating func setWanted(_ rate: DataRate) { probing.wanted = rate }

  // MARK: Packets and reports

  /// Notes a packet with a transport-wide number.
  ///
  /// - Parameters:
  ///   - byteCount: the packet's size, which should include the headers below RTP.
  ///   - bytesInFlight: ``TransportSequencer/bytesInFlight`` after the packet.
  package mutating func sent(byteCount: Int, bytesInFlight: Int, at now: Instant) {
    applicationLimit.sent(byteCount: byteCount, at: now.wholeMillisecond)
    sendSide.sent(at: now)
    window.bytesInFlight = bytesInFlight
    guard isStarted, settings.congestionWindow.mode != .off else { return }
    publish(at: now)
  }

  /// Takes the results of a feedback packet.
  package mutating func receive(_ results: [TransportSequencer.Result], bytesInFlight: Int, at now: Instant) {
    batch.load(results, since: routeStart)
    guard isStarted, !batch.packets.isEmpty else { return }
    window.bytesInFlight = bytesInFlight
    measureRoundTrip(at: now)
    if settings.usesFeedbackOnly { countLoss(at: now) }
    let isLimited = applicationLimit.start != nil
    if wasApplicationLimited, !isLimited { probing.limitedEnd = now }
    wasApplicationLimited = isLimited
    var probe = measure()
    let acknowledged = throughput.rate
    sendSide.setAcknowledged(acknowledged)
    if let result = probe, let acknowledged {
      // A probe far below the throughput is not accurate.
      probe = max(result, min(delayBased.estimate, acknowledged * Self.probeFloor))
    }
    let update = delayBased.receive(batch.arrivals, acknowledged: acknowledged, probe: probe, at: now)
    if let rate = update.rate {
      if update.reason == .probe { sendSide.setTarget(rate, .probe, at: now) }
      sendSide.setDelayEstimate(rate, update.reason, at: now)
    }
    sendSide.receive(batch.packets, isApplicationLimited: isLimited, at: now)
    if update.rate != nil { publish(at: now) }
    if update.hasRecovered {
      probing.limitedStart = applicationLimit.start
      probing.recovered(into: &probes, at: now)
    }
    window.update(for: target.estimate)
  }

  /// Takes the limit of a REMB (draft-alvestrand-rmcat-remb-03); zero removes it.
  package mutating func receiveEstimate(_ rate: DataRate, at now: Instant) {
    sendSide.setReceiverLimit(rate, at: now)
  }

  /// Takes the round trip of an RTCP report.
  package mutating func setRoundTrip(_ roundTrip: Interval, at now: Instant) {
    guard !settings.usesFeedbackOnly, roundTrip > .zero else { return }
    delayBased.setRoundTrip(roundTrip)
    sendSide.setRoundTrip(roundTrip)
  }

  /// Takes the change of the counts in RTCP reports.
  package mutating func receiveReport(lost: Int, received: Int, at now: Instant) {
    guard isStarted, !settings.usesFeedbackOnly else { return }
    sendSide.receiveReport(lost: lost, expected: lost + received, at: now)
  }

  /// Performs the regular update, when it is due.
  package mutating func process(at now: Instant) {
    guard let deadline, now >= deadline else { return }
    lastProcess = now
    sendSide.update(at: now)
    probing.limitedStart = applicationLimit.start
    probing.process(into: &probes, at: now)
    window.update(for: target.estimate)
    publish(at: now)
  }

  // MARK: Feedback

  /// Measures the throughput, and returns the result of a probe.
  private mutating func measure() -> DataRate? {
    var probe: DataRate?
    for packet in batch.arrivals {
      guard let arrived = packet.arrived else { continue }
      throughput.add(packet, arrived: arrived)
      if let id = packet.probe { probe = probeRate.add(packet, of: id, arrived: arrived) ?? probe }
    }
    return probe
  }

  private mutating func measureRoundTrip(at now: Instant) {
    guard let roundTrips = batch.roundTrips(at: now) else { return }
    window.addRoundTrip(roundTrips.longest)
    sendSide.setPropagation(roundTrips.shortest, at: now)
    guard settings.usesFeedbackOnly else { return }
    if let mean = window.meanRoundTrip { delayBased.setRoundTrip(mean) }
    sendSide.setRoundTrip(roundTrips.shortest)
  }

  private mutating func countLoss(at now: Instant) {
    expectedCount += batch.packets.count
    lostCount += batch.lostCount
    guard nextLoss.map({ now > $0 }) ?? true else { return }
    nextLoss = now + Self.lossInterval
    sendSide.receiveReport(lost: lostCount, expected: expectedCount, at: now)
    (lostCount, expectedCount) = (0, 0)
  }

  // MARK: Target

  /// Updates the target, and lets the estimate lead to further probes.
  private mutating func publish(at now: Instant) {
    var new = target
    new.estimate = sendSide.target
    let pushed = max(sendSide.minimum, window.pushBack(new.estimate))
    new.target = settings.congestionWindow.mode == .reduceTarget ? pushed : new.estimate
    let cut = new.estimate.bits - pushed.bits
    new.frameDropRatio =
      settings.congestionWindow.mode == .dropFrames && new.estimate > .zero ? max(0, cut) / new.estimate.bits : 0
    new.stable = min(sendSide.stable, pushed)
    new.lossRatio = Double(sendSide.lossFraction) / 256
    new.roundTrip = sendSide.roundTrip
    guard new != target || sendSide.lossState != lastLossState else { return }
    lastLossState = sendSide.lossState
    new.bandwidthPeriod = delayBased.control.bandwidthPeriod
    if new.estimate != target.estimate {
      changes.note(sendSide.targetReason, from: target.estimate, to: new.estimate, at: now)
    } else if new.target != target.target {
      changes.note(.congestionWindow, from: target.target, to: new.target, at: now)
    }
    target = new
    applicationLimit.setEstimate(new.estimate)
    probing.setEstimate(new.estimate, limit: probeLimit, into: &probes, at: now)
    updatePacing()
  }

  private mutating func updatePacing() {
    // Not the rate after the congestion window, because a queue would only move into the pacer.
    target.pacing = max(streams.minimum, target.estimate) * settings.pacingFactor
    target.padding = min(streams.padding, target.target)
  }

  private var probeLimit: ProbeController.Limit {
    if delayBased.usage != .normal { return .delay }
    if sendSide.isBackingOff { return .roundTrip }
    switch sendSide.lossState {
    case .delayBased: return .none
    case .increasing: return .risingLoss
    case .decreasing: return .loss
    }
  }
}
