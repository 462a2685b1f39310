internal import CallCore

/// The state of a loss model and its two random streams.
///
/// The channel's state changes and the packets' losses are drawn from different streams, so that the number of packets
/// does not change the channel. A model that takes effect later has its own streams, named after the time, so that
/// neither earlier packets nor earlier models change its results.
struct LossProcess: ~Copyable {
  private(set) var model: LossModel
  private let random: RandomSource
  private let path: String
  private var fates: TimedStream
  private var sojourns: RandomStream
  private var isBad = false
  /// The states of the whole direction; nil if nobody asks for them.
  var log: ChannelLog?
  /// The time at which the model took effect: the channel starts then, not with the first packet, which depends on the
  /// sender.
  private var start = Instant.zero
  /// The time of the channel's next state change; nil before the first packet.
  private var changes: Instant?

  /// - Parameter path: the prefix of the names of its streams.
  init(model: LossModel, random: RandomSource, path: String) {
    self.model = model
    self.random = random
    self.path = path
    fates = TimedStream(path + "/loss", of: random)
    sojourns = random.stream(path + "/channel")
  }

  /// Returns whether the packet offered now is lost. Time must not go backwards.
  ///
  /// - Parameter packet: its number among all packets offered to the direction, from 1 on.
  mutating func loses(packet: Int, at now: Instant) -> Bool {
    switch model {
    case .none: return false
    case .random(let probability): return fates.chance(probability, at: now)
    case .gilbertElliott(let channel):
      advance(channel, to: now)
      let probability = isBad ? channel.badLoss : channel.goodLoss
      return probability >= 1 || (probability > 0 && fates.chance(probability, at: now))
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

  /// Brings the state of the channel to a time, also if no packet has asked for it.
  mutating func advance(to now: Instant) {
    if case .gilbertElliott(let channel) = model { advance(channel, to: now) }
  }

  private mutating func advance(_ channel: GilbertElliott, to now: Instant) {
    guard channel.meanBad > .zero else { return isBad = false }
    guard channel.meanGood > .zero else { return isBad = true }
    var next = changes ?? start + sojourns.exponential(mean: channel.meanGood)
    while next <= now {
      isBad.toggle()
      log?.note(isBad ? 1 : 0, at: next)
      next += sojourns.exponential(mean: isBad ? channel.meanBad : channel.meanGood)
    }
    changes = next
  }

  /// Continues if the model is the same, and restarts if it is another. A script contains its own start.
  mutating func change(to new: LossModel, at now: Instant) {
    guard new != model else { return }
    // The log has the old channel to its end.
    if log != nil { advance(to: now) }
    model = new
    start = now
    isBad = false
    changes = nil
    fates = TimedStream("\(path)/loss/\(now.nanoseconds)", of: random)
    sojourns = random.stream("\(path)/channel/\(now.nanoseconds)")
  }
}
