import CallCore

/// Sets the target delay so that all but the latest few packets arrive in time (libwebrtc's `DelayManager`).
struct DelayManager: Sendable {
  struct Settings: Hashable, Sendable {
    var minimumDelay = Interval.zero
    var maximumDelay = Interval.seconds(2)
    var initialDelay = Interval.milliseconds(80)
  }

  /// The pull interval of the device for which libwebrtc's constants are chosen.
  private static let usualPull = Interval.milliseconds(10)
  private static let granularity = Interval.milliseconds(20)

  var settings: Settings
  /// The pull interval of the device: a packet may be needed that much earlier.
  var pullInterval = usualPull
  private var arrivals = ArrivalHistory()
  private var underrun = UnderrunOptimizer()
  private var reorder = ReorderOptimizer()
  /// The timestamps of the last two seconds whose media first arrived as redundancy.
  private var restored: [Int64] = []

  init(settings: Settings) { self.settings = settings }

  /// The target due to the network's jitter.
  var networkTarget: Interval {
    max(underrun.delay ?? settings.initialDelay, reorder.delay ?? .zero) + max(.zero, pullInterval - Self.usualPull)
  }

  /// The target delay within the configured bounds.
  var target: Interval { max(settings.minimumDelay, min(networkTarget, settings.maximumDelay)) }

  /// The delay above which playout accelerates. Between the target and this limit packets are played unchanged: a
  /// packet as late as the latest of the last two seconds still arrives in time.
  var upperLimit: Interval { target + arrivals.largestDelay + Self.granularity }

  /// Takes a packet's arrival.
  ///
  /// - Parameters:
  ///   - timestamp: the unwrapped timestamp at 48 kHz.
  ///   - isInOrder: whether the packet has the highest sequence number so far.
  mutating func receive(timestamp: Int64, isInOrder: Bool, at now: Instant) {
    if !isInOrder, restored.contains(timestamp) { return }
    if !arrivals.insert(timestamp, at: now), isInOrder {
      // A newer packet with an older timestamp means that the sender's media clock was set back.
      forgetArrivals()
      _ = arrivals.insert(timestamp, at: now)
    }
    let relative = arrivals.delay(of: timestamp, at: now)
    if isInOrder { underrun.add(relative, at: now) }
    reorder.add(relative, isReordered: !isInOrder, base: underrun.delay ?? settings.initialDelay)
  }

  /// Takes the arrival of redundancy, before that of the packet that carries it. The media of a missing packet is
  /// available only now, so its delay counts as that of the network (libwebrtc's `PacketArrived` of each frame).
  mutating func receiveRedundancy(timestamp: Int64, at now: Instant) {
    receive(timestamp: timestamp, isInOrder: true, at: now)
    restored.removeAll { $0 < timestamp &- ArrivalHistory.window }
    restored.append(timestamp)
  }

  /// Returns the time for which the fastest packet would have waited if media with this timestamp were played at `now`.
  func delay(of timestamp: Int64, at now: Instant) -> Interval { arrivals.delay(of: timestamp, at: now) }

  /// Forgets the fastest and slowest packets after a break in the stream; the jitter statistics stay.
  mutating func forgetArrivals() { arrivals = ArrivalHistory() }
}
