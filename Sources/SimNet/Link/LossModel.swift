public import CallCore

/// The model by which a link loses packets.
public enum LossModel: Hashable, Sendable {
  /// No loss.
  case none
  /// Each packet independently with this probability.
  case random(Double)
  /// In bursts that follow the state of the channel in virtual time.
  case gilbertElliott(GilbertElliott)
  /// A script: the packets with these numbers, counted from the direction's start (plus `after`) with 1, including
  /// packets that other causes lose. With a period the count restarts after that many packets.
  case packets([ClosedRange<Int>], period: Int?, after: Int = 0)
  /// A script: the packets that enter in these spans, counted from a time (`from`). With a period they repeat.
  case spans([Range<Interval>], period: Interval?, from: Instant = .zero)

  /// Returns the script that loses every `n`-th packet, beginning with number `n`.
  public static func every(_ n: Int) -> LossModel { .packets([n...n], period: n) }

  /// Whether the model is a script, so that its start matters.
  package var isScript: Bool {
    switch self {
    case .packets, .spans: true
    case .none, .random, .gilbertElliott: false
    }
  }

  /// Returns the model with its start now: a script counts from here, and continues to count while another model
  /// replaces it.
  ///
  /// - Parameters:
  ///   - packets: the number of packets offered to the direction so far.
  ///   - now: the current time.
  package func begun(after packets: Int, at now: Instant) -> LossModel {
    switch self {
    case .packets(let ranges, let period, _): .packets(ranges, period: period, after: packets)
    case .spans(let spans, let period, _): .spans(spans, period: period, from: now)
    case .none, .random, .gilbertElliott: self
    }
  }

  /// The long-term share of lost packets, as far as the model alone determines it.
  public var meanLoss: Double {
    switch self {
    case .none: 0
    case .random(let probability): probability
    case .gilbertElliott(let model): model.meanLoss
    case .packets(let ranges, let period, _):
      period.map { Double(ranges.reduce(0) { $0 + $1.count }) / Double($0) } ?? 0
    case .spans(let spans, let period, _):
      period.map { spans.reduce(0) { $0 + ($1.upperBound - $1.lowerBound).seconds } / $0.seconds } ?? 0
    }
  }

  /// The error in the model, or nil.
  package var problem: String? {
    switch self {
    case .none: nil
    case .random(let probability): (0...1).contains(probability) ? nil : "loss must lie within 0...1"
    case .gilbertElliott(let model): model.problem
    case .packets(let ranges, let period, _):
      // A packet number must follow the end of the part before.
      Self.problem(of: ranges.map { ($0.lowerBound, $0.upperBound) }, first: 1, shortest: 1, period) { $0 > $1 }
    case .spans(let spans, let period, _):
      // A span excludes its end: the next span may begin there.
      Self.problem(of: spans.map { ($0.lowerBound, $0.upperBound) }, first: .zero, shortest: .nanoseconds(1), period) {
        $0 >= $1
      }
    }
  }

  /// Returns the error of a script's parts, which must be in order and must not overlap.
  private static func problem<Bound: Comparable>(
    of parts: [(from: Bound, to: Bound)], first: Bound, shortest: Bound, _ period: Bound?,
    _ isAfter: (_ from: Bound, _ end: Bound) -> Bool
  ) -> String? {
    if let period, period < shortest { return "a script is not longer than nothing" }
    for (index, part) in parts.enumerated() {
      if part.from < first { return "a script begins with \(first)" }
      if index > 0, !isAfter(part.from, parts[index - 1].to) { return "the parts of a script are in order and apart" }
      if let period, part.to > period { return "a script does not repeat before its end" }
    }
    return nil
  }
}

/// The Gilbert-Elliott channel in continuous time: it is good or bad for exponentially distributed spans, and the
/// probability of loss depends on the state only.
///
/// The state follows virtual time, not the count of packets, so all flows of a link share it and two senders with
/// different packet rates meet the identical channel. It starts good.
public struct GilbertElliott: Hashable, Sendable {
  /// The mean length of the good state; zero for a channel that is always bad.
  public var meanGood: Interval
  /// The mean length of the bad state; zero for a channel that is never bad.
  public var meanBad: Interval
  /// The probability of loss while the channel is good, 0 to 1.
  public var goodLoss: Double
  /// The probability of loss while the channel is bad, 0 to 1.
  public var badLoss: Double

  /// Creates a channel from the mean lengths of its two states and their losses.
  public init(meanGood: Interval, meanBad: Interval, goodLoss: Double = 0, badLoss: Double = 1) {
    self.meanGood = meanGood
    self.meanBad = meanBad
    self.goodLoss = goodLoss
    self.badLoss = badLoss
  }

  /// Creates the channel that loses the share `meanLoss` of evenly spaced packets and is bad for `meanBurst` at a time.
  ///
  /// `meanLoss` is clamped to the range between the losses of the two states, because only these can be mixed.
  public init(meanLoss: Double, meanBurst: Interval, badLoss: Double = 1, goodLoss: Double = 0) {
    let bad = badLoss > goodLoss ? (meanLoss - goodLoss) / (badLoss - goodLoss) : 0
    var (good, burst) = (meanBurst, meanBurst)
    if bad >= 1 {
      good = .zero
    } else if bad > 0 {
      good = meanBurst.scaled(by: (1 - bad) / bad)
    } else {
      burst = .zero
    }
    self.init(meanGood: good, meanBad: burst, goodLoss: goodLoss, badLoss: badLoss)
  }

  /// The share of time in which the channel is bad.
  public var badShare: Double {
    let good = Double(meanGood.nanoseconds)
    let bad = Double(meanBad.nanoseconds)
    return bad / (good + bad)
  }

  /// The share of evenly spaced packets that the channel loses, 0 to 1.
  public var meanLoss: Double { (1 - badShare) * goodLoss + badShare * badLoss }

  var problem: String? {
    // Shorter states would make the chain itself the main cost of a run.
    for sojourn in [meanGood, meanBad] where sojourn != .zero && sojourn < .microseconds(10) {
      return "mean sojourns must be at least 10us"
    }
    if meanGood == meanBad, meanGood == .zero { return "a channel must be good or bad for some time" }
    return (0...1).contains(goodLoss) && (0...1).contains(badLoss) ? nil : "loss must lie within 0...1"
  }
}
