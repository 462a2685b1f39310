public import CallCore

/// The destination of a wire.
enum WireEnd: BitwiseCopyable {
  case interface(InterfaceID)
  /// Onto the network, to be routed there.
  case network(NetworkID)
  /// To the router of the network, from its parent's side.
  case router(NetworkID)
}

/// The decision of a wire about a packet offered to it.
enum Passage {
  case drop(DropReason)
  case carry(Carriage)
}

/// The schedule of a packet that a wire accepted.
struct Carriage: BitwiseCopyable {
  var departure: Instant
  var delay: Interval
  var arrival: Instant
  var mayOvertake = false
  /// Delay, arrival and damage of a second copy.
  var copy: (delay: Interval, arrival: Instant, damage: UInt64?)?
  /// The payload bit to flip, as a random number to reduce to the payload's length.
  var damage: UInt64?
}

/// One direction of a link: its settings, queue, and random streams.
struct Wire: ~Copyable {
  private(set) var settings: LinkSettings
  var end: WireEnd
  let subject: TraceSubject
  private(set) var isUp: Bool
  /// The number of times the link went down: packets that entered before are lost.
  private(set) var epoch: UInt32 = 0
  private(set) var queue = TransmitQueue()
  private(set) var statistics = LinkStatistics()
  /// The time at which the last accepted packet is wholly sent.
  private var free = Instant.zero
  private var latestArrival = Instant.zero
  private var sinceReordering = 0
  /// The number of packets on the wire, copies included.
  private var flying = 0

  private var loss: LossProcess
  private var jitter: TimedStream
  private var reordering: TimedStream
  private var duplication: TimedStream
  private var corruption: TimedStream

  init(
    _ settings: LinkSettings, name: String, direction: LinkDirection, end: WireEnd, isUp: Bool,
    random: RandomSource, trace: Trace, isRecorded: Bool = false
  ) {
    let path = "link/\(name)/\(direction.rawValue)"
    self.settings = settings
    self.end = end
    self.isUp = isUp
    subject = trace.subject(path)
    loss = LossProcess(model: settings.loss, random: random, path: path)
    jitter = TimedStream(path + "/jitter", of: random)
    reordering = TimedStream(path + "/reorder", of: random)
    duplication = TimedStream(path + "/duplicate", of: random)
    corruption = TimedStream(path + "/corrupt", of: random)
    if isRecorded {
      loss.log = ChannelLog()
      // All draws follow from the seed and the name.
      loss.log?.note(random.seed, at: .zero)
      noteState(at: trace.now)
    }
  }

  private mutating func noteState(at now: Instant) {
    guard loss.log != nil else { return }
    loss.log?.note(FNV1a.hash(of: "\(isUp) \(settings)"), at: now)
  }

  /// Returns the states of the channel up to a time.
  mutating func channelLog(until now: Instant) -> [(time: Instant, state: UInt64)] {
    loss.advance(to: now)
    return loss.log?.entries ?? []
  }

  // MARK: Packets

  /// Decides about a packet that enters now.
  mutating func offer(_ wireByteCount: Int, at now: Instant) -> Passage {
    statistics.offeredPackets &+= 1
    statistics.offeredBytes &+= wireByteCount
    let passage = admit(wireByteCount, at: now)
    if case .drop(let reason) = passage { statistics.drops[reason, default: 0] += 1 }
    return passage
  }

  /// Counts a packet, or a copy, which stays on the wire until it arrives or the wire goes down.
  mutating func flies() { flying += 1 }
  mutating func arrived() { flying -= 1 }

  private mutating func admit(_ wireByteCount: Int, at now: Instant) -> Passage {
    guard isUp else { return .drop(.linkDown) }
    guard !settings.isBlackhole else { return .drop(.blackhole) }
    guard settings.blackholeAbove.map({ wireByteCount <= $0 }) ?? true else {
      statistics.swallowedBySize += 1
      return .drop(.blackhole)
    }
    guard wireByteCount <= settings.mtu else { return .drop(.mtu) }
    // As in netem, loss and duplication are independent, and a packet that meets both arrives once.
    let isLost = loss.loses(packet: statistics.offeredPackets, at: now)
    var isDuplicated = settings.duplication > 0 && duplication.chance(settings.duplication, at: now)
    if isDuplicated { statistics.duplicatedPackets += 1 }
    if isLost {
      statistics.lostPackets += 1
      guard isDuplicated else { return .drop(.loss) }
      isDuplicated = false
    }
    guard let departure = transmit(wireByteCount, at: now) else { return .drop(.queue) }

    let overtakes = overtakes(at: now)
    let delay = overtakes ? .zero : jitter.draw(at: now) { settings.delay(drawing: &$0) }
    var carriage = Carriage(
      departure: departure, delay: delay, arrival: departure + delay, mayOvertake: overtakes)
    if overtakes {
      if carriage.arrival < latestArrival { statistics.overtakingPackets += 1 }
    } else {
      carriage.arrival = clamp(carriage.arrival)
    }
    carriage.damage = damage(at: now)
    if isDuplicated {
      let delay = jitter.draw(at: now) { settings.delay(drawing: &$0) }
      // A copy arrives after earlier packets, but later packets do not wait for it.
      let arrival = settings.order == .keep ? max(latestArrival, departure + delay) : departure + delay
      carriage.copy = (delay, arrival, damage(at: now))
    }
    return .carry(carriage)
  }

  private mutating func damage(at now: Instant) -> UInt64? {
    guard settings.corruption.probability > 0, corruption.chance(settings.corruption.probability, at: now) else {
      return nil
    }
    statistics.damagedPackets += 1
    return corruption.draw(at: now) { $0.next() }
  }

  /// Queues the packet and returns the time at which its last bit is sent, or nil if the queue is full.
  private mutating func transmit(_ wireByteCount: Int, at now: Instant) -> Instant? {
    guard let rate = settings.rate else { return now }
    settle(at: now)
    let start = max(now, free)
    guard queue.accepts(wireByteCount, limit: settings.queue, wait: start - now) else { return nil }
    if start > now { statistics.waitingPackets += 1 }
    statistics.longestWait = max(statistics.longestWait, start - now)
    free = start + rate.transmissionTime(byteCount: wireByteCount)
    return free
  }

  private mutating func clamp(_ arrival: Instant) -> Instant {
    guard settings.order == .keep else { return arrival }
    latestArrival = max(latestArrival, arrival)
    return latestArrival
  }

  private mutating func overtakes(at now: Instant) -> Bool {
    guard settings.reordering.probability > 0 else { return false }
    sinceReordering += 1
    guard sinceReordering >= settings.reordering.gap, reordering.chance(settings.reordering.probability, at: now) else {
      return false
    }
    sinceReordering = 0
    return true
  }

  /// Stores the schedule of a packet that `offer` accepted, because a change of rate may move it.
  mutating func enqueue(_ flight: UInt32, wireByteCount: Int, _ carriage: Carriage) {
    guard settings.rate != nil else { return }
    queue.append(
      Transmission(
        flight: flight, wireByteCount: UInt32(wireByteCount), departure: carriage.departure, delay: carriage.delay,
        arrival: carriage.arrival, mayOvertake: carriage.mayOvertake))
  }

  // MARK: Changes

  /// Changes the settings. Queued packets keep their drawn delays and follow the new rate.
  ///
  /// - Returns: whether arrivals moved; read them from ``queue``.
  mutating func change(to new: LinkSettings, at now: Instant) -> Bool {
    let old = settings.rate
    settings = new
    loss.change(to: new.loss, at: now)
    noteState(at: now)
    guard let old, old != new.rate else { return false }
    settle(at: now)
    guard !queue.isEmpty else { return false }
    free = queue.reschedule(at: now, from: old, to: new.rate, order: new.order)
    latestArrival = queue.transmissions.reduce(queue.settledArrival) { $1.holdsBack ? max($0, $1.arrival) : $0 }
    return true
  }

  /// Removes packets that have left the queue by now.
  mutating func settle(at now: Instant) { queue.settle(at: now, latest: latestArrival) }

  /// Takes the wire up or down. Going down loses queued packets and packets in flight.
  mutating func setUp(_ up: Bool, at now: Instant) {
    guard up != isUp else { return }
    isUp = up
    noteState(at: now)
    if up { return }
    epoch &+= 1
    statistics.cutPackets += flying
    flying = 0
    queue.removeAll()
    free = now
    latestArrival = now
  }
}

extension LinkSettings {
  /// Propagation delay plus jitter, never negative.
  fileprivate func delay(drawing random: inout RandomStream) -> Interval {
    switch jitter {
    case .none: delay
    case .uniform(let spread): max(.zero, delay + random.uniform(within: spread))
    case .normal(let deviation): max(.zero, delay + random.normal(standardDeviation: deviation))
    case .exponential(let mean): delay + random.exponential(mean: mean)
    }
  }
}

/// The packets that one direction of a link has carried, and the effects of each of its parts.
public struct LinkStatistics: Hashable, Sendable {
  /// Packets that were offered to the link.
  public var offeredPackets = 0
  /// IP bytes, headers included.
  public var offeredBytes = 0
  /// Packets that did not enter, by reason.
  public var drops: [DropReason: Int] = [:]
  /// Packets that a blackhole dropped only because of their size.
  public var swallowedBySize = 0
  /// Packets that the loss model dropped, including those of which a copy arrived.
  public var lostPackets = 0
  /// Packets that were lost in flight because the link went down.
  public var cutPackets = 0
  /// Packets that waited for the transmission of others.
  public var waitingPackets = 0
  /// Packets that arrived before one sent earlier, because they skipped the delay.
  public var overtakingPackets = 0
  /// Packets that the link delivered twice.
  public var duplicatedPackets = 0
  /// Packets that the link damaged.
  public var damagedPackets = 0
  /// The longest time an accepted packet waited for its transmission to begin.
  public var longestWait = Interval.zero

  package init() {}

  /// Packets that did not enter, for any reason.
  public var droppedPackets: Int { DropReason.allCases.reduce(0) { $0 + (drops[$1] ?? 0) } }
  /// Packets that entered.
  public var carriedPackets: Int { offeredPackets - droppedPackets }
}
