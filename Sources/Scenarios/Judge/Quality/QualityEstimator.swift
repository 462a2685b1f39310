internal import CallCore
internal import CallSession

/// What a peer hears, from its statistics over the last seconds: the derived values under `q`.
struct QualityEstimator {
  /// How far back loss and concealment are looked at.
  static let window = Interval.seconds(5)
  /// What Opus needs to see of the future at 48 kHz (RFC 6716 section 2).
  private static let lookAhead = Interval.microseconds(6_500)

  private struct Counters {
    var time: Instant
    var samples: Int64
    var concealed: Int64
    var events: Int64
    var emitted: Int64
    var bufferDelay: Double
  }

  /// The duration of the audio in one packet of the remote peer.
  let packetDuration: Interval
  private var history: [Counters] = []
  private var roundTrip: Interval?

  init(packetDuration: Interval) { self.packetDuration = packetDuration }

  mutating func add(_ report: StatsReport, at time: Instant) {
    guard let inbound = report.first("inbound-rtp", kind: "audio"),
      let samples = inbound.integer("totalSamplesReceived"), let concealed = inbound.integer("concealedSamples"),
      let events = inbound.integer("concealmentEvents"), let emitted = inbound.integer("jitterBufferEmittedCount"),
      let delay = inbound.number("jitterBufferDelay")
    else { return }
    // A new connection counts from zero.
    if let last = history.last, samples < last.samples { history = [] }
    history.append(
      Counters(
        time: time, samples: samples, concealed: concealed, events: events, emitted: emitted, bufferDelay: delay))
    while history.count > 2, time - history[1].time >= Self.window { history.removeFirst() }
    if let seconds = report.selectedPair?.number("currentRoundTripTime") {
      roundTrip = .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
  }

  /// The share of played samples that were made up, or nil when nothing was played.
  var concealment: Double? {
    guard let first = history.first, let last = history.last, last.samples > first.samples else { return nil }
    return Double(last.concealed - first.concealed) / Double(last.samples - first.samples)
  }

  /// Packetisation, look-ahead, half the round trip of the selected pair, and the time in the jitter buffer.
  var mouthToEar: Interval? {
    guard let first = history.first, let last = history.last, last.emitted > first.emitted, let roundTrip else {
      return nil
    }
    let buffered = (last.bufferDelay - first.bufferDelay) / Double(last.emitted - first.emitted)
    return packetDuration + Self.lookAhead + roundTrip / 2 + .nanoseconds(Int64((buffered * 1e9).rounded()))
  }

  /// The fullband E-model's score, with assumed values for Opus.
  var meanOpinionScore: Double? {
    guard let concealment, let mouthToEar else { return nil }
    var connection = EModel.Connection()
    connection.delay = mouthToEar.seconds * 1_000
    connection.loss = concealment * 100
    connection.burstRatio = burstRatio(loss: concealment)
    return EModel(bandwidth: .fullband, codec: .opus).meanOpinionScore(connection)
  }

  /// The mean burst over 1 / (1 - p), that of random loss; within the range the model is valid for.
  private func burstRatio(loss: Double) -> Double {
    guard let first = history.first, let last = history.last, last.events > first.events else { return 1 }
    let samplesPerPacket = packetDuration.seconds * 48_000
    let burst = Double(last.concealed - first.concealed) / Double(last.events - first.events) / samplesPerPacket
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
