package import CallCore

/// Limits the data in flight to what the path holds (libwebrtc `CongestionWindowPushbackController`).
package struct CongestionWindow: Sendable {
  package struct Settings: Hashable, Sendable {
    package enum Mode: Hashable, Sendable { case off, dropFrames, reduceTarget }

    /// The use of the window. By default the encoder drops frames and keeps its target rate.
    package var mode = Mode.dropFrames
    /// The time that packets may wait in queues of the path.
    package var queueTime = Interval.milliseconds(350)
    /// The rate below which the window does not push a target.
    package var minimumRate = DataRate.kilobitsPerSecond(30)

    package init() {}
  }

  package var settings: Settings
  var bytesInFlight = 0
  private var size: Int?
  private var ratio = 1.0
  /// The longest round trips of the last feedback packets.
  private var roundTrips = SlidingWindow<Interval>(capacity: 32)

  private static let minimumSize = 2 * 1_500

  init(settings: Settings) { self.settings = settings }

  mutating func addRoundTrip(_ longest: Interval) { roundTrips.append(longest) }

  /// The mean of the longest round trips; nil before the first feedback.
  var meanRoundTrip: Interval? {
    guard roundTrips.count > 0 else { return nil }
    var sum = Interval.zero
    for index in 0..<roundTrips.count { sum += roundTrips[index] }
    return sum / Int64(roundTrips.count)
  }

  /// Computes the size of the window for an estimate.
  mutating func update(for estimate: DataRate) {
    guard settings.mode != .off, var shortest = roundTrips.first else { return }
    for index in 1..<max(1, roundTrips.count) { shortest = min(shortest, roundTrips[index]) }
    let wanted = estimate.byteCount(in: shortest + settings.queueTime)
    size = max(Self.minimumSize, size.map { ($0 + wanted) / 2 } ?? wanted)
  }

  /// Returns the rate that the window leaves of an estimate.
  mutating func pushBack(_ estimate: DataRate) -> DataRate {
    guard settings.mode != .off, let size else { return estimate }
    switch Double(bytesInFlight) / Double(size) {
    case 1.5.nextUp...: ratio *= 0.9
    case 1.0.nextUp...: ratio *= 0.95
    case ..<0.1: ratio = 1
    default: ratio = min(ratio * 1.05, 1)
    }
    let reduced = estimate * ratio
    return reduced < settings.minimumRate ? min(estimate, settings.minimumRate) : reduced
  }
}
