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
    /// How much of what stands just before it it can restore.
    var redundantSamples: Int
    /// How long the fastest packet would have waited if played now.
    var delay: Interval
  }

  /// The packet with the lowest number, or nil when none waits.
  var first: Packet?
  var target: Interval
  /// Above this the delay is lowered.
  var upperLimit: Interval
  /// Samples already invented since the last decoded one.
  var filled: Int64
  /// Whether the last packet decoded announced silence.
  var isPaused: Bool
  /// Whether enough time has passed since the last stretch, and nothing is being concealed.
  var mayStretch: Bool
  /// Whether what is invented has faded to less than half its loudness, or a pause is being filled: going on with it is
  /// less audible than running out of packets again.
  var mayWait: Bool
  /// How much waits, from the first packet to the newest, and how long the newest has waited; nil when a packet among
  /// them marks a pause.
  var span: Interval?
}

extension PlayoutDecision {
  /// What is invented at a time: one pull's worth.
  static let chunk = 480

  static func make(for situation: PlayoutSituation) -> PlayoutDecision {
    guard let first = situation.first else {
      return situation.isPaused ? .comfort(samples: chunk) : .conceal(samples: chunk)
    }
    if situation.mayWait, let span = situation.span, span < situation.target / 2 {
      return situation.isPaused ? .comfort(samples: chunk) : .conceal(samples: chunk)
    }
    let remaining = first.gap - situation.filled
    if first.gap <= 0 || remaining <= 0 { return decode(first, situation) }
    // A packet that has waited far beyond the target is played even if its timestamp says later: timestamps may jump, and
    // after a loss it is where delay can be had back.
    let isOverdue = first.delay > situation.target + overdue && !Defect.jumpNotFollowed.isPlanted
    if first.isConsecutive {
      return isOverdue ? decode(first, situation) : .comfort(samples: wholeUnits(min(remaining, Int64(chunk))))
    }
    let recoverable = Int64(first.redundantSamples)
    if remaining <= recoverable { return .recover(samples: Int(remaining)) }
    if isOverdue, situation.filled > 0 { return decode(first, situation) }
    return .conceal(samples: wholeUnits(min(remaining - recoverable, Int64(chunk))))
  }

  private static func decode(_ first: PlayoutSituation.Packet, _ situation: PlayoutSituation) -> PlayoutDecision {
    let isUrgent = first.delay >= situation.upperLimit * 4
    if isUrgent || (first.delay >= situation.upperLimit && situation.mayStretch) {
      return .accelerate(urgent: isUrgent)
    }
    if first.delay < situation.target, situation.mayStretch { return .decelerate }
    return .normal
  }

  /// Half of NetEq's window around the target.
  private static let overdue = Interval.milliseconds(50)

  /// Decoders conceal in units of 2.5 ms.
  private static func wholeUnits(_ samples: Int64) -> Int { Int((samples + 119) / 120 * 120) }
}
