internal import CallCore
internal import Statistics

/// Estimates the audio quality at a peer: the derived values under `q`.
struct QualityEstimator {
  /// The time over which the mean opinion score considers loss: a listener judges seconds, not moments.
  static let window = Interval.seconds(5)

  /// Counters of a report as floating-point numbers, which do not overflow: an external program may report any number.
  private struct Counters {
    var time: Instant
    var samples: Double
    var concealed: Double
    var events: Double
    var emitted: Double
    var packets: Double
    /// Of the payloads, without what RED repeats.
    var bytes: Double
    var bufferDelay: Double
    /// What is known of the speech; nil where the other end is no virtual peer, or several streams are heard.
    var speech: SpeechLoss.Counts?
    /// The samples in a second of ``samples``: 48000 in our stack with every codec, the codec's own rate in libwebrtc.
    var sampleRate: Double
    /// Of the newest packets.
    var format: EModel.AudioFormat
  }

  /// The duration of the audio in one packet of the remote peer.
  var packetDuration: Interval
  /// The number of earlier packets that each packet of the remote peer repeats (RFC 2198), for reports that do not say how
  /// many bytes that takes.
  var repeatedPackets = 0
  /// Whether both ends are virtual peers, so that the recording and playing time of each sample is known.
  var isMeasured: Bool
  private var history: [Counters] = []
  private var format: EModel.AudioFormat { history.last?.format ?? .opus }
  private var roundTrip: Interval?
  private var measured: Interval?
  private var lastMeasured: Interval?
  /// The bit rate of the speech, in kbit/s: pauses take less of it, with DTX hardly any, and are no worse for it.
  private var speechBitrate: Double?
  private static let leastPresence = 0.8
  private static let somePresence = 0.15

  init(packetDuration: Interval = .milliseconds(20), isMeasured: Bool = false) {
    self.packetDuration = packetDuration
    self.isMeasured = isMeasured
  }

  /// Adds a report.
  ///
  /// - Parameters:
  ///   - mouthToEar: the measured delay of the sample that is played now; nil if unknown.
  ///   - speech: what became of the speech that was due to be heard over the connection; nil if unknown.
  ///   - ended: the streams of the connection that have ended: what they have lost is lost.
  mutating func add(
    _ report: StatsReport, mouthToEar: Interval?, speech: SpeechLoss.Counts? = nil,
    ended: [StatsReport.Entry] = [], at time: Instant
  ) {
    measured = mouthToEar
    lastMeasured = mouthToEar ?? lastMeasured
    // What comes of several speakers is judged together.
    func sum(_ member: String) -> Double? { report.sum(member, of: "inbound-rtp", kind: "audio", ended: ended) }
    guard let inbound = report.first("inbound-rtp", kind: "audio"), let samples = sum("totalSamplesReceived"),
      let concealed = sum("concealedSamples"), let events = sum("concealmentEvents"),
      let emitted = sum("jitterBufferEmittedCount"), let packets = sum("packetsReceived"),
      let bytes = sum("bytesReceived"), let delay = sum("jitterBufferDelay")
    else { return }
    let newest = EModel.AudioFormat(mimeType: report.mimeType(of: inbound))
    // A new connection counts from zero.
    if let last = history.last, samples < last.samples { (history, speechBitrate) = ([], nil) }
    if newest != format { speechBitrate = nil }
    history.append(
      Counters(
        time: time, samples: samples, concealed: concealed, events: events, emitted: emitted, packets: packets,
        bytes: sum("fecBytesReceived").map { bytes - $0 } ?? primaryBytes(of: bytes, in: packets), bufferDelay: delay,
        speech: isMeasured && report.hasOneSpeaker ? speech : nil,
        sampleRate: Self.sampleRate(samples, sum("totalSamplesDuration")), format: newest))
    while history.count > 2, time - history[1].time >= Self.window { history.removeFirst() }
    speechBitrate = bitrate ?? speechBitrate
    if let seconds = report.selectedPair?.number("currentRoundTripTime") {
      roundTrip = Interval.seconds(1).scaled(by: seconds)
    }
  }

  /// RED has four bytes for each block that it repeats, and one for the last (RFC 2198 section 3).
  private func primaryBytes(of bytes: Double, in packets: Double) -> Double {
    guard repeatedPackets > 0 else { return bytes }
    return (bytes - packets * Double(4 * repeatedPackets + 1)) / Double(1 + repeatedPackets)
  }

  /// Returns the rate of counted samples from their number and duration, to a hundred hertz; 48 kHz if that is unknown.
  private static func sampleRate(_ samples: Double, _ duration: Double?) -> Double {
    guard let duration, duration > 0 else { return 48_000 }
    let rate = (samples / duration / 100).rounded() * 100
    return (8_000...48_000).contains(rate) ? rate : 48_000
  }

  /// Whether it is known what became of the speech.
  var knowsSpeech: Bool { history.last?.speech != nil }

  /// What was concealed since the previous report, as a share; nil when nothing was due to be heard.
  var concealment: Double? {
    history.count > 1 ? Loss(from: history[history.count - 2], to: history[history.count - 1])?.share : nil
  }

  /// What was concealed between two reports.
  private struct Loss {
    var share: Double
    /// The mean length of a burst in frames of 20 ms; nil without any.
    var burst: Double?

    /// Counts speech where it is known: who sends nothing in pauses cannot lose any of them, and is not the better for it.
    init?(from first: Counters, to last: Counters) {
      if let before = first.speech, let now = last.speech {
        guard now.frames > before.frames else { return nil }
        let lost = Double(now.lost - before.lost)
        share = lost / Double(now.frames - before.frames)
        // A burst may have begun before, and go on.
        if lost > 0 { burst = lost / Double(max(1, now.bursts - before.bursts)) / 2 }
      } else {
        guard last.samples > first.samples else { return nil }
        let concealed = last.concealed - first.concealed
        share = concealed / (last.samples - first.samples)
        if concealed > 0 { burst = concealed / max(1, last.events - first.events) / (last.sampleRate / 50) }
      }
    }
  }

  /// The delay from the remote microphone to this speaker: of the sample that is played now, or estimated if its
  /// recording time is unknown.
  var mouthToEar: Interval? { isMeasured ? measured : estimatedDelay }

  /// The sum of packetization, look-ahead, half the round trip of the selected pair, and the delay of the jitter
  /// buffer: its error is half of the difference between the two directions.
  private var estimatedDelay: Interval? {
    guard let first = history.first, let last = history.last, last.emitted > first.emitted, let roundTrip else {
      return nil
    }
    let buffered = (last.bufferDelay - first.bufferDelay) / (last.emitted - first.emitted)
    return audioInPacket + format.lookAhead + roundTrip / 2 + Interval.seconds(1).scaled(by: buffered)
  }

  private var audioInPacket: Interval { min(packetDuration, format.longestPacket) }

  /// The fullband E-model's score, for all codecs on one scale, with assumed values for Opus and G.722; nil for iLBC and
  /// iSAC.
  var meanOpinionScore: Double? {
    // While nobody speaks there is nothing new to judge.
    guard let first = history.first, let last = history.last, concealment != nil || last.speech == nil,
      let loss = Loss(from: first, to: last), let mouthToEar = mouthToEar ?? lastMeasured,
      // In silence that DTX leaves out there is nothing to judge.
      let speechBitrate, let codec = EModel.Codec.fullband(format, bitrate: speechBitrate)
    else { return nil }
    var connection = EModel.Connection()
    connection.delay = mouthToEar.seconds * 1_000
    connection.loss = loss.share * 100
    connection.burstRatio = Self.burstRatio(loss)
    return EModel(bandwidth: .fullband, codec: codec).meanOpinionScore(connection)
  }

  /// The bit rate of the speech in the received packets, in kbit/s: lost packets are assumed to have the same. Nil while
  /// there is hardly any.
  private var bitrate: Double? {
    // Another codec has another bit rate.
    let history = Array(history.reversed().prefix { $0.format == format }.reversed())
    guard let first = history.first, let last = history.last else { return nil }
    // A packet may last longer than the settings say: before any speech is known, some of it is enough.
    let least = speechBitrate == nil ? Self.somePresence : Self.leastPresence
    var (bytes, packets) = (0.0, 0.0)
    if last.speech != nil, first.speech != nil {
      for (one, next) in zip(history, history.dropFirst()) where speechShare(from: one, to: next) >= least {
        bytes += next.bytes - one.bytes
        packets += next.packets - one.packets
      }
    } else if presence(from: first, to: last) >= least {
      (bytes, packets) = (last.bytes - first.bytes, last.packets - first.packets)
    }
    guard packets > 0 else { return nil }
    return bytes / packets * 8 / (audioInPacket.seconds * 1_000)
  }

  private func speechShare(from first: Counters, to last: Counters) -> Double {
    guard let before = first.speech, let now = last.speech, last.time > first.time else { return 0 }
    return Double(now.frames - before.frames) * 0.01 / (last.time - first.time).seconds
  }

  /// The share of the played time that came in packets or was concealed, and was not a pause of DTX.
  private func presence(from first: Counters, to last: Counters) -> Double {
    guard last.samples > first.samples else { return 1 }
    let played = (last.samples - first.samples) / last.sampleRate
    let received = (last.packets - first.packets) * audioInPacket.seconds
    return (received + (last.concealed - first.concealed) / last.sampleRate) / played
  }

  /// Returns the mean burst length over 1 / (1 - p), that of random loss, within the valid range of the model. Bursts
  /// are counted in frames of 20 ms, for which the loss robustness of codecs is published: a lost packet of 60 ms is a
  /// burst of three.
  private static func burstRatio(_ loss: Loss) -> Double {
    loss.burst.map { min(max($0 * (1 - loss.share), 1), 2) } ?? 1
  }
}

extension StatsReport.Entry {
  func number(_ member: String) -> Double? {
    if case .flag(let value)? = self[member] { value ? 1 : 0 } else { self[member]?.number }
  }
}

extension StatsReport {
  /// The streams of a kind of media that come in.
  func incoming(_ kind: String) -> [Entry] { entries.filter { $0.type == "inbound-rtp" && $0.kind == kind } }

  fileprivate var hasOneSpeaker: Bool { incoming("audio").count == 1 }

  /// Returns the media type of a stream's codec, such as `audio/opus`; nil where the report does not name it.
  fileprivate func mimeType(of stream: Entry) -> String? {
    if case .text(let type)? = codec(of: stream)?["mimeType"] { type } else { nil }
  }

  /// Returns the codec that a stream names; nil where the report does not have it.
  func codec(of stream: Entry) -> Entry? {
    guard case .text(let id)? = stream["codecId"] else { return nil }
    return entries.first { $0.type == "codec" && $0.id == id }
  }

  /// The candidate pair that `transport` names as selected.
  var selectedPair: Entry? {
    guard case .text(let id)? = first("transport")?["selectedCandidatePairId"] else { return nil }
    return entries.first { $0.id == id }
  }
}
