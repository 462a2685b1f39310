internal import CallCore
internal import Statistics

/// What a peer hears: the derived values under `q`.
struct QualityEstimator {
  /// How far back the mean opinion score looks at loss: a listener judges seconds, not moments.
  static let window = Interval.seconds(5)
  /// What Opus needs to see of the future at 48 kHz (RFC 6716 section 2).
  private static let lookAhead = Interval.microseconds(6_500)

  /// A program may count what it likes: floating point does not overflow.
  private struct Counters {
    var time: Instant
    var samples: Double
    var concealed: Double
    var events: Double
    var emitted: Double
    var packets: Double
    var bytes: Double
    var bufferDelay: Double
  }

  /// The duration of the audio in one packet of the remote peer.
  var packetDuration: Interval
  /// Whether both ends are virtual peers, so that it is known when each sample was recorded and played.
  var isMeasured: Bool
  private var history: [Counters] = []
  private var roundTrip: Interval?
  private var measured: Interval?
  private var lastMeasured: Interval?

  init(packetDuration: Interval = .milliseconds(20), isMeasured: Bool = false) {
    self.packetDuration = packetDuration
    self.isMeasured = isMeasured
  }

  /// - Parameter mouthToEar: the delay that was measured, of a sample that is played now; nil where nobody knows it.
  mutating func add(_ report: StatsReport, mouthToEar: Interval?, at time: Instant) {
    measured = mouthToEar
    lastMeasured = mouthToEar ?? lastMeasured
    guard let inbound = report.first("inbound-rtp", kind: "audio"),
      let samples = inbound.number("totalSamplesReceived"), let concealed = inbound.number("concealedSamples"),
      let events = inbound.number("concealmentEvents"), let emitted = inbound.number("jitterBufferEmittedCount"),
      let packets = inbound.number("packetsReceived"), let bytes = inbound.number("bytesReceived"),
      let delay = inbound.number("jitterBufferDelay")
    else { return }
    // A new connection counts from zero.
    if let last = history.last, samples < last.samples { history = [] }
    history.append(
      Counters(
        time: time, samples: samples, concealed: concealed, events: events, emitted: emitted, packets: packets,
        bytes: bytes, bufferDelay: delay))
    while history.count > 2, time - history[1].time >= Self.window { history.removeFirst() }
    if let seconds = report.selectedPair?.number("currentRoundTripTime") {
      roundTrip = Interval.seconds(1).scaled(by: seconds)
    }
  }

  /// The share of samples that were made up, of those played since the report before; nil when nothing was played.
  var concealment: Double? {
    history.count > 1 ? Self.concealment(from: history[history.count - 2], to: history[history.count - 1]) : nil
  }

  private static func concealment(from first: Counters, to last: Counters) -> Double? {
    guard last.samples > first.samples else { return nil }
    return (last.concealed - first.concealed) / (last.samples - first.samples)
  }

  /// From the remote microphone to this speaker: of the sample that is played now, or estimated where nobody knows when it
  /// was said.
  var mouthToEar: Interval? { isMeasured ? measured : estimatedDelay }

  /// Packetisation, look-ahead, half the round trip of the selected pair, and the time in the jitter buffer: wrong by half
  /// of what the two directions differ.
  private var estimatedDelay: Interval? {
    guard let first = history.first, let last = history.last, last.emitted > first.emitted, let roundTrip else {
      return nil
    }
    let buffered = (last.bufferDelay - first.bufferDelay) / (last.emitted - first.emitted)
    return packetDuration + Self.lookAhead + roundTrip / 2 + Interval.seconds(1).scaled(by: buffered)
  }

  /// The fullband E-model's score, with assumed values for Opus.
  var meanOpinionScore: Double? {
    guard let first = history.first, let last = history.last,
      let concealment = Self.concealment(from: first, to: last), let mouthToEar = mouthToEar ?? lastMeasured
    else { return nil }
    var connection = EModel.Connection()
    connection.delay = mouthToEar.seconds * 1_000
    connection.loss = concealment * 100
    connection.burstRatio = burstRatio(loss: concealment)
    return EModel(bandwidth: .fullband, codec: .opus(bitrate: bitrate)).meanOpinionScore(connection)
  }

  /// Of the packets that came, in kbit/s: what was lost was coded at the same rate.
  private var bitrate: Double {
    guard let first = history.first, let last = history.last, last.packets > first.packets else { return 0 }
    return (last.bytes - first.bytes) * 8 / (last.packets - first.packets) / (packetDuration.seconds * 1_000)
  }

  /// The mean burst over 1 / (1 - p), that of random loss; within the range the model is valid for. Bursts are counted in
  /// frames of 20 ms, for which the loss robustness of codecs is published: a lost packet of 60 ms is a burst of three.
  private func burstRatio(loss: Double) -> Double {
    guard let first = history.first, let last = history.last, last.events > first.events else { return 1 }
    let burst = (last.concealed - first.concealed) / (last.events - first.events) / 960
    return min(max(burst * (1 - loss), 1), 2)
  }
}

extension StatsReport.Entry {
  func number(_ member: String) -> Double? {
    switch self[member] {
    case .integer(let value)?: Double(value)
    case .real(let value)?: value
    case .flag(let value)?: value ? 1 : 0
    case .text?, nil: nil
    }
  }
}

extension StatsReport {
  /// The candidate pair that `transport` names as selected.
  var selectedPair: Entry? {
    guard case .text(let id)? = first("transport")?["selectedCandidatePairId"] else { return nil }
    return entries.first { $0.id == id }
  }
}
