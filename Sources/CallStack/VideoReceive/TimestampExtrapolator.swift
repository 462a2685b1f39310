package import CallCore
import RTP

/// Maps media timestamps to the local clock by recursive least squares over the arrival of frames, as libwebrtc does:
/// it follows the clock's drift and sudden changes of the path's delay.
package struct TimestampExtrapolator: Sendable {
  private static let resetTimeout = Interval.seconds(10)
  private static let startupFrames = 2
  /// The uncertainty of the offset at the start and after a change of delay.
  private static let offsetUncertainty = 1e10
  private static let alarm = 60e3
  /// The errors in ticks that a detector of changes takes as drift, and at most.
  private static let drift = 6_600.0
  private static let maximumError = 7_000.0

  private var start: Instant
  private var previous: Instant
  private var unwrapper = TimestampUnwrapper()
  private var first: Int64?
  private var last: Int64?
  private var frames = 0
  /// The ticks per millisecond and the offset in ticks.
  private var rate = 90.0
  private var offset = 0.0
  private var covariance = (rr: 1.0, ro: 0.0, or: 0.0, oo: TimestampExtrapolator.offsetUncertainty)
  private var excess = (positive: 0.0, negative: 0.0)

  package init(at now: Instant) {
    start = now
    previous = now
  }

  /// Takes a frame's timestamp of the 90 kHz clock and the time of its arrival.
  package mutating func update(timestamp: UInt32, at now: Instant) {
    if now - previous > Self.resetTimeout { self = TimestampExtrapolator(at: now) }
    previous = now
    let time = Double((now - start).milliseconds)
    let ticks = unwrapper.unwrap(timestamp)
    if first == nil {
      offset = -rate * time
      first = ticks
    }
    let residual = Double(ticks - (first ?? ticks)) - time * rate - offset
    if hasDelayChanged(residual), frames >= Self.startupFrames { covariance.oo = Self.offsetUncertainty }
    // A reordered frame says nothing about the clock.
    if let last, ticks < last { return }
    var gain = (r: covariance.rr * time + covariance.ro, o: covariance.or * time + covariance.oo)
    let total = 1 + time * gain.r + gain.o
    gain = (gain.r / total, gain.o / total)
    rate += gain.r * residual
    offset += gain.o * residual
    let old = covariance
    covariance.rr = old.rr - (gain.r * time * old.rr + gain.r * old.or)
    covariance.ro = old.ro - (gain.r * time * old.ro + gain.r * old.oo)
    covariance.or = old.or - (gain.o * time * old.rr + gain.o * old.or)
    covariance.oo = old.oo - (gain.o * time * old.ro + gain.o * old.oo)
    last = ticks
    frames = min(frames + 1, Self.startupFrames)
  }

  /// Returns the time at which a frame of a timestamp is expected to have arrived; nil before the first frame.
  package func localTime(of timestamp: UInt32) -> Instant? {
    guard let first, let last else { return nil }
    let ticks = unwrapper.peek(timestamp)
    if frames < Self.startupFrames { return previous + Interval.milliseconds(ticks - last) / 90 }
    guard rate >= 1e-3 else { return start }
    let milliseconds = (Double(ticks - first) - offset) / rate
    return start + Interval.milliseconds(1).scaled(by: milliseconds)
  }

  /// Sums up errors of one sign beyond drift, and reports when there are too many.
  private mutating func hasDelayChanged(_ error: Double) -> Bool {
    let error = min(max(error, -Self.maximumError), Self.maximumError)
    excess.positive = max(excess.positive + error - Self.drift, 0)
    excess.negative = min(excess.negative + error + Self.drift, 0)
    guard excess.positive > Self.alarm || excess.negative < -Self.alarm else { return false }
    excess = (0, 0)
    return true
  }
}
