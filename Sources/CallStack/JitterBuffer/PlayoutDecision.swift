import CallCore

/// What to play next.
enum PlayoutDecision: Hashable, Sendable {
  /// Decode the first packet as it is.
  case normal
  /// Decode it and leave out a stretch, to lower the delay. `urgent` accepts a poorer match.
  case accelerate(urgent: Bool)
  /// Decode it and repeat a stretch, to raise the delay.
  case decelerate
  /// Restore this many samples before the first packet from its redundancy.
  case recover(samples: Int)
  /// Invent this many samples for a loss, or for a packet that is late.
  case conceal(samples: Int)
  /// Fill this much of a pause the sender made.
  case comfort(samples: Int)
}

/// Everything the decision rests on.
struct PlayoutSituation: Hashable, Sendable {
  struct Packet: Hashable, Sendable {
    /// Samples between what was decoded last and this packet; negative when it overlaps.
    var gap: Int64
    /// Whether its number follows the last one decoded: the gap before it is then a pause, not a loss.
    var isConsecutive: Bool
    var samples: Int
    var hasRedundancy: Bool
    /// How long the fastest packet would have waited if played now.
    var delay: Interval
  }

  /// The packet with the lowest number, or nil when none waits.
  var first: Packet?
  var target: Interval
  /// Samples already invented since the last decoded one.
  var filled: Int64
  /// Whether the last packet decoded announced silence.
  var isPaused: Bool
  /// Whether enough time has passed since the last stretch.
  var mayStretch: Bool
}

extension PlayoutDecision {
  /// What is invented at a time: one pull's worth.
  static let chunk = 480

  static func make(for situation: PlayoutSituation) -> PlayoutDecision {
    guard let first = situation.first else {
      return situation.isPaused ? .comfort(samples: chunk) : .conceal(samples: chunk)
    }
    let remaining = first.gap - situation.filled
    // A packet that has waited far beyond the target is played even if its timestamp says later: timestamps may jump.
    let isOverdue =
      first.delay > upperLimit(situation.target) + .milliseconds(20) && !Defect.jumpNotFollowed.isPlanted
    if first.gap <= 0 || remaining <= 0 || (isOverdue && first.isConsecutive) { return decode(first, situation) }
    if first.isConsecutive { return .comfort(samples: wholeUnits(min(remaining, Int64(chunk)))) }
    let recoverable = first.hasRedundancy ? Int64(first.samples) : 0
    if remaining <= recoverable { return .recover(samples: Int(remaining)) }
    return .conceal(samples: wholeUnits(min(remaining - recoverable, Int64(chunk))))
  }

  private static func decode(_ first: PlayoutSituation.Packet, _ situation: PlayoutSituation) -> PlayoutDecision {
    let high = upperLimit(situation.target)
    let isUrgent = first.delay > high + .milliseconds(100)
    if first.delay > high, situation.mayStretch || isUrgent { return .accelerate(urgent: isUrgent) }
    if first.delay < lowerLimit(situation.target), situation.mayStretch { return .decelerate }
    return .normal
  }

  /// Below this the delay is raised: the target was rounded up by no more than a histogram bucket.
  static func lowerLimit(_ target: Interval) -> Interval { max(target * 3 / 4, target - .milliseconds(10)) }

  /// Above this it is lowered; the band is wide enough for a whole pitch period not to overshoot it.
  static func upperLimit(_ target: Interval) -> Interval { max(lowerLimit(target) + .milliseconds(20), target * 9 / 8) }

  /// Decoders conceal in units of 2.5 ms.
  private static func wholeUnits(_ samples: Int64) -> Int { Int((samples + 119) / 120 * 120) }
}
