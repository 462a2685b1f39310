public import CallCore

/// The treatment of packets in one direction of a link. The default is a perfect wire with an MTU of 1500 bytes.
///
/// A packet meets the parts in a fixed order: up or down, blackhole, MTU, loss, queue and rate, delay and jitter,
/// reordering, duplication, corruption. Each draws from its own random stream, so a change of one does not affect the
/// others. A packet that meets both loss and duplication arrives once, as in netem.
public struct LinkSettings: Hashable, Sendable {
  /// The serialisation rate; nil is infinitely fast and never queues.
  public var rate: DataRate?
  /// The limit of the queue before the rate; packets beyond it are dropped from the tail.
  public var queue: QueueLimit
  /// Propagation delay.
  public var delay: Interval
  /// The variation of the delay.
  public var jitter: Jitter
  /// Whether jitter may reorder packets.
  public var order: DeliveryOrder
  /// The packets that are lost.
  public var loss: LossModel
  /// The packets that skip the delay.
  public var reordering: Reordering
  /// The probability that a packet arrives twice; a copy is never copied again and draws its own jitter.
  public var duplication: Double
  /// The packets that are damaged.
  public var corruption: Corruption
  /// The largest IP packet that fits, in bytes. Datagrams are never fragmented (DF is set).
  public var mtu: Int
  /// Whether packets vanish although the link is up.
  public var isBlackhole: Bool
  /// The size in bytes above which IP packets vanish although they fit the MTU, as on a path whose routers do not
  /// report a smaller MTU; nil for none.
  public var blackholeAbove: Int?

  /// Makes settings; the defaults are those of a perfect wire.
  public init(
    rate: DataRate? = nil, queue: QueueLimit = .time(.milliseconds(300)), delay: Interval = .zero,
    jitter: Jitter = .none, order: DeliveryOrder = .keep, loss: LossModel = .none, reordering: Reordering = .none,
    duplication: Double = 0, corruption: Corruption = .none, mtu: Int = 1_500, isBlackhole: Bool = false,
    blackholeAbove: Int? = nil
  ) {
    self.rate = rate
    self.queue = queue
    self.delay = delay
    self.jitter = jitter
    self.order = order
    self.loss = loss
    self.reordering = reordering
    self.duplication = duplication
    self.corruption = corruption
    self.mtu = mtu
    self.isBlackhole = isBlackhole
    self.blackholeAbove = blackholeAbove
  }

  /// The error in these settings, or nil.
  package var problem: String? {
    if let rate, rate.bitsPerSecond <= 0 { return "rate must be positive" }
    if delay < .zero { return "delay must not be negative" }
    if jitter.spread < .zero { return "jitter must not be negative" }
    if let blackholeAbove, blackholeAbove < 0 { return "a size must not be negative" }
    if mtu < 68 { return "mtu must be at least 68 bytes" }
    for probability in [duplication, reordering.probability, corruption.probability]
    where !(0...1).contains(probability) {
      return "a probability must lie within 0...1"
    }
    if reordering.gap < 1 { return "reordering gap must be at least 1" }
    return queue.problem ?? loss.problem
  }
}

/// The capacity of a droptail queue, without the packet being transmitted.
public enum QueueLimit: Hashable, Sendable {
  /// A number of packets.
  case packets(Int)
  /// Bytes on the wire, headers included.
  case bytes(Int)
  /// The longest waiting time of a packet, at the current rate.
  case time(Interval)
  /// Any number of packets.
  case unlimited

  var problem: String? {
    switch self {
    case .packets(let count), .bytes(let count): count < 0 ? "a queue limit must not be negative" : nil
    case .time(let interval): interval < .zero ? "a queue limit must not be negative" : nil
    case .unlimited: nil
    }
  }
}

/// Variation of the delay from packet to packet. The sum of delay and jitter is never negative.
public enum Jitter: Hashable, Sendable {
  /// The same delay for every packet.
  case none
  /// Delay within ± the spread, uniformly distributed.
  case uniform(Interval)
  /// Normally distributed delay with this standard deviation.
  case normal(Interval)
  /// Added delay, exponentially distributed with this mean, as from the queues of other traffic.
  case exponential(Interval)

  var spread: Interval {
    switch self {
    case .none: .zero
    case .uniform(let spread), .normal(let spread), .exponential(let spread): spread
    }
  }
}

/// The handling of a packet whose delay is shorter than its predecessor's.
public enum DeliveryOrder: String, Hashable, Sendable {
  /// It waits for the predecessor (RFC 8868 NR-BPDV).
  case keep
  /// It overtakes (RFC 8868 RBPDV).
  case allow
}

/// Packets that skip the delay and so overtake those before them.
public struct Reordering: Hashable, Sendable {
  /// The probability that a candidate is reordered, 0 to 1.
  public var probability: Double
  /// The distance between two candidates, at least: with probability 1, every `gap`-th packet is reordered.
  public var gap: Int

  /// Makes a model of reordering.
  public init(probability: Double, gap: Int = 1) {
    self.probability = probability
    self.gap = gap
  }

  /// No reordering.
  public static let none = Reordering(probability: 0)
}

/// Packets with one random payload bit flipped.
public struct Corruption: Hashable, Sendable {
  /// The probability that a packet is damaged, 0 to 1.
  public var probability: Double
  /// Whether the damage passes the UDP checksum and reaches the socket; otherwise the receiver's checksum drops it.
  public var isAfterChecksum: Bool

  /// Makes a model of corruption.
  public init(probability: Double, isAfterChecksum: Bool = false) {
    self.probability = probability
    self.isAfterChecksum = isAfterChecksum
  }

  /// No corruption.
  public static let none = Corruption(probability: 0)
}
