package import CallCore

/// Decides when a frame is decoded and shown, as libwebrtc's timing does.
///
/// A frame is shown a delay after the time at which its timestamp lets it be expected. The delay covers jitter,
/// decoding and rendering, and changes slowly.
package struct RenderTiming: Sendable {
  package struct Settings: Hashable, Sendable {
    /// The time between the end of decoding and the picture's appearance.
    package var renderDelay = Interval.milliseconds(10)
    /// The bounds of the delay, as the playout-delay header extension or W3C's `jitterBufferTarget` gives them.
    package var minimumDelay = Interval.zero
    package var maximumDelay = Interval.seconds(10)
    /// The change of the delay in a second of media.
    package var slew = Interval.milliseconds(100)

    package init() {}
  }

  /// The maximum distance between now and the time a frame is shown; beyond it, the clock is wrong.
  package static let maximumVideoDelay = Interval.seconds(10)
  /// The greatest maximum delay at which frames of a stream without a minimum are shown at once.
  private static let lowLatencyMaximum = Interval.milliseconds(500)
  /// The minimum time between frames that are decoded at once.
  private static let zeroDelayPacing = Interval.milliseconds(8)
  /// The number of waiting frames from which they are no longer paced.
  package static let maximumPacedFrames = 8

  package var settings: Settings
  private var extrapolator: TimestampExtrapolator
  private var decodeTimes = DecodeTimes()
  /// The delay that jitter needs.
  package private(set) var jitterDelay = Interval.zero
  /// The delay now, on its way to ``targetDelay``.
  package private(set) var currentDelay = Interval.zero
  private var lastTimestamp: UInt32?
  private var lastDecode: Instant?

  package init(settings: Settings = Settings(), at now: Instant) {
    self.settings = settings
    extrapolator = TimestampExtrapolator(at: now)
  }

  /// The 95th percentile of decode times.
  package var decodeTime: Interval { decodeTimes.percentile }

  /// The delay that jitter, decoding and rendering need.
  package var targetDelay: Interval {
    max(settings.minimumDelay, jitterDelay + decodeTime + settings.renderDelay)
  }

  /// Whether frames are shown as soon as they are decoded.
  package var isLowLatency: Bool {
    settings.minimumDelay <= .zero && settings.maximumDelay <= Self.lowLatencyMaximum
  }

  /// Takes a whole frame's timestamp when it has arrived.
  package mutating func frameArrived(timestamp: UInt32, at now: Instant) {
    extrapolator.update(timestamp: timestamp, at: now)
  }

  /// Takes the time that a frame took to decode.
  package mutating func frameDecoded(in duration: Interval, at now: Instant) {
    decodeTimes.append(duration, at: now)
  }

  package mutating func setJitterDelay(_ delay: Interval) {
    jitterDelay = delay
    if currentDelay == .zero { currentDelay = delay }
  }

  /// Moves the delay towards its target when a frame is given to the decoder: by the slew, and at once by what the
  /// frame was late.
  ///
  /// - Parameter renderTime: the time at which the frame is shown; nil when its lateness says nothing about the path.
  package mutating func updateDelay(timestamp: UInt32, renderTime: Instant?, at now: Instant) {
    let target = targetDelay
    if let renderTime {
      let late = now - renderTime + decodeTime + settings.renderDelay
      if late > .zero, currentDelay < target { currentDelay = min(target, currentDelay + late) }
    }
    let ticks = lastTimestamp.map { Int32(bitPattern: timestamp &- $0) }
    if let ticks, ticks > 0 {
      let step = settings.slew.scaled(by: Double(ticks) / 90_000)
      currentDelay += min(max(target - currentDelay, -step), step)
    }
    if ticks ?? 1 > 0 { lastTimestamp = timestamp }
    lastDecode = now
  }

  /// Returns when a frame is shown; now, before its clock is known or when it is shown at once.
  package func renderTime(of timestamp: UInt32, at now: Instant) -> Instant {
    guard !isLowLatency, let arrival = extrapolator.localTime(of: timestamp) else { return now }
    return arrival + min(max(currentDelay, settings.minimumDelay), max(settings.minimumDelay, settings.maximumDelay))
  }

  /// Returns the time until a frame is given to the decoder; negative when it is late.
  ///
  /// - Parameter queued: the number of frames that wait.
  package func wait(untilRendering renderTime: Instant, queued: Int, at now: Instant) -> Interval {
    guard isLowLatency else { return renderTime - now - decodeTime - settings.renderDelay }
    guard queued <= Self.maximumPacedFrames, let lastDecode else { return .zero }
    return max(.zero, lastDecode + Self.zeroDelayPacing - now)
  }

  /// Whether a frame would be shown so far from now that the clock must be wrong.
  package func isImplausible(_ renderTime: Instant, at now: Instant) -> Bool {
    let distance = renderTime - now
    return distance > Self.maximumVideoDelay || distance < -Self.maximumVideoDelay
      || targetDelay > Self.maximumVideoDelay
  }

  /// Begins again with an unknown clock.
  package mutating func reset(at now: Instant) {
    self = RenderTiming(settings: settings, at: now)
  }
}
