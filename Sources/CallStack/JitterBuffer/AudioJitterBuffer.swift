package import CallCore
package import Codecs
package import RTP

/// The result of one pull.
package struct PlayoutFrame: Hashable, Sendable, BitwiseCopyable {
  /// The origin of the newest samples.
  package enum Source: UInt8, Hashable, Sendable, BitwiseCopyable {
    /// Nothing has arrived yet.
    case silence
    case decoded
    /// Decoded from the redundancy in the next packet.
    case recovered
    /// Packet loss concealment, for a lost or late packet.
    case concealed
    /// Comfort noise in a pause of the sender.
    case comfort
  }

  /// The number of samples per channel.
  package let sampleCount: Int
  package let source: Source
  /// The root mean square, where 1 is full scale.
  package let level: Double
}

/// Turns the irregular arrival of an audio stream into steady playout, and conceals missing packets.
///
/// Packets are inserted on arrival; the device pulls every 10 ms of its own clock. The delay follows the network's
/// jitter. It is measured on every played packet as the waiting time of the fastest packet, and adjusted to the target
/// by removing or repeating single pitch periods, which also compensates the drift between the two clocks.
///
/// A decoder without samples changes nothing but the samples. Payload types may have decoders of their own, which are
/// switched with the first packet played of each; the media clock of each is brought to 48 kHz.
package struct AudioJitterBuffer: ~Copyable {
  package struct Settings: Hashable, Sendable {
    /// The minimum of the target.
    package var minimumDelay = Interval.zero
    /// The maximum of the target.
    package var maximumDelay = Interval.seconds(2)
    /// The target in the first half second, before jitter is known.
    package var initialDelay = Interval.milliseconds(80)
    /// The maximum number of packets.
    package var capacity = 256

    package init() {}
  }

  /// A decoder of the buffer.
  package struct Format: Hashable, Sendable {
    fileprivate let index: Int
    /// The decoder given at first, for all payload types without another.
    package static let usual = Format(index: 0)
  }

  private struct Decoding {
    var decoder: AudioDecoder
    /// The number of 48 kHz samples in one tick of the media clock.
    var scale: Int64
  }

  private enum Phase {
    /// Packets are collected until the first has waited for the target delay.
    case filling
    case playing
  }

  private static let longestPull = 5_760
  private static let sequenceJump: Int64 = 1_000
  private static let timestampJump: Int64 = 30 * 48_000
  private static let stretchInterval = Interval.milliseconds(50)
  /// The concealed samples after which concealment begins to fade …
  private static let fadeStart: Int64 = 2_880
  /// … and after which it is silent.
  private static let fadeEnd: Int64 = 7_680
  /// The backlog beyond the target that is dropped instead of played faster.
  private static let maximumBacklog = Interval.seconds(2)

  package private(set) var settings: Settings
  package private(set) var statistics = AudioJitterBufferStatistics()
  private var decoders: [Decoding]
  /// The index of the decoder of each payload type.
  private var formats: [Int] = Array(repeating: 0, count: 128)
  /// The decoder of the last packet played, and that of the last packet with sound.
  private var playing = 0
  private var speaking = 0
  private var packets: PacketBuffer
  private var delays: DelayManager
  private var queue: SampleQueue
  private var phase = Phase.filling
  private var sequences = SequenceUnwrapper()
  private var timeline = PlayoutTimeline()
  private var highest: (sequence: Int64, timestamp: Int64, end: Int64)?
  private var firstArrival: Instant?
  private var ssrc: UInt32?
  /// The timestamp after the last decoded sample; nil before the first.
  private var nextTimestamp: Int64?
  /// The number of concealment or comfort noise samples since then.
  private var filled: Int64 = 0
  private var isPaused = false
  private var isConcealing = false
  /// Whether the redundancy of the first packet was played.
  private var usedRedundancy = false
  private var lastStretch = Instant(nanoseconds: .min / 2)
  private var failedStretches = 0
  private var source = PlayoutFrame.Source.silence
  private var level = AudioLevel.silence

  package init(decoder: AudioDecoder, settings: Settings = Settings()) {
    decoders = [Decoding(decoder: decoder, scale: 1)]
    self.settings = settings
    packets = PacketBuffer(capacity: settings.capacity)
    delays = DelayManager(
      settings: DelayManager.Settings(
        minimumDelay: settings.minimumDelay, maximumDelay: settings.maximumDelay, initialDelay: settings.initialDelay))
    queue = SampleQueue(channels: decoder.channels, holdsSamples: decoder.producesSamples)
  }

  /// Adds a decoder with as many channels as the usual one, and samples if that has them.
  package mutating func add(_ decoder: AudioDecoder, clockRate: UInt32) -> Format {
    decoders.append(Decoding(decoder: decoder, scale: max(1, Int64(audioSampleRate) / Int64(max(1, clockRate)))))
    return Format(index: decoders.count - 1)
  }

  /// Sets the decoder of a payload type. Waiting packets keep theirs.
  package mutating func setFormat(_ format: Format, of payloadType: UInt8) {
    formats[Int(payloadType & 0x7F)] = format.index
  }

  private var decoder: AudioDecoder { decoders[playing].decoder }

  /// Makes a decoder the playing one. A decoder that was not used for the last sound starts afresh, as the sender's
  /// encoder does; pauses between sounds of one codec leave its state as it is at both ends.
  private mutating func play(_ format: Int) {
    guard format != playing else { return }
    playing = format
    guard !decoders[format].decoder.fillsPauses, format != speaking else { return }
    speaking = format
    decoders[format].decoder.reset()
  }

  /// The target of the playout delay.
  package var targetDelay: Interval { delays.target }

  /// The actual delay: the time for which the fastest packet would have waited when the last packet was played.
  package private(set) var currentDelay = Interval.zero

  /// The RTP timestamp of the first sample of the last pull; nil if it was not decoded.
  package private(set) var playedTimestamp: UInt32?
  /// Whether the last pull took comfort noise of a pause.
  package private(set) var playsComfort = false

  /// The number of waiting packets.
  package var packetCount: Int { packets.count }

  /// Sets the minimum of the target, which playout approaches by repeating or removing pitch periods.
  ///
  /// - Returns: whether the buffer can hold so much: three quarters of it, in packets of 20 ms, as in NetEq.
  package mutating func setMinimumDelay(_ delay: Interval) -> Bool {
    guard delay <= .milliseconds(15) * Int64(settings.capacity) else { return false }
    settings.minimumDelay = max(.zero, delay)
    delays.settings.minimumDelay = settings.minimumDelay
    return true
  }

  /// Switches to another source, whose counters continue from `counters`.
  ///
  /// - Returns: the counters of the previous source.
  package mutating func begin(
    withCounters counters: AudioJitterBufferStatistics = AudioJitterBufferStatistics()
  ) -> AudioJitterBufferStatistics {
    reset()
    defer { statistics = counters }
    return statistics
  }

  /// Resets the buffer for a new source. Counters stay.
  package mutating func reset() {
    startOver()
    sequences = SequenceUnwrapper()
    timeline = PlayoutTimeline()
    highest = nil
    ssrc = nil
    nextTimestamp = nil
    queue.removeAll()
    for decoding in decoders { decoding.decoder.reset() }
    source = .silence
    isPaused = false
  }

  /// Collects packets again after a time without pulls, which must not count as a gap to conceal.
  package mutating func resume() { startOver() }

  // MARK: Packets in

  /// Takes a packet on arrival. A change of SSRC resets the buffer.
  package mutating func insert(_ header: RTPHeader, payload: RawSpan, at now: Instant) {
    if ssrc != header.ssrc {
      if ssrc != nil { reset() }
      ssrc = header.ssrc
    }
    let format = formats[Int(header.payloadType & 0x7F)]
    guard let info = decoders[format].decoder.inspect(payload) else {
      statistics.malformedPackets += 1
      return
    }
    let scale = decoders[format].scale
    if !Defect.jumpNotFollowed.isPlanted { resynchronizeIfJumped(header, scale: scale) }
    let sequence = sequences.unwrap(header.sequenceNumber)
    let timestamp = timeline.place(header.timestamp, sequence: sequence, scale: scale) + Int64(info.lead)
    let isInOrder = highest.map { sequence > $0.sequence } ?? true
    if isInOrder, info.redundantSamples > 0, let highest {
      let restored = timestamp - Int64(info.redundantSamples)
      if restored >= highest.end { delays.receiveRedundancy(timestamp: restored, at: now) }
    }
    if isInOrder { highest = (sequence, timestamp, end: timestamp + Int64(info.samplesPerChannel)) }
    // The timestamp of an event is that of its beginning, however long ago.
    if info.isSound { delays.receive(timestamp: timestamp, isInOrder: isInOrder, at: now) }
    var insertion = packets.insert(
      payload, sequence: sequence, timestamp: timestamp, info: info, format: format, at: now)
    if insertion == .overflow {
      startOver()
      if info.isSound { delays.receive(timestamp: timestamp, isInOrder: true, at: now) }
      insertion = packets.insert(
        payload, sequence: sequence, timestamp: timestamp, info: info, format: format, at: now)
    }
    switch insertion {
    case .inserted:
      if firstArrival == nil { firstArrival = now }
      if info.redundantSamples > 0 { statistics.fecPacketsReceived += 1 }
    case .duplicate where packets.isRestored(sequence): statistics.fecPacketsDiscarded += 1
    case .duplicate: statistics.duplicatePackets += 1
    case .late, .overflow: statistics.packetsDiscarded += 1
    }
  }

  /// Takes a copy of an earlier packet from the redundancy of a packet that has just arrived (RFC 2198), before that
  /// packet itself. Unneeded ones are counted.
  package mutating func insertRedundant(_ header: RTPHeader, payload: RawSpan, at now: Instant) {
    let (format, sequence) = (formats[Int(header.payloadType & 0x7F)], sequences.peek(header.sequenceNumber))
    guard ssrc == header.ssrc, let highest, let info = decoders[format].decoder.inspect(payload) else { return }
    let timestamp = timeline.peek(header.timestamp, sequence: sequence, scale: decoders[format].scale)
    guard abs(sequence - highest.sequence) <= Self.sequenceJump,
      abs(timestamp - highest.timestamp) <= Self.timestampJump
    else { return }
    statistics.fecPacketsReceived += 1
    if sequence > highest.sequence, timestamp > highest.timestamp {
      delays.receiveRedundancy(timestamp: timestamp, at: now)
    }
    let insertion = packets.insert(
      payload, sequence: sequence, timestamp: timestamp, info: info, format: format, isRedundant: true, at: now)
    if insertion != .inserted { statistics.fecPacketsDiscarded += 1 }
  }

  /// Counts the bytes that RED has added to the primary block of a packet.
  package mutating func noteRedundancy(bytes: Int) { statistics.fecBytesReceived += Int64(bytes) }

  /// Counts a packet that cannot be read before it reaches a decoder.
  package mutating func refuse() { statistics.malformedPackets += 1 }

  /// Starts over after a jump that loss cannot explain: the buffered packets belong to another time.
  private mutating func resynchronizeIfJumped(_ header: RTPHeader, scale: Int64) {
    guard let highest else { return }
    let sequence = sequences.peek(header.sequenceNumber)
    let sequenceStep = sequence - highest.sequence
    let timestampStep = timeline.peek(header.timestamp, sequence: sequence, scale: scale) - highest.timestamp
    guard abs(sequenceStep) > Self.sequenceJump || abs(timestampStep) > Self.timestampJump else { return }
    startOver()
    self.highest = nil
  }

  /// Discards the waiting packets, and collects packets again.
  private mutating func startOver() {
    if nextTimestamp != nil || packets.count > 0 { statistics.resynchronizations += 1 }
    statistics.packetsDiscarded += Int64(packets.count)
    packets.reset()
    delays.forgetArrivals()
    phase = .filling
    firstArrival = nil
  }

  // MARK: Samples out

  /// Plays `samples` per channel, at most 120 ms, at the device's time `now`.
  ///
  /// - Parameter output: gets the interleaved samples, as far as it has room; unchanged by a decoder without samples.
  package mutating func pull(
    samples: Int = 480, into output: inout OutputSpan<Int16>, at now: Instant
  ) -> PlayoutFrame {
    let samples = min(max(samples, 0), Self.longestPull)
    delays.pullInterval = .microseconds(Int64(samples) * 1_000 / 48)
    if phase == .filling { startIfFilled(at: now) }
    while queue.count < samples {
      if phase == .filling, nextTimestamp == nil {
        queue.appendSilence(samples - queue.count)
      } else {
        playNext(at: now)
      }
    }
    playsComfort = source == .comfort && !isConcealing
    // In comfort noise the place in the stream stands still.
    playedTimestamp =
      isConcealing || source == .comfort ? nil : nextTimestamp.map { timeline.timestamp(at: $0 - Int64(queue.count)) }
    var (rms, peak) = queue.pop(samples, into: &output)
    if !decoder.producesSamples {
      rms = source == .silence ? 0 : level.linear
      peak = rms
    }
    if nextTimestamp != nil {
      statistics.totalSamplesReceived += Int64(samples)
      statistics.loudness.add(peak: peak, samples: samples)
    }
    return PlayoutFrame(sampleCount: samples, source: source, level: rms)
  }

  private mutating func startIfFilled(at now: Instant) {
    guard let firstArrival, let first = packets.first, now - firstArrival >= targetDelay else { return }
    phase = .playing
    if nextTimestamp == nil { source = .decoded }
    nextTimestamp = packets[first].timestamp
    filled = 0
  }

  private mutating func playNext(at now: Instant) {
    dropBacklog(at: now)
    let decision = PlayoutDecision.make(for: situation(at: now))
    switch decision {
    case .normal where isEventFirst, .accelerate where isEventFirst, .decelerate where isEventFirst: takeEvent()
    case .normal: decodeFirst(at: now)
    case .accelerate(let urgent):
      decodeFirst(at: now)
      stretch(at: now, urgent: urgent, faster: true)
    case .decelerate:
      decodeFirst(at: now)
      stretch(at: now, urgent: false, faster: false)
    case .recover(let samples): recover(samples)
    case .conceal(let samples): conceal(samples)
    case .comfort(let samples): comfort(samples)
    }
  }

  private var isEventFirst: Bool { packets.first.map { !packets[$0].info.isSound } ?? false }

  /// Lets the first packet, which holds no sound, take effect on the pause around it.
  private mutating func takeEvent() {
    guard let index = packets.first else { return }
    let payload = packets[index].payload
    play(packets[index].format)
    _ = decoder.decode(payload.span.bytes, into: &queue, level: &level)
    packets.removeFirst(played: true)
    isPaused = true
    isConcealing = false
  }

  private func situation(at now: Instant) -> PlayoutSituation {
    var situation = PlayoutSituation(
      first: nil, target: targetDelay, upperLimit: delays.upperLimit, filled: filled,
      isPaused: isPaused,
      mayStretch: now - lastStretch >= Self.stretchInterval && !isConcealing,
      mayWait: isConcealing ? fadeGain(filled) < 0.5 : isPaused && filled > 0, span: span(at: now))
    guard phase == .playing, let index = packets.first, let nextTimestamp else { return situation }
    situation.first = PlayoutSituation.Packet(
      gap: packets[index].timestamp - nextTimestamp,
      isConsecutive: packets.expected.map { $0 == packets[index].sequence } ?? true,
      redundantSamples: packets[index].info.redundantSamples, delay: delay(of: index, at: now))
    return situation
  }

  /// Returns the time for which the fastest packet would wait if this one were decoded now.
  private func delay(of index: Int, at now: Instant) -> Interval {
    delays.delay(of: packets[index].timestamp, at: now + queued)
  }

  private func waiting(of index: Int, at now: Instant) -> Interval { now - packets[index].arrival + queued }

  private var queued: Interval { .microseconds(Int64(queue.count) * 1_000 / 48) }

  /// Returns the length of the waiting media plus the waiting time of the newest packet; nil when that packet marks a
  /// pause.
  private func span(at now: Instant) -> Interval? {
    guard let first = packets.first, let last = packets.last, !packets[last].info.isDTX else { return nil }
    return .microseconds((packets[last].timestamp - packets[first].timestamp) * 1_000 / 48)
      + (now - packets[last].arrival)
  }

  private mutating func dropBacklog(at now: Instant) {
    guard phase == .playing, !Defect.jumpNotFollowed.isPlanted, let index = packets.first,
      packets[index].info.isSound
    else { return }
    var excess = delay(of: index, at: now) - targetDelay
    guard excess > Self.maximumBacklog else { return }
    while excess > .zero, packets.count > 1, let index = packets.first {
      excess -= .microseconds(Int64(packets[index].info.samplesPerChannel) * 1_000 / 48)
      packets.removeFirst(played: false)
      statistics.packetsDiscarded += 1
    }
    if let index = packets.first { nextTimestamp = packets[index].timestamp }
    filled = 0
  }

  private mutating func decodeFirst(at now: Instant) {
    guard let index = packets.first else { return }
    let (info, timestamp) = (packets[index].info, packets[index].timestamp)
    let isRedundant = packets[index].isRedundant
    let before = queue.count
    currentDelay = delay(of: index, at: now)
    let waited = waiting(of: index, at: now).seconds
    let sinceArrival = (now - packets[index].arrival).seconds
    let payload = packets[index].payload
    play(packets[index].format)
    let decoded = decoder.decode(payload.span.bytes, into: &queue, level: &level)
    packets.removeFirst(played: true)
    guard let decoded else {
      // The payload passed inspection but cannot be decoded, so it is treated as lost.
      statistics.malformedPackets += 1
      nextTimestamp = timestamp
      filled = 0
      conceal(min(info.samplesPerChannel, PlayoutDecision.chunk))
      return
    }
    if isConcealing { queue.ramp(at: before, frames: min(240, decoded), from: fadeGain(filled), to: 1) }
    let count = Double(decoded)
    statistics.jitterBufferDelay += max(0, waited) * count
    statistics.totalProcessingDelay += max(0, sinceArrival) * count
    statistics.jitterBufferTargetDelay += targetDelay.seconds * count
    statistics.jitterBufferMinimumDelay += delays.networkTarget.seconds * count
    statistics.jitterBufferEmittedCount += Int64(decoded)
    if info.hasRedundancy {
      if usedRedundancy { usedRedundancy = false } else { statistics.fecPacketsDiscarded += 1 }
    }
    finishFill(at: timestamp + (Defect.packetDurationFixed.isPlanted ? 960 : Int64(decoded)))
    isPaused = info.isDTX
    source = isRedundant ? .recovered : .decoded
    if isRedundant { statistics.recoveredSamples += Int64(decoded) }
  }

  private mutating func recover(_ samples: Int) {
    guard let index = packets.first else { return }
    let (whole, timestamp) = (packets[index].info.redundantSamples, packets[index].timestamp)
    let before = queue.count
    let payload = packets[index].payload
    play(packets[index].format)
    guard let restored = decoder.recover(payload.span.bytes, samples: whole, into: &queue, level: &level),
      restored >= samples
    else { return conceal(samples) }
    // Part of the lost packet may have been concealed before its successor arrived, so only its end is kept.
    queue.remove(restored - samples, at: before)
    if isConcealing { queue.ramp(at: before, frames: min(240, samples), from: fadeGain(filled), to: 1) }
    statistics.recoveredSamples += Int64(samples)
    usedRedundancy = true
    finishFill(at: timestamp)
    source = .recovered
  }

  private mutating func finishFill(at timestamp: Int64) {
    nextTimestamp = timestamp
    filled = 0
    isConcealing = false
  }

  private mutating func conceal(_ samples: Int) {
    let before = queue.count
    let (first, last) = (fadeGain(filled), fadeGain(filled + Int64(samples)))
    var isSilent = first <= 0
    if isSilent || decoder.conceal(samples, into: &queue, level: &level) == nil {
      queue.appendSilence(samples)
      level = .silence
      isSilent = true
    }
    queue.ramp(at: before, frames: samples, from: first, to: last)
    if !isConcealing { statistics.concealmentEvents += 1 }
    statistics.concealedSamples += Int64(samples)
    if isSilent { statistics.silentConcealedSamples += Int64(samples) }
    filled += Int64(samples)
    isConcealing = true
    source = .concealed
  }

  private mutating func comfort(_ samples: Int) {
    if decoder.conceal(samples, into: &queue, level: &level) == nil { queue.appendSilence(samples) }
    statistics.comfortSamples += Int64(samples)
    filled += Int64(samples)
    source = .comfort
  }

  private func fadeGain(_ concealed: Int64) -> Double {
    guard concealed > Self.fadeStart else { return 1 }
    return max(0, Double(Self.fadeEnd - concealed) / Double(Self.fadeEnd - Self.fadeStart))
  }

  /// Changes the length of the queued audio by one pitch period. Each failed attempt lowers the required similarity.
  private mutating func stretch(at now: Instant, urgent: Bool, faster: Bool) {
    if Defect.driftNotFollowed.isPlanted { return }
    let threshold = (urgent ? 0.5 : 0.9) - 0.05 * Double(failedStretches)
    guard let lag = faster ? queue.accelerate(threshold: threshold) : queue.decelerate(threshold: threshold) else {
      failedStretches += 1
      return
    }
    failedStretches = 0
    lastStretch = now
    if faster {
      statistics.removedSamplesForAcceleration += Int64(lag)
    } else {
      statistics.insertedSamplesForDeceleration += Int64(lag)
    }
  }
}

extension AudioDecoder {
  fileprivate func decode(_ payload: RawSpan, into queue: inout SampleQueue, level: inout AudioLevel) -> Int? {
    queue.take(&level) { decode(payload, into: &$0) }
  }

  fileprivate func recover(
    _ payload: RawSpan, samples: Int, into queue: inout SampleQueue, level: inout AudioLevel
  ) -> Int? {
    queue.take(&level) { decodeRedundancy(of: payload, samples: samples, into: &$0) }
  }

  fileprivate func conceal(_ samples: Int, into queue: inout SampleQueue, level: inout AudioLevel) -> Int? {
    queue.take(&level) { conceal(samples: samples, into: &$0) }
  }
}

extension SampleQueue {
  fileprivate mutating func take(_ level: inout AudioLevel, _ body: (inout OutputSpan<Int16>) -> DecodedAudio?) -> Int?
  {
    append { output in
      guard let audio = body(&output) else { return nil }
      if let heard = audio.level { level = heard }
      return audio.samplesPerChannel
    }
  }
}
