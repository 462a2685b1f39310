internal import CallCore
internal import Statistics

/// The network quality level of a participant, from the server's connection to it. The product does not publish how a
/// level comes about: the bounds here are harness defaults.
///
/// It is the lowest that loss, round trip and bandwidth each allow. It falls at once, and rises by one with each
/// measurement.
struct TwilioNetworkQuality {
  /// What was measured of a way.
  struct Measurement {
    /// The share of packets that were lost lately, in the worse direction.
    var loss = 0.0
    var roundTrip: Interval?
    /// The estimate of what the way to the participant holds; nil while it gets no video.
    var bandwidth: DataRate?
  }

  /// From 0, without a connection, to 5; nil before the first measurement.
  private(set) var level: Int?
  /// The packets that the server has missed and received of each stream.
  private var counts: [String: (lost: Double, received: Double)] = [:]
  /// The loss on the way to the server in the last measurements, the newest last.
  private var losses: [Double] = []

  /// Whether what comes to the server has been whole lately. A gap in it is a gap for all who get it, who report it as
  /// loss: only reports on whole streams tell of the way to those.
  var isWhole: Bool { losses.allSatisfy { $0 == 0 } }

  /// The number of measurements that ``isWhole`` looks back: receivers report on audio every five seconds or so.
  private static let memory = 5
  /// The time between two measurements.
  static let period = Interval.seconds(2)
  /// The greatest loss and the longest round trip for each level, the best first.
  private static let lossBounds = [0.01, 0.03, 0.06, 0.12]
  private static let roundTripBounds: [Interval] = [150, 300, 500, 800].map(Interval.milliseconds)
  /// The least bandwidth for each level.
  private static let bandwidthBounds: [DataRate] = [400, 300, 200, 100].map(DataRate.kilobitsPerSecond)

  /// Returns the level that a measurement allows.
  static func level(of measurement: Measurement) -> Int {
    func level(_ passed: Int?) -> Int { 5 - (passed ?? lossBounds.count) }
    let loss = level(lossBounds.firstIndex { measurement.loss <= $0 })
    let roundTrip = measurement.roundTrip.map { time in level(roundTripBounds.firstIndex { time <= $0 }) } ?? 5
    let bandwidth = measurement.bandwidth.map { rate in level(bandwidthBounds.firstIndex { rate >= $0 }) } ?? 5
    return min(loss, roundTrip, bandwidth)
  }

  /// Takes the statistics of what comes to the server.
  mutating func note(_ report: StatsReport) {
    var (lost, received) = (0.0, 0.0)
    var next: [String: (lost: Double, received: Double)] = [:]
    for entry in report.entries where entry.type == "inbound-rtp" {
      let count = (lost: entry.number("packetsLost") ?? 0, received: entry.number("packetsReceived") ?? 0)
      let before = counts[entry.id] ?? (0, 0)
      next[entry.id] = count
      lost += max(0, count.lost - before.lost)
      received += max(0, count.received - before.received)
    }
    counts = next
    losses = losses.suffix(Self.memory - 1) + [lost > 0 ? lost / (lost + received) : 0]
  }

  /// Judges the connection of which ``note(_:)`` took the same report last.
  ///
  /// - Parameter isWhole: whether the stream that the server sends in a section came whole to the server.
  mutating func judge(_ report: StatsReport, isWhole: (String) -> Bool) {
    let reported = report.entries.compactMap { entry -> Double? in
      guard entry.type == "remote-inbound-rtp",
        let mid = entry.text("localId").flatMap({ report.entry("outbound-rtp", $0) })?.text("mid"), isWhole(mid)
      else { return nil }
      return entry.number("fractionLost")
    }
    let selected = report.first("transport")?.text("selectedCandidatePairId")
    let pair = selected.flatMap { report.entry("candidate-pair", $0) }
    let now = Self.level(
      of: Measurement(
        loss: max(losses.last ?? 0, reported.max() ?? 0),
        roundTrip: pair?.number("currentRoundTripTime").map { .microseconds(Int64($0 * 1_000_000)) },
        bandwidth: pair?.number("availableOutgoingBitrate").map { .bitsPerSecond(Int64($0)) }))
    level = level.map { min(now, $0 + 1) } ?? now
  }

  /// Notes that nothing comes over the connection any more.
  mutating func lose() {
    guard level != nil else { return }
    (level, losses) = (0, [])
  }
}

/// Whose network quality an app asks for.
enum TwilioQualityScope: String, CaseIterable {
  case none, local
  case localAndRemote = "local-and-remote"
}
