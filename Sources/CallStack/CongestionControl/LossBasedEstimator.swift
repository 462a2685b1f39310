import CallCore

/// Estimates the bandwidth from packet loss (libwebrtc `LossBasedBweV2` without field trials).
///
/// A path is modelled by a bandwidth and an inherent loss, which has nothing to do with congestion. Of some candidates,
/// the estimate is the one under which the losses of the last seconds are most likely, with a preference for a high
/// bandwidth while there is little loss.
struct LossBasedEstimator: Sendable {
  enum State: Hashable, Sendable {
    /// Loss does not limit the estimate.
    case delayBased
    case increasing, decreasing
  }

  /// The packets of at least 250 ms.
  private struct Observation: BitwiseCopyable {
    let count: Double
    let lost: Double
    let rate: Double
  }

  /// A candidate. Rates are in bits per second.
  private struct Channel: BitwiseCopyable {
    var bandwidth: Double
    var inherentLoss: Double
  }

  private(set) var state = State.delayBased
  private var result: Double?
  private var best: Channel?
  private var observations = SlidingWindow<Observation>(capacity: 20)
  /// Powers of 0.9: the weights of the observations, from the newest.
  private let weights: [Double]
  private var packetCount = 0
  private var byteCount = 0
  /// The numbers of the packets reported as lost, which may still arrive.
  private var lostPackets = Set<Int64>()
  private var lastSent: Instant?
  private var meanLoss = 0.0
  private var acknowledged: Double?
  private var delayEstimate: Double?
  /// The limit of an increase after loss, and the time of its calculation.
  private var recoveryLimit: Double?
  private var recoveryStart: Instant?
  var minimum = AIMDRateController.floor
  var maximum = DataRate.megabitsPerSecond(1_000)

  private static let minimumDuration = Interval.milliseconds(250)
  private static let minimumCount = 3
  private static let factors = [1.02, 1, 0.95]
  private static let initialInherentLoss = 0.01
  private static let minimumInherentLoss = 0.001
  /// Loss at which the estimate is limited, and the product of the loss above it and that limit.
  private static let (lossOffset, lossBalance) = (0.05, 75_000.0)
  private static let newtonStep = 0.75
  private static let (linearBias, logarithmicBias) = (0.0002, 0.02)
  /// The loss above which a low bandwidth is preferred, and the width of the change.
  private static let (biasLoss, biasWidth) = (0.15, 0.002)
  private static let maximumIncrease = 1.3
  private static let increaseWindow = Interval.milliseconds(300)

  init() {
    var (weights, weight) = ([Double](), 1.0)
    for _ in 0..<20 {
      weights.append(weight)
      weight *= 0.9
    }
    self.weights = weights
  }

  /// The estimate; nil until there are enough observations.
  var estimate: DataRate? {
    guard observations.count >= Self.minimumCount, best != nil else { return nil }
    return result.map { DataRate($0) }
  }

  mutating func setAcknowledged(_ rate: DataRate) { acknowledged = rate.bits }

  /// Takes the packets of a feedback packet.
  mutating func update(
    _ packets: [TransportSequencer.Result], delayEstimate: DataRate?, isApplicationLimited: Bool
  ) {
    self.delayEstimate = delayEstimate?.bits
    guard !packets.isEmpty, observe(packets), let now = lastSent else { return }
    if best == nil {
      guard let delayEstimate else { return }
      best = Channel(bandwidth: delayEstimate.bits, inherentLoss: Self.initialInherentLoss)
      result = delayEstimate.bits
      state = .delayBased
    }
    guard let current = best, var chosen = choose(isApplicationLimited: isApplicationLimited) else { return }
    if meanLoss > chosen.inherentLoss || Defect.estimateNeverRecovers.isPlanted {
      chosen.bandwidth = min(chosen.bandwidth, current.bandwidth)
    }
    if state != .delayBased, let recoveryLimit, let recoveryStart, recoveryStart + Self.increaseWindow > now {
      chosen.bandwidth = min(chosen.bandwidth, recoveryLimit)
    }
    best = chosen
    settle(chosen, at: now)
  }

  /// Bounds the estimate, and follows the state.
  private mutating func settle(_ chosen: Channel, at now: Instant) {
    let bounded = max(minimum.bits, min(chosen.bandwidth, instantLimit, delayEstimate ?? .infinity))
    let isLimited = bounded < delayEstimate ?? .infinity && bounded < maximum.bits
    if isLimited {
      state = isIncrease(to: bounded) ? .increasing : .decreasing
    } else {
      state = .delayBased
    }
    result = bounded
    guard state != .delayBased else { return }
    if recoveryStart.map({ $0 + Self.increaseWindow < now }) ?? true {
      recoveryLimit = max(AIMDRateController.floor.bits, chosen.bandwidth * Self.maximumIncrease)
      recoveryStart = now
    }
  }

  /// Returns whether the estimate rises, or keeps on rising, while loss limits it.
  private func isIncrease(to bandwidth: Double) -> Bool {
    guard state != .delayBased, let result else { return false }
    return result < bandwidth || (result == bandwidth && state == .increasing)
  }

  /// The limit of the estimate under heavy loss, comparable to TCP's.
  private var instantLimit: Double {
    meanLoss > Self.lossOffset ? Self.lossBalance / (meanLoss - Self.lossOffset) : maximum.bits
  }

  // MARK: Observations

  /// Adds packets to the current observation.
  ///
  /// - Returns: whether it is complete.
  private mutating func observe(_ packets: [TransportSequencer.Result]) -> Bool {
    var (first, last) = (packets[0].sent, packets[0].sent)
    for packet in packets {
      if packet.arrived != nil { lostPackets.remove(packet.number) } else { lostPackets.insert(packet.number) }
      packetCount += 1
      byteCount += packet.byteCount
      first = min(first, packet.sent)
      last = max(last, packet.sent)
    }
    let previous = lastSent ?? first
    if lastSent == nil { lastSent = first }
    guard last - previous >= Self.minimumDuration else { return false }
    lastSent = last
    observations.append(
      Observation(
        count: Double(packetCount), lost: Double(lostPackets.count),
        rate: DataRate(byteCount: byteCount, per: last - previous).bits))
    (packetCount, byteCount) = (0, 0)
    lostPackets.removeAll(keepingCapacity: true)
    var (all, lost) = (0.0, 0.0)
    for index in 0..<observations.count {
      let weight = weights[observations.count - 1 - index]
      all += weight * observations[index].count
      lost += weight * observations[index].lost
    }
    meanLoss = lost / all
    return true
  }

  // MARK: Candidates

  private func choose(isApplicationLimited: Bool) -> Channel? {
    guard let best else { return nil }
    var limit = maximum.bits
    if state != .delayBased, let recoveryLimit { limit = recoveryLimit }
    limit = max(limit, best.bandwidth)
    var (chosen, highest) = (best, -Double.infinity)
    func consider(_ bandwidth: Double) {
      var candidate = Channel(bandwidth: min(bandwidth, limit), inherentLoss: best.inherentLoss)
      improve(&candidate)
      let likelihood = likelihood(of: candidate)
      if likelihood > highest { (chosen, highest) = (candidate, likelihood) }
    }
    for factor in Self.factors { consider(best.bandwidth * factor) }
    if let acknowledged, !isApplicationLimited { consider(acknowledged) }
    if let delayEstimate, delayEstimate > best.bandwidth { consider(delayEstimate) }
    return chosen
  }

  /// Moves the inherent loss towards its most likely value, by a step of Newton's method.
  private func improve(_ channel: inout Channel) {
    channel.inherentLoss = Self.feasible(channel.inherentLoss, at: channel.bandwidth)
    var (first, second) = (0.0, 0.0)
    for index in 0..<observations.count {
      let observation = observations[index]
      let loss = Self.lossProbability(channel, at: observation.rate)
      let weight = weights[observations.count - 1 - index]
      let received = observation.count - observation.lost
      first += weight * (observation.lost / loss - received / (1 - loss))
      second -= weight * (observation.lost / (loss * loss) + received / ((1 - loss) * (1 - loss)))
    }
    channel.inherentLoss -= Self.newtonStep * first / min(second, -1e-6)
    channel.inherentLoss = Self.feasible(channel.inherentLoss, at: channel.bandwidth)
  }

  private func likelihood(of channel: Channel) -> Double {
    let kilobits = channel.bandwidth / 1_000
    let preference = (Self.biasLoss - meanLoss) / (Self.biasWidth + abs(Self.biasLoss - meanLoss))
    let bias =
      preference * (Self.linearBias * kilobits + Self.logarithmicBias * ElementaryFunctions.log(1 + kilobits))
    var sum = 0.0
    for index in 0..<observations.count {
      let observation = observations[index]
      let loss = Self.lossProbability(channel, at: observation.rate)
      let weight = weights[observations.count - 1 - index]
      let received = observation.count - observation.lost
      sum += weight * (observation.lost * ElementaryFunctions.log(loss) + received * ElementaryFunctions.log(1 - loss))
      sum += weight * bias * observation.count
    }
    return sum
  }

  private static func feasible(_ inherentLoss: Double, at bandwidth: Double) -> Double {
    let upper = bandwidth > 0 ? min(lossOffset + lossBalance / bandwidth, 1) : 1
    return min(max(inherentLoss, minimumInherentLoss), upper)
  }

  private static func lossProbability(_ channel: Channel, at rate: Double) -> Double {
    var loss = channel.inherentLoss
    if rate > channel.bandwidth { loss += (1 - loss) * (rate - channel.bandwidth) / rate }
    return min(max(loss, 1e-6), 1 - 1e-6)
  }
}
