internal import CallCore
internal import CongestionControl
internal import SDP

/// How much of a video goes to a subscriber: the largest encoding of a simulcast, and of it the most temporal layers,
/// that the subscriber's share of the estimated bandwidth holds; or the smallest, or nothing.
///
/// A larger encoding comes before more layers of a smaller one. Encodings stand in the order of the offer, in which the
/// smallest comes first (as libwebrtc demands).
struct EncodingChoice {
  /// An encoding up to one of its temporal layers.
  struct Point: Hashable, Comparable {
    let encoding: Int
    let layer: Int

    static func < (left: Self, right: Self) -> Bool {
      (left.encoding, left.layer) < (right.encoding, right.layer)
    }
  }

  private struct Offer {
    let point: Point
    /// The rate; nil for what has just begun, which is not chosen for its size.
    let rate: DataRate?
    let last: Instant
  }

  /// Of what nothing came for so long is not there: its sender has turned it off.
  private static let silence = Interval.milliseconds(1_000)
  /// How much more than its rate there must be before more is chosen, as libwebrtc asks before it turns an encoding on.
  private static let margin = 1.2
  /// How long a smaller encoding waits while the share is too small for the one that is sent. The estimate dips with every
  /// sign of congestion, such as a key frame; where it is less than this share of the rate, nothing waits.
  private static let patience = (time: Interval.seconds(2), share: 0.4, afterRise: Interval.seconds(1))

  /// What is there, in rising order.
  private var offers: [Offer] = []
  /// The share of the bandwidth; nil as long as nothing is known of it.
  var share: DataRate?
  /// Whether what is sent arrives as fast as it is sent.
  var isDelivered = false
  /// Whether a video of less priority is sent too, which is paused before this one is.
  var isPreferred = false
  /// Whether nothing is sent while there is no share, which the smallest encoding does not fit; else that one is sent.
  var pauses = false
  private var pause = ForwardingPause()
  var isPaused: Bool { pause.isOn }
  /// What is to be sent; nil before the first packet, and in a pause.
  private(set) var wanted: Point?
  /// When a larger encoding was chosen, and the time after a fall before one is tried again.
  private var rose: Instant?
  private var hold = RetryHold()
  /// Since when the share has been too small for the encoding that is sent.
  private var shortSince: Instant?

  /// The known rates of what is there, in rising order of size.
  var rates: [DataRate] { offers.compactMap(\.rate) }

  /// The rate of what is wanted.
  var rate: DataRate { offers.first { $0.point == wanted }?.rate ?? .zero }

  /// Notes a received packet, and chooses again.
  mutating func note(_ packet: ForwardedPacket, at now: Instant) {
    let point = Point(encoding: packet.encoding, layer: packet.layer.index)
    offers.removeAll { $0.point == point || now - $0.last >= Self.silence }
    let place = offers.firstIndex { $0.point > point } ?? offers.endIndex
    offers.insert(Offer(point: point, rate: packet.rate, last: now), at: place)
    choose(at: now)
  }

  private mutating func choose(at now: Instant) {
    // Of what has just begun it is not known whether it fits, and what arrives fits whatever the estimate says: neither ends a
    // pause.
    let isTooMuch = pause.isOn || (offers.first?.rate != nil && !isDelivered)
    let isShort = pauses && share == .zero && isTooMuch && (pause.isOn || !isPreferred)
    pause.update(isShort: isShort, at: now)
    guard !pause.isOn else { return wanted = nil }
    let before = wanted
    let limit = hold.isOn(at: now) ? before?.encoding : nil
    wanted =
      (largest { point in
        if let limit, point.encoding > limit { return .infinity }
        return before.map { point > $0 } ?? true ? Self.margin : 1
      } ?? offers.first)?.point
    keepEncoding(of: before, at: now)
    guard let before, let wanted, wanted.encoding != before.encoding else { return }
    if wanted.encoding > before.encoding {
      rose = now
    } else if offers.contains(where: { $0.point.encoding == before.encoding }) {
      hold.begin(at: now, failed: now, tried: rose)
    }
  }

  /// Stays with the base of the encoding that is sent while all of it arrives, and for a while if it may again.
  private mutating func keepEncoding(of before: Point?, at now: Instant) {
    guard let before, let wanted, wanted.encoding < before.encoding, let share,
      let base = offers.first(where: { $0.point.encoding == before.encoding }), let rate = base.rate
    else { return shortSince = nil }
    if isDelivered {
      shortSince = nil
    } else {
      let hasRisen = rose.map { now - $0 < Self.patience.afterRise } ?? false
      let isDeep = Double(share.bitsPerSecond) < Self.patience.share * Double(rate.bitsPerSecond)
      let since = shortSince ?? now
      guard now - since < Self.patience.time, hasRisen || !isDeep else { return shortSince = nil }
      shortSince = since
    }
    self.wanted = base.point
  }

  /// Returns the uppermost layer to send of an encoding, which the subscriber may get until another one begins.
  func layer(of encoding: Int) -> Int {
    if let wanted, wanted.encoding == encoding { return wanted.layer }
    return largest(of: encoding) { _ in 1 }?.point.layer ?? 0
  }

  /// Returns the largest offer that, times a factor, is within the share.
  private func largest(of encoding: Int? = nil, times factor: (Point) -> Double) -> Offer? {
    guard let share else { return nil }
    return offers.last { offer in
      guard let rate = offer.rate, encoding == nil || offer.point.encoding == encoding else { return false }
      return Double(rate.bitsPerSecond) * factor(offer.point) <= Double(share.bitsPerSecond)
    }
  }

  /// Forgets the encodings of a source that was left.
  mutating func reset() {
    (offers, wanted, rose, shortSince) = ([], nil, nil, nil)
    (hold, pause) = (RetryHold(), ForwardingPause())
  }
}
