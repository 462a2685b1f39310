internal import CallCore

/// A loss model at work: its state and its two sources of chance.
///
/// The channel's sojourns and the packets' fates are drawn from different streams, so that the number of packets sent
/// does not change the channel. A model that takes effect later has streams of its own, named after the time, so that
/// neither what was sent before nor the models before it change what follows.
struct LossProcess: ~Copyable {
  private(set) var model: LossModel
  private let random: RandomSource
  private let path: String
  private var fates: RandomStream
  private var sojourns: RandomStream
  private var isBad = false
  /// When the model took effect: the channel starts then, not with the first packet, which depends on the sender.
  private var start = Instant.zero
  /// When the channel changes state next; nil until it is first asked.
  private var changes: Instant?

  /// - Parameter path: the names of its streams begin with it.
  init(model: LossModel, random: RandomSource, path: String) {
    self.model = model
    self.random = random
    self.path = path
    fates = random.stream(path + "/loss")
    sojourns = random.stream(path + "/channel")
  }

  /// Whether the packet offered now is lost. Time must not go backwards.
  ///
  /// - Parameter packet: its number among all that the direction was offered, from 1 on.
  mutating func loses(packet: Int, at now: Instant) -> Bool {
    switch model {
    case .none: return false
    case .random(let probability): return fates.chance(probability)
    case .gilbertElliott(let channel):
      advance(channel, to: now)
      let probability = isBad ? channel.badLoss : channel.goodLoss
      return probability >= 1 || (probability > 0 && fates.chance(probability))
    case .packets(let ranges, let period, let earlier):
      let count = packet - earlier
      let number = period.map { (count - 1) % $0 + 1 } ?? count
      return ranges.contains { $0.contains(number) }
    case .spans(let spans, let period, let start):
      let age = now - start
      let time = period.map { Interval.nanoseconds(age.nanoseconds % $0.nanoseconds) } ?? age
      return spans.contains { $0.contains(time) }
    }
  }

  private mutating func advance(_ channel: GilbertElliott, to now: Instant) {
    guard channel.meanBad > .zero else { return isBad = false }
    guard channel.meanGood > .zero else { return isBad = true }
    var next = changes ?? start + sojourns.exponential(mean: channel.meanGood)
    while next <= now {
      isBad.toggle()
      next += sojourns.exponential(mean: isBad ? channel.meanBad : channel.meanGood)
    }
    changes = next
  }

  /// Goes on as it was when the model is the same, and starts anew when it is another. A script says itself from where
  /// it counts.
  mutating func change(to new: LossModel, at now: Instant) {
    guard new != model else { return }
    model = new
    start = now
    isBad = false
    changes = nil
    fates = random.stream("\(path)/loss/\(now.nanoseconds)")
    sojourns = random.stream("\(path)/channel/\(now.nanoseconds)")
  }
}
