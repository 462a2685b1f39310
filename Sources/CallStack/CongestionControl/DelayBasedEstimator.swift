import CallCore

/// Estimates the bandwidth from the one-way delay of packets (libwebrtc `DelayBasedBwe`).
struct DelayBasedEstimator: Sendable {
  /// The result of a feedback packet.
  struct Update: Hashable, Sendable {
    /// The new estimate; nil without one.
    var rate: DataRate?
    var reason = EstimateChange.Reason.delayIncrease
    /// Whether the path has drained after an over-use.
    var hasRecovered = false
  }

  private var interArrival = InterArrival()
  private var trendline = TrendlineEstimator()
  private var lastFeedback: Instant?
  private(set) var control = AIMDRateController()
  /// The last estimate.
  private(set) var estimate = DataRate.zero
  /// The state of the path after the last feedback.
  private(set) var usage = BandwidthUsage.normal

  /// The silence after which the path's delay is learnt anew.
  private static let timeout = Interval.seconds(2)

  mutating func setStart(_ rate: DataRate) { control.setStart(rate) }
  mutating func setMinimum(_ rate: DataRate) { control.setMinimum(rate) }
  mutating func setRoundTrip(_ roundTrip: Interval) { control.roundTrip = roundTrip }

  /// Takes the packets that have arrived, in the order of their arrival.
  mutating func receive(
    _ arrivals: [TransportSequencer.Result], acknowledged: DataRate?, probe: DataRate?, at now: Instant
  ) -> Update {
    guard !arrivals.isEmpty else { return Update() }
    var hasRecovered = false
    for packet in arrivals {
      guard let arrived = packet.arrived else { continue }
      let before = trendline.usage
      if lastFeedback.map({ now - $0 > Self.timeout }) ?? true {
        interArrival = InterArrival()
        trendline = TrendlineEstimator()
      }
      lastFeedback = now
      if let delta = interArrival.add(sent: packet.sent, arrived: arrived, at: now) {
        trendline.update(delta, arrived: arrived)
      }
      if before == .underusing, trendline.usage == .normal { hasRecovered = true }
    }
    let update = update(acknowledged: acknowledged, probe: probe, hasRecovered: hasRecovered, at: now)
    if let rate = update.rate { estimate = rate }
    usage = trendline.usage
    return update
  }

  private mutating func update(
    acknowledged: DataRate?, probe: DataRate?, hasRecovered: Bool, at now: Instant
  ) -> Update {
    if trendline.usage == .overusing {
      if let acknowledged {
        guard control.mayReduce(throughput: acknowledged, at: now) else { return Update() }
        control.update(.overusing, acknowledged: acknowledged, at: now)
      } else {
        guard control.mayHalve(at: now) else { return Update() }
        control.setEstimate(control.rate * 0.5, at: now)
      }
      return Update(rate: control.rate, reason: .delayOveruse)
    }
    if let probe {
      control.setEstimate(probe, at: now)
      return Update(rate: control.rate, reason: .probe)
    }
    control.update(trendline.usage, acknowledged: acknowledged, at: now)
    return Update(rate: control.isInitialised ? control.rate : nil, hasRecovered: hasRecovered)
  }
}
