internal import CallCore
internal import CongestionControl
internal import SDP

/// Which encoding of a simulcast goes to a subscriber: the largest one that its share of the estimated bandwidth holds,
/// or the smallest one. They stand in the order of the offer, in which the smallest comes first (as libwebrtc demands).
struct EncodingChoice {
  private struct Encoding {
    let number: Int
    var rate: DataRate
    var last: Instant
  }

  /// An encoding of which nothing came for so long is not there: its sender has turned it off.
  private static let silence = Interval.milliseconds(1_000)
  /// How much more than its rate there must be before a larger encoding is chosen, as libwebrtc asks before it turns one on.
  private static let margin = 1.2

  private var encodings: [Encoding] = []
  /// The share of the bandwidth; nil as long as nothing is known of it.
  var share: DataRate?
  /// The encoding that is to be sent; nil before the first packet.
  private(set) var wanted: Int?

  /// The rates of the encodings that are there, the smallest encoding first.
  var rates: [DataRate] { encodings.map(\.rate) }

  /// Notes a received packet, and chooses again.
  mutating func note(_ packet: ForwardedPacket, at now: Instant) {
    encodings.removeAll { $0.number == packet.encoding || now - $0.last >= Self.silence }
    let place = encodings.firstIndex { $0.number > packet.encoding } ?? encodings.endIndex
    encodings.insert(Encoding(number: packet.encoding, rate: packet.rate, last: now), at: place)
    choose()
  }

  private mutating func choose() {
    let fitting = encodings.last { encoding in
      guard let share else { return false }
      let isLarger = encoding.number > wanted ?? -1
      return (isLarger ? encoding.rate * Self.margin : encoding.rate) <= share
    }
    wanted = (fitting ?? encodings.first)?.number
  }

  /// Forgets the encodings of a source that was left.
  mutating func reset() { (encodings, wanted) = ([], nil) }
}
