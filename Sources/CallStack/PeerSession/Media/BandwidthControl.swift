internal import CallCore
internal import CongestionControl
internal import RTP

/// The bandwidth of a transport that sends video: the estimate, its division among the streams, and the rates of the
/// pacer.
///
/// It is asked for its deadline after every packet, and must not be copied for it.
struct BandwidthControl: ~Copyable {
  private(set) var estimator: CongestionController
  /// The rate until something is known of a path.
  private let start: DataRate
  private var allocator = RateAllocator()
  /// The streams of the allocator.
  private var streams: [Int] = []
  private var isAvailable = false
  /// Whether packets are forwarded: no encoder follows the estimate, and probes tell whether more has room.
  private let forwards: Bool
  /// The rate of what is forwarded.
  private var forwardedRate = DataRate.zero
  /// The counts of the last report about each of our sources.
  private var reported: [(ssrc: UInt32, lost: Int64, highest: Int64)] = []

  /// The pacing rate as a multiple of the estimate: libwebrtc's for video with feedback about each packet, and without.
  private static let pacingFactors = (numbered: 1.1, otherwise: 2.5)

  /// The pacing rate of what is forwarded as a multiple of its rate, where that is more than the estimate allows: a key
  /// frame at the speed of the network card would look like congestion, and what comes must leave.
  private static let forwardingFactor = 1.5
  /// The padding rate while forwarded video is paused.
  private static let forwardingPadding = DataRate.kilobitsPerSecond(20)
  /// What is probed for a paused video, as a multiple of the rate with which it goes on: of a probe less may arrive.
  private static let wantedFactor = 1.2
  /// The least share that arrives of what is forwarded on a path that carries it, as far as can be measured, and the
  /// largest share that is lost.
  private static let delivery = (share: 0.95, loss: 0.02)

  init(
    start: DataRate, _ congestionControl: VideoSettings.CongestionControl = .googleCongestionControl,
    forwards: Bool = false
  ) {
    self.start = start
    self.forwards = forwards
    switch congestionControl {
    case .googleCongestionControl:
      var settings = BandwidthEstimator.Settings()
      settings.startRate = start
      settings.pacingFactor = Self.pacingFactors.otherwise
      estimator = CongestionController(BandwidthEstimator(settings: settings))
      estimator.setProbesWhileApplicationLimited(forwards)
    case .nada:
      var settings = NADAController.Settings()
      // The streams have a minimum and a maximum of their own.
      settings.minimumRate = .zero
      settings.startRate = start
      settings.pacingFactor = Self.pacingFactors.otherwise
      estimator = CongestionController(NADAController(settings: settings))
    }
  }

  var target: TargetRate { estimator.target }

  /// Tells the estimator the sums of the streams' limits.
  ///
  /// Padding up to the rate of a forwarded video that is paused would take the way from the audio. A little of it tells whether
  /// the path is well, and probes whether there is room.
  private mutating func applyLimits(at now: Instant) {
    var limits = allocator.limits
    if forwards {
      estimator.setWanted(limits.padding * Self.wantedFactor)
      limits.padding = min(limits.padding, Self.forwardingPadding)
    }
    estimator.setStreams(limits, at: now)
  }

  // MARK: Streams

  /// Applies the streams of a negotiation, or changed limits.
  mutating func setStreams(
    of channels: [MediaChannel], pacer: inout Pacer, limiter: RetransmissionLimiter, at now: Instant
  ) {
    let current = channels.compactMap(\.allocation)
    for id in streams where !current.contains(where: { $0.id == id }) { allocator.remove(id) }
    for stream in current { allocator.set(stream) }
    streams = current.map(\.id)
    let isNumbered = channels.contains { channel in
      switch channel {
      case .audio: false
      case .video(let video): video.send?.isNumbered == true
      case .forwarding(let forwarding): forwarding.send?.isNumbered == true
      }
    }
    pacer.paddingBeginsProbes = forwards
    pacer.countsAudio = channels.contains {
      if case .audio(let audio) = $0 { audio.send?.isNumbered ?? false } else { false }
    }
    estimator.setPacingFactor(isNumbered ? Self.pacingFactors.numbered : Self.pacingFactors.otherwise)
    applyLimits(at: now)
    divide(among: channels, limiter, at: now)
    forwardedRate = channels.reduce(.zero) { sum, channel in
      if case .forwarding(let forwarding) = channel { sum + (forwarding.send?.rate ?? .zero) } else { sum }
    }
    apply(to: &pacer, at: now)
  }

  /// Divides the estimate; what is sent again is taken from the encoders.
  private mutating func divide(among channels: [MediaChannel], _ limiter: RetransmissionLimiter, at now: Instant) {
    guard isAvailable else { return }
    let repairShare = repairShare(limiter.rate(at: now))
    let isDelivered = forwards && deliversAll
    let leastPriority = channels.lazy.compactMap { $0.sentPriority(at: now) }.min() ?? .infinity
    allocator.allocate(estimator.target.target, stable: estimator.target.stable)
    for channel in channels {
      switch channel {
      case .audio: break
      case .video(let video):
        guard let send = video.send else { continue }
        send.setRates(
          allocator.rate(of: send.number), layers: allocator.layers(of: send.number), repairShare: repairShare,
          path: estimator.target, at: now)
      case .forwarding(let forwarding):
        guard let send = forwarding.send, streams.contains(send.number) else { continue }
        send.setRate(allocator.rate(of: send.number), isDelivered: isDelivered, leastPriority: leastPriority)
      }
    }
  }

  /// Whether what is forwarded arrives as fast as it is sent.
  private var deliversAll: Bool {
    guard let acknowledged = estimator.acknowledgedRate else { return false }
    return acknowledged >= forwardedRate * Self.delivery.share && estimator.target.lossRatio <= Self.delivery.loss
  }

  /// The share of the rate that retransmissions take; libwebrtc gives them and forward error correction at most half.
  private func repairShare(_ rate: DataRate) -> Double {
    let target = Double(estimator.target.target.bitsPerSecond)
    return target > 0 ? min(Self.largestRepairShare, Double(rate.bitsPerSecond) / target) : 0
  }

  static let largestRepairShare = 0.5

  // MARK: Time and packets

  /// Begins when the transport is connected.
  mutating func start(
    _ channels: [MediaChannel], pacer: inout Pacer, limiter: RetransmissionLimiter, at now: Instant
  ) {
    guard !isAvailable else { return }
    isAvailable = true
    estimator.setAvailable(true, at: now)
    divide(among: channels, limiter, at: now)
    apply(to: &pacer, at: now)
  }

  /// Notes that packets take another path.
  mutating func changeRoute(at now: Instant) {
    estimator.changeRoute(start: start, at: now)
  }

  var deadline: Instant? { isAvailable ? estimator.deadline : nil }

  mutating func sent(byteCount: Int, bytesInFlight: Int, at now: Instant) {
    estimator.sent(byteCount: byteCount, bytesInFlight: bytesInFlight, at: now)
  }

  /// Does what is due, and applies the estimate to streams and pacer if it has changed.
  ///
  /// - Parameter change: called with each change of the estimate.
  mutating func advance(
    to now: Instant, _ channels: [MediaChannel], pacer: inout Pacer, limiter: RetransmissionLimiter,
    change: (EstimateChange) -> Void
  ) {
    let before = estimator.target
    estimator.setQueue(byteCount: pacer.byteCount)
    estimator.process(at: now)
    settle(since: before, channels, pacer: &pacer, limiter: limiter, at: now, change: change)
  }

  /// Takes the results of feedback about packets.
  mutating func receive(
    _ results: [TransportSequencer.Result], bytesInFlight: Int, _ channels: [MediaChannel], pacer: inout Pacer,
    limiter: RetransmissionLimiter, at now: Instant, change: (EstimateChange) -> Void
  ) {
    let before = estimator.target
    estimator.receive(results, bytesInFlight: bytesInFlight, at: now)
    settle(since: before, channels, pacer: &pacer, limiter: limiter, at: now, change: change)
  }

  mutating func receive(_ estimate: ReceiverEstimate, at now: Instant) {
    estimator.receiveEstimate(estimate.bitrate, at: now)
  }

  /// Takes the blocks of a report, of which only those about our sources count.
  mutating func receive(_ blocks: [ReportBlock], about channels: [MediaChannel], roundTrip: Interval?, at now: Instant)
  {
    var (lost, received) = (Int64(0), Int64(0))
    for block in blocks where channels.contains(where: { $0.sentSources.contains(block.ssrc) }) {
      let new = (ssrc: block.ssrc, lost: Int64(block.cumulativeLost), highest: Int64(block.highestSequenceNumber))
      if let index = reported.firstIndex(where: { $0.ssrc == block.ssrc }) {
        let old = reported[index]
        lost += new.lost - old.lost
        received += new.highest - old.highest - (new.lost - old.lost)
        reported[index] = new
      } else {
        reported.append(new)
      }
    }
    if let roundTrip { estimator.setRoundTrip(roundTrip, at: now) }
    guard lost + received > 0 else { return }
    estimator.receiveReport(lost: Int(clamping: max(0, lost)), received: Int(clamping: max(0, received)), at: now)
  }

  private mutating func settle(
    since before: TargetRate, _ channels: [MediaChannel], pacer: inout Pacer, limiter: RetransmissionLimiter,
    at now: Instant, change: (EstimateChange) -> Void
  ) {
    while let probe = estimator.nextProbe() { pacer.probe(probe) }
    while let next = estimator.nextChange() { change(next) }
    guard estimator.target != before else { return }
    divide(among: channels, limiter, at: now)
    applyLimits(at: now)
    apply(to: &pacer, at: now)
  }

  private func apply(to pacer: inout Pacer, at now: Instant) {
    guard isAvailable else { return }
    pacer.setRate(max(estimator.target.pacing, forwardedRate * Self.forwardingFactor), at: now)
    pacer.setPaddingRate(estimator.target.padding, at: now)
  }
}

extension MediaChannel {
  /// The priority of a forwarded video that is sent, and not paused.
  fileprivate func sentPriority(at now: Instant) -> Double? {
    guard case .forwarding(let forwarding) = self, let send = forwarding.send, send.isSent(at: now) else { return nil }
    return send.policy.priority
  }
}
