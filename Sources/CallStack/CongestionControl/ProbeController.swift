package import CallCore

/// Decides when to probe for more bandwidth, and at which rates (libwebrtc `ProbeController`).
package struct ProbeController: Sendable {
  package struct Settings: Hashable, Sendable {
    /// The rates of the first two probes, as multiples of the start rate.
    package var firstScale = 3.0
    package var secondScale = 6.0
    /// The rate of further probes as a multiple of a result, and the share of a probe that its result must exceed.
    package var furtherScale = 2.0
    package var furtherThreshold = 0.7
    /// Whether to repeat the initial probes for 5 s, while no stream has been allocated a rate.
    package var repeatsInitialProbes = false
    /// Whether to probe each 5 s while the application sends less than the estimate. libwebrtc does for a screen that
    /// is shared, not for a camera.
    package var probesWhileApplicationLimited = false
    package var applicationLimitedInterval = Interval.seconds(5)
    package var applicationLimitedScale = 2.0
    /// The highest rate of a probe without a maximum rate.
    package var limit = DataRate.megabitsPerSecond(5)
    /// The duration of a probe, its packets, and the time between its groups of packets.
    package var duration = Interval.milliseconds(15)
    package var packetCount = 5
    package var slot = Interval.milliseconds(2)
    /// The limit of a probe as a multiple of the estimate while loss limits the estimate, and it rises.
    package var lossLimitedScale = 1.5

    package init() {}
  }

  /// The limit of the current estimate, on which the permission to probe depends.
  enum Limit: Hashable, Sendable {
    case none
    case delay, roundTrip, loss
    /// Loss limits the estimate, which rises.
    case risingLoss
  }

  private enum State { case initial, waiting, complete }

  package var settings: Settings
  /// The start of the region in which the application limits the rate, and the end of the last such region.
  var limitedStart: Instant?
  var limitedEnd: Instant?
  /// The rate with which a paused stream could go on; zero for none. Above the estimate it is probed as often as while the
  /// application is limited. libwebrtc pads up to it instead.
  var wanted = DataRate.zero
  private var state = State.initial
  private var isAvailable = false
  private var limit = Limit.none
  private var estimate = DataRate.zero
  private var start = DataRate.zero
  private var maximum: DataRate
  private var allocated = DataRate.zero
  /// The result above which another probe follows; nil when none does.
  private var furtherLimit: DataRate?
  private var lastProbing: Instant?
  private var repetitionEnd: Instant?
  private var lastDropProbe: Instant
  private var lastDrop: Instant
  private var rateBeforeDrop = DataRate.zero
  private var nextID: Int32 = 1

  /// The maximum time until the result of a probe.
  private static let resultTime = Interval.seconds(1)
  private static let repetitionTime = Interval.seconds(5)
  private static let (repeatedDuration, repeatedSlot) = (Interval.milliseconds(100), Interval.milliseconds(20))
  /// A drop to less than this share is probed when the path recovers within a time, at a share of the old rate.
  private static let (dropThreshold, dropScale) = (0.66, 0.85)
  private static let (dropTime, dropInterval) = (Interval.seconds(5), Interval.seconds(5))
  private static let limitedTime = Interval.seconds(3)
  private static let uncertainty = 0.05

  init(settings: Settings = Settings(), at now: Instant = .zero) {
    self.settings = settings
    maximum = settings.limit
    lastDropProbe = now
    lastDrop = now
  }

  // MARK: Inputs

  /// Forgets the path, for another one.
  mutating func reset(at now: Instant) {
    let (old, isLimited) = (self, limitedStart)
    self = ProbeController(settings: old.settings, at: now)
    (isAvailable, allocated, nextID, limitedStart) = (old.isAvailable, old.allocated, old.nextID, isLimited)
    (repetitionEnd, wanted) = (old.repetitionEnd, old.wanted)
  }

  mutating func setAvailable(_ isAvailable: Bool, into probes: inout FIFO<ProbeCluster>, at now: Instant) {
    self.isAvailable = isAvailable
    if !isAvailable, state == .waiting { complete() }
    if isAvailable, state == .initial, start > .zero { probeInitially(into: &probes, at: now) }
  }

  mutating func setRates(
    minimum: DataRate, start: DataRate?, maximum: DataRate?, into probes: inout FIFO<ProbeCluster>, at now: Instant
  ) {
    if let start, start > .zero {
      (self.start, estimate) = (start, start)
    } else if self.start == .zero {
      self.start = minimum
    }
    let old = self.maximum
    self.maximum = maximum ?? settings.limit
    switch state {
    case .initial: if isAvailable { probeInitially(into: &probes, at: now) }
    case .waiting: break
    case .complete:
      if estimate > .zero, old < self.maximum, estimate < self.maximum {
        probe([self.maximum], continues: false, into: &probes, at: now)
      }
    }
  }

  /// Sets the sum of the streams' maximum rates.
  mutating func setAllocated(_ rate: DataRate, into probes: inout FIFO<ProbeCluster>, at now: Instant) {
    let isProbed =
      state == .complete && rate != allocated && estimate < maximum && estimate < rate && limitedStart != nil
    allocated = rate
    guard isProbed else {
      if rate > .zero { repetitionEnd = now }
      return
    }
    let bound = estimate * 2
    let first = min(rate, bound)
    let second = min(rate * 2, bound)
    let isBound = bound < rate * 2
    probe(bound >= rate && second > first ? [first, second] : [first], continues: isBound, into: &probes, at: now)
  }

  mutating func setEstimate(
    _ rate: DataRate, limit: Limit, into probes: inout FIFO<ProbeCluster>, at now: Instant
  ) {
    self.limit = limit
    if rate < estimate * Self.dropThreshold {
      lastDrop = now
      rateBeforeDrop = estimate
    }
    estimate = rate
    if state == .waiting, let furtherLimit, rate > furtherLimit {
      probe([rate * settings.furtherScale], continues: true, into: &probes, at: now)
    }
  }

  /// Probes for the rate before a large drop, once the path has recovered from an over-use.
  mutating func recovered(into probes: inout FIFO<ProbeCluster>, at now: Instant) {
    let wasLimited = limitedStart != nil || limitedEnd.map { now - $0 < Self.limitedTime } ?? false
    guard wasLimited, state == .complete else { return }
    let rate = rateBeforeDrop * Self.dropScale
    guard rate * (1 - Self.uncertainty) > estimate, now - lastDrop < Self.dropTime,
      now - lastDropProbe > Self.dropInterval
    else { return }
    lastDropProbe = now
    probe([rate], continues: false, into: &probes, at: now)
  }

  mutating func process(into probes: inout FIFO<ProbeCluster>, at now: Instant) {
    if state == .waiting, let lastProbing, now - lastProbing > Self.resultTime { complete() }
    guard estimate > .zero, state == .complete else { return }
    let last = lastProbing ?? .zero
    if let repetitionEnd, repetitionEnd > now, now >= last + Self.resultTime {
      probe([estimate * settings.firstScale], continues: true, into: &probes, at: now)
    } else if settings.probesWhileApplicationLimited, let limitedStart,
      now >= max(limitedStart, last) + settings.applicationLimitedInterval
    {
      probe([max(wanted, estimate * settings.applicationLimitedScale)], continues: true, into: &probes, at: now)
    } else if wanted > estimate, now >= last + settings.applicationLimitedInterval {
      probe([wanted], continues: true, into: &probes, at: now)
    }
  }

  // MARK: Probes

  private mutating func complete() {
    state = .complete
    furtherLimit = nil
  }

  private mutating func probeInitially(into probes: inout FIFO<ProbeCluster>, at now: Instant) {
    if settings.repeatsInitialProbes, allocated == .zero { repetitionEnd = now + Self.repetitionTime }
    probe([start * settings.firstScale, start * settings.secondScale], continues: true, into: &probes, at: now)
  }

  /// - Parameter continues: whether a good result leads to another probe.
  private mutating func probe(
    _ rates: [DataRate], continues: Bool, into probes: inout FIFO<ProbeCluster>, at now: Instant
  ) {
    // More than the streams can use, to leave room for their bursts.
    var highest = allocated > .zero ? min(maximum, allocated * 2) : maximum
    switch limit {
    case .delay, .roundTrip, .loss: return
    case .risingLoss: highest = min(highest, estimate * settings.lossLimitedScale)
    case .none: break
    }
    var (continues, last) = (continues, DataRate.zero)
    for rate in rates {
      if rate >= highest { continues = false }
      last = min(rate, highest)
      let isRepeated = repetitionEnd.map { now < $0 } ?? false
      probes.append(
        ProbeCluster(
          id: nextID, rate: last, duration: isRepeated ? Self.repeatedDuration : settings.duration,
          packetCount: settings.packetCount, slot: isRepeated ? Self.repeatedSlot : settings.slot, requested: now))
      nextID += 1
    }
    lastProbing = now
    state = continues ? .waiting : .complete
    furtherLimit = continues ? last * settings.furtherThreshold : nil
  }
}
