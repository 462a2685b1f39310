package import CallCore

/// Decides how much forward error correction a stream of video gets beside NACK (libwebrtc `VCMNackFecMethod` in
/// `media_opt_util.cc`).
///
/// - Below 20 ms of round trip, retransmissions suffice: delta frames get no protection.
/// - Above, both are used. The factor comes from the loss and the size of frames, see ``ProtectionTable``.
/// - A frame of few bytes is not worth a repair packet while the round trip is below 200 ms.
/// - Groups reach over the frames of two round trips, up to six, so that repair comes no later than a retransmission.
package struct ProtectionRule: Sendable {
  /// The stream and its path.
  package struct Conditions: Hashable, Sendable {
    /// The share of lost packets, 0...1.
    package var loss = 0.0
    package var roundTrip = Interval.zero
    package var bitrate = DataRate.kilobitsPerSecond(0)
    package var frameRate = 30.0
    package var width = 640
    package var height = 480
    package var temporalLayers = 1
    /// The mean numbers of packets of delta and key frames.
    package var packetsPerFrame = 1.0
    package var packetsPerKeyFrame = 1.0

    package init() {}
  }

  /// The round trip below which delta frames are not protected.
  static let lowRoundTrip = Interval.milliseconds(20)
  /// The round trip from which small frames are protected too.
  static let longRoundTrip = Interval.milliseconds(200)
  /// The mean frame in bytes below which there is no protection: up to CIF, up to VGA, and above.
  static let smallFrame = (low: 400.0, middle: 700.0, high: 1_000.0)
  /// The protection of frames of several packets, at least: a fifth, for what was once their first partition.
  static let leastFactor = 51.0
  /// The largest payload, from which the number of packets follows.
  static let payloadSize = 1_460.0
  static let frameLimit = 6
  /// The time over which the largest loss counts (`kLossPrHistorySize` times `kLossPrShortFilterWinMs`).
  static let lossWindow = Interval.seconds(10)

  private var losses = FIFO<(time: Instant, loss: Double)>()

  package init() {}

  /// Returns the protection for the conditions of now, with the largest loss of the last ten seconds.
  package mutating func protection(for conditions: Conditions, at now: Instant) -> Protection {
    while let first = losses.first, now - first.time > Self.lossWindow || losses.count >= 1_024 {
      _ = losses.popFirst()
    }
    losses.append((now, conditions.loss))
    var filtered = conditions
    var copy = losses
    while let next = copy.popFirst() { filtered.loss = max(filtered.loss, next.loss) }
    return Self.protection(for: filtered)
  }

  /// Returns the protection for conditions whose loss is filtered.
  package static func protection(for conditions: Conditions) -> Protection {
    let loss = min(255, max(0, (255 * conditions.loss).rounded(.down)))
    guard loss >= 1, conditions.frameRate > 0 else { return .none }
    let kilobits = kilobitsPerFrame(conditions)
    guard !isTooSmall(kilobits, conditions) else { return .none }
    let pixels = Double(max(1, conditions.width)) * Double(max(1, conditions.height))
    // Larger pictures need more bits, and get less protection for the same bits: relative to 704 x 576, to the power of
    // 0.3. `power` takes numbers up to 1 only.
    let relative = pixels / (704 * 576)
    let scale =
      relative >= 1
      ? ElementaryFunctions.power(1 / relative, 0.3) : 1 / ElementaryFunctions.power(relative, 0.3)
    let effective = (scale * kilobits).rounded(.down)
    var delta = ProtectionTable.factor(row: (effective - 5) / 5, loss: loss)
    let packets = (1.5 + kilobits * 1_000 / (8 * payloadSize)).rounded(.down)
    if packets > 1 { delta = max(delta, leastFactor) }
    delta = min(delta, ProtectionTable.maximum)
    let ratio = conditions.packetsPerKeyFrame.rounded() / max(1, conditions.packetsPerFrame.rounded())
    let boost = max(2, ratio.rounded(.down))
    var key = ProtectionTable.factor(row: 1 + (boost * effective - 5) / 5, loss: loss)
    key = min(max(loss, max(2 * delta, key)), ProtectionTable.maximum)
    if conditions.roundTrip < lowRoundTrip { delta = 0 }
    return Protection(
      keyFactor: perMediaPacket(key), deltaFactor: perMediaPacket(delta), maximumFrames: frames(conditions))
  }

  /// Frames of the base layer get more bits; that is left out, as libwebrtc does for up to two layers in effect.
  private static func kilobitsPerFrame(_ conditions: Conditions) -> Double {
    Double(conditions.bitrate.bitsPerSecond) / 1_000 / conditions.frameRate
  }

  private static func isTooSmall(_ kilobits: Double, _ conditions: Conditions) -> Bool {
    let pixels = conditions.width * conditions.height
    let limit = pixels <= 352 * 288 ? smallFrame.low : pixels > 640 * 480 ? smallFrame.high : smallFrame.middle
    return kilobits * 125 < limit && conditions.temporalLayers < 3 && conditions.roundTrip < longRoundTrip
  }

  /// Converts a share of all packets to one of the media packets.
  private static func perMediaPacket(_ factor: Double) -> UInt8 {
    UInt8(min(255, (0.5 + 255 * factor / (255 - factor)).rounded(.down)))
  }

  private static func frames(_ conditions: Conditions) -> Int {
    guard conditions.temporalLayers <= 2 else { return 1 }
    let rate = conditions.frameRate / Double(1 << (max(1, conditions.temporalLayers) - 1))
    return Int(min(Double(frameLimit), max(1, (2 * rate * conditions.roundTrip.seconds).rounded())))
  }
}
