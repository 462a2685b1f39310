import CallCore

/// The next step of playout.
enum PlayoutDecision: Hashable, Sendable {
  /// Decode the first packet as it is.
  case normal
  /// Decode it and remove a pitch period, to lower the delay. `urgent` accepts a poorer match.
  case accelerate(urgent: Bool)
  /// Decode it and repeat a pitch period, to raise the delay.
  case decelerate
  /// Decode this many samples before the first packet from its redundancy.
  case recover(samples: Int)
  /// Conceal this many samples of a lost or late packet.
  case conceal(samples: Int)
  /// Fill this much of a sender's pause with comfort noise.
  case comfort(samples: Int)
}

/// The input of the decision.
struct PlayoutSituation: Hashable, Sendable {
  struct Packet: Hashable, Sendable {
    /// The number of samples between the last decoded one and this packet; negative when it overlaps.
    var gap: Int64
    /// Whether its sequence number follows the last decoded one, so that the gap before it is a pause, not a loss.
    var isConsecutive: Bool
    /// The number of samples just before it that its redundancy restores.
    var redundantSamples: Int
    /// The time for which the fastest packet would have waited if this one were played now.
    var delay: Interval
  }

  /// The packet with the lowest sequence number; nil when none waits.
  var first: Packet?
  var target: Interval
  /// The delay above which playout accelerates.
  var upperLimit: Interval
  /// The number of samples concealed or filled since the last decoded one.
  var filled: Int64
  /// Whether the last decoded packet marked silence.
  var isPaused: Bool
  /// Whether enough time has passed since the last stretch, and no concealment is in progress.
  var mayStretch: Bool
  /// Whether concealment has faded to less than half its level, or a pause is being filled: continuing is then less
  /// audible than running out of packets again.
  var mayWait: Bool
  /// The length of the waiting media from the first to the newest packet, plus the waiting time of the newest; nil when
  /// the newest marks a pause.
  var span: Interval?
}

extension PlayoutDecision {
  /// The number of samples concealed or filled at once: one pull.
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
    // A packet that has waited far beyond the target is played even if its timestamp is later: timestamps may jump, and
    // after a loss this reduces the delay.
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
