internal import CallCore

/// The judgement on the video of one subscription, from the loss on the way to the subscriber: a model of the harness,
/// with times and shares of its own.
///
/// What is lost in a second is the greater of two shares: what the last receiver report tells, and what of the packets
/// was sent again. Where a queue lets nothing of a video pass, both may be small, for the receiver expects nothing; the
/// loss of another stream on the connection counts then, from ``blockedShare`` on.
struct VideoQuality {
  /// The counters of what the router sends, of the video, or of the audio while there is no video.
  struct Leg {
    let packets: Int64
    let repeated: Int64
    let reportedLoss: Double
  }

  enum Verdict: String { case warning, lifted, disabled, enabled }

  private(set) var isDisabled = false
  /// What the subscriber was last told, or would be.
  var state: Verdict { isDisabled ? .disabled : isWarned ? .warning : .enabled }
  private var isWarned = false
  /// The seconds in which the loss was bad, and in which it was good, without a break.
  private var (bad, good) = (0, 0)
  /// The good seconds after which video is tried again; twice as many after each relapse.
  private var wait = VideoQuality.firstWait

  /// The share that is lost from which a second is bad, and below which it is good.
  private static let (badShare, goodShare) = (0.10, 0.05)
  /// The bad seconds before a warning and before the end of video; the good ones before a warning is lifted.
  private static let (warnAfter, disableAfter, liftAfter) = (1, 3, 5)
  private static let (firstWait, longestWait) = (30, 480)
  /// The share that a stream loses where a queue is blocked.
  static let blockedShare = 0.5

  private var last: Leg?

  /// Takes the counters after a second.
  mutating func measured(_ leg: Leg) -> Verdict? {
    let before = last
    last = leg
    guard let before, leg.packets >= before.packets else { return nil }
    let repeated = Double(leg.repeated - before.repeated) / Double(max(1, leg.packets - before.packets))
    let verdict = judged(loss: max(leg.reportedLoss, repeated))
    // The other kind is measured from now on, with counters of its own.
    if verdict == .disabled || verdict == .enabled { last = nil }
    return verdict
  }

  private mutating func judged(loss: Double) -> Verdict? {
    bad = loss >= Self.badShare ? bad + 1 : 0
    good = loss < Self.goodShare ? good + 1 : 0
    if isDisabled {
      guard good >= wait else { return nil }
      (isDisabled, isWarned, good) = (false, false, 0)
      wait = min(wait * 2, Self.longestWait)
      return .enabled
    }
    if bad >= Self.disableAfter {
      (isDisabled, good) = (true, 0)
      return .disabled
    }
    if bad >= Self.warnAfter, !isWarned {
      isWarned = true
      return .warning
    }
    if isWarned, good >= Self.liftAfter {
      isWarned = false
      return .lifted
    }
    return nil
  }
}
