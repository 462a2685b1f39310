public import CallCore

/// Which packets a link loses.
public enum LossModel: Hashable, Sendable {
  case none
  /// Each packet independently with this probability.
  case random(Double)
  /// In bursts that follow the state of the channel in virtual time.
  case gilbertElliott(GilbertElliott)
  /// Every `n`-th packet, the first loss being packet number `n`.
  case every(Int)
  /// A script: true loses the packet. After its end nothing is lost, or it starts again.
  case script([Bool], repeats: Bool)

  /// The share of packets lost in the long run.
  public var meanLoss: Double {
    switch self {
    case .none: 0
    case .random(let probability): probability
    case .gilbertElliott(let model): model.meanLoss
    case .every(let count): 1 / Double(count)
    case .script(let script, let repeats):
      repeats && !script.isEmpty ? Double(script.count(where: \.self)) / Double(script.count) : 0
    }
  }

  var problem: String? {
    switch self {
    case .none, .script: nil
    case .random(let probability): (0...1).contains(probability) ? nil : "loss must lie within 0...1"
    case .every(let count): count >= 1 ? nil : "every n-th packet needs n of at least 1"
    case .gilbertElliott(let model): model.problem
    }
  }
}

/// The Gilbert-Elliott channel in continuous time: it is good or bad for exponentially distributed spans, and loses
/// packets with a probability that depends on the state only.
///
/// The state follows virtual time, not the count of packets, so all flows of a link share it and two senders with
/// different packet rates meet the identical channel. It starts good.
public struct GilbertElliott: Hashable, Sendable {
  /// Zero for a channel that is always bad.
  public var meanGood: Interval
  /// Zero for a channel that is never bad.
  public var meanBad: Interval
  public var goodLoss: Double
  public var badLoss: Double

  public init(meanGood: Interval, meanBad: Interval, goodLoss: Double = 0, badLoss: Double = 1) {
    self.meanGood = meanGood
    self.meanBad = meanBad
    self.goodLoss = goodLoss
    self.badLoss = badLoss
  }

  /// The channel that loses the share `meanLoss` of evenly spaced packets and is bad for `meanBurst` at a time.
  ///
  /// `meanLoss` is clamped to what the two states allow: between their losses there is a mixture, outside there is none.
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

  /// The share of time the channel is bad.
  public var badShare: Double {
    let good = Double(meanGood.nanoseconds)
    let bad = Double(meanBad.nanoseconds)
    return bad / (good + bad)
  }

  public var meanLoss: Double { (1 - badShare) * goodLoss + badShare * badLoss }

  var problem: String? {
    // Shorter sojourns would make the chain itself the cost of a run.
    for sojourn in [meanGood, meanBad] where sojourn != .zero && sojourn < .microseconds(10) {
      return "mean sojourns must be at least 10us"
    }
    if meanGood == meanBad, meanGood == .zero { return "a channel must be good or bad for some time" }
    return (0...1).contains(goodLoss) && (0...1).contains(badLoss) ? nil : "loss must lie within 0...1"
  }
}
