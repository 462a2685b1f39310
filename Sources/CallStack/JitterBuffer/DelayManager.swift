import CallCore

/// Decides how long packets should wait: as long as all but the latest few need (libwebrtc's `DelayManager`).
struct DelayManager: Sendable {
  struct Settings: Hashable, Sendable {
    var minimumDelay = Interval.zero
    var maximumDelay = Interval.seconds(2)
    var initialDelay = Interval.milliseconds(80)
  }

  /// The device that libwebrtc's figures are for asks this often.
  private static let usualPull = Interval.milliseconds(10)
  private static let granularity = Interval.milliseconds(20)

  let settings: Settings
  /// How often the device asks: a packet may have to be there that much earlier.
  var pullInterval = usualPull
  private var arrivals = ArrivalHistory()
  private var underrun = UnderrunOptimizer()
  private var reorder = ReorderOptimizer()
  /// The timestamps of the last two seconds that came as redundancy first.
  private var restored: [Int64] = []

  init(settings: Settings) { self.settings = settings }

  /// The target that the network's jitter asks for.
  var networkTarget: Interval {
    max(underrun.delay ?? settings.initialDelay, reorder.delay ?? .zero) + max(.zero, pullInterval - Self.usualPull)
  }

  /// The delay to steer for.
  var target: Interval { max(settings.minimumDelay, min(networkTarget, settings.maximumDelay)) }

  /// Above this the delay is lowered. Between the target and this, packets play as they are: one as late as the latest of
  /// the last two seconds still comes in time, and nothing is stretched.
  var upperLimit: Interval { target + arrivals.largestDelay + Self.granularity }

  /// Takes a packet's arrival.
  ///
  /// - Parameters:
  ///   - timestamp: unwrapped, at 48 kHz.
  ///   - isInOrder: whether its sequence number is the highest so far.
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

  /// Takes the arrival of redundancy, before that of the packet that carries it: media of a packet that has not come are
  /// there only now, and as late as that counts as the network's doing (libwebrtc's `PacketArrived` of each frame).
  mutating func receiveRedundancy(timestamp: Int64, at now: Instant) {
    receive(timestamp: timestamp, isInOrder: true, at: now)
    restored.removeAll { $0 < timestamp &- ArrivalHistory.window }
    restored.append(timestamp)
  }

  /// How long the fastest packet would have waited if media with this timestamp were played at `now`.
  func delay(of timestamp: Int64, at now: Instant) -> Interval { arrivals.delay(of: timestamp, at: now) }

  /// Forgets which packets were the fastest and the slowest, after a break in the stream; what is known of jitter stays.
  mutating func forgetArrivals() { arrivals = ArrivalHistory() }
}
