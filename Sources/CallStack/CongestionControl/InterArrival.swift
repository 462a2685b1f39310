import CallCore

/// Groups packets that left together, and compares the spacing of successive groups at both ends of the path
/// (libwebrtc `InterArrivalDelta`).
struct InterArrival: Sendable {
  /// The time between two groups.
  struct Delta: Hashable, Sendable, BitwiseCopyable {
    var sent: Interval
    var arrived: Interval
  }

  private struct Group: BitwiseCopyable {
    let firstSent: Instant
    var lastSent: Instant
    let firstArrived: Instant
    var lastArrived: Instant
    /// The time of the feedback about the last packet, by the own clock.
    var reported: Instant
  }

  private var current: Group?
  private var previous: Group?
  /// The number of successive groups that arrived before their predecessor.
  private var reorderedCount = 0

  /// The time in which a group is sent.
  private static let length = Interval.milliseconds(5)
  /// The maximum arrival gap, and the maximum duration, of a burst that the path has bunched together.
  private static let burstGap = Interval.milliseconds(5)
  private static let burstDuration = Interval.milliseconds(100)
  /// The change of the remote clock against the own one that counts as a jump.
  private static let clockJump = Interval.seconds(3)
  private static let reorderedLimit = 3

  /// Adds a packet in the order of arrival.
  ///
  /// - Returns: the spacing of the last two complete groups, when the packet begins another one.
  mutating func add(sent: Instant, arrived: Instant, at now: Instant) -> Delta? {
    let single = Group(
      firstSent: sent, lastSent: sent, firstArrived: arrived, lastArrived: arrived, reported: now)
    guard var group = current else {
      current = single
      return nil
    }
    // It belongs to a group that is complete.
    guard sent >= group.firstSent else { return nil }
    if sent - group.firstSent <= Self.length || belongsToBurst(group, sent: sent, arrived: arrived) {
      group.lastSent = max(group.lastSent, sent)
      group.lastArrived = arrived
      group.reported = now
      current = group
      return nil
    }
    let delta = previous.map { Delta(sent: group.lastSent - $0.lastSent, arrived: group.lastArrived - $0.lastArrived) }
    if let delta, let previous {
      guard delta.arrived - (group.reported - previous.reported) < Self.clockJump else {
        self = InterArrival()
        return nil
      }
      guard delta.arrived >= .zero else {
        reorderedCount += 1
        if reorderedCount >= Self.reorderedLimit { self = InterArrival() }
        return nil
      }
      reorderedCount = 0
    }
    previous = group
    current = single
    return delta
  }

  private func belongsToBurst(_ group: Group, sent: Instant, arrived: Instant) -> Bool {
    let sentGap = sent - group.lastSent
    if sentGap == .zero { return true }
    let arrivalGap = arrived - group.lastArrived
    return arrivalGap < sentGap && arrivalGap <= Self.burstGap && arrived - group.firstArrived < Self.burstDuration
  }
}
