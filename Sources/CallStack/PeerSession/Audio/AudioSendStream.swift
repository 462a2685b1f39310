internal import CallCore
internal import Codecs
internal import CongestionControl
internal import RTP
internal import SDP

/// Turns samples into RTP packets. Samples are encoded only when they can be sent, so that no sequence number is
/// wasted.
final class AudioSendStream {
  private(set) var rtp: RTPSender
  /// The retransmission stream (RFC 4588); nil when lost packets are sent again on the stream itself.
  private var retransmission: RetransmissionSender?
  private(set) var encoding: AudioEncoding
  private let settings: AudioSettings
  private let fidelity: MediaFidelity
  private var limit: DataRate?
  /// The rate that the path to the other side carries, of modelled iSAC; nil before it says so.
  private var bottleneck: DataRate?
  /// The result of the last negotiation.
  private var negotiated: (media: NegotiatedMedia, codec: NegotiatedCodec)
  private var encoder: AudioEncoder
  private var expectedLoss = ExpectedLoss()
  /// In percent; nil before the first report.
  private var lastExpectedLoss: Int?
  /// The number of interleaved channels that are recorded.
  private let recordedChannels: Int
  private var framer: PCMFramer
  private var frame: [Int16] = []
  private var levels = FIFO<AudioLevel>()
  private var levelSamples = 0
  private var loudest = AudioLevel.silence
  private var clock: SendingClock
  private var gate = DTXGate()
  private var counts = OpusPacketCounts()
  private var format = SentAudioFormat()
  /// The comfort noise in pauses, and its payload type; nil unless it is used.
  private var noise: (encoder: ComfortNoiseEncoder, payloadType: UInt8)?
  private var noiseGate = DTXGate(refreshInterval: .milliseconds(100))
  private var redundancy: RedundancyEncoder?
  private var events = TelephoneEventSender()
  /// The payload type of telephone events; nil unless negotiated for this media clock.
  private var eventPayloadType: UInt8?
  private var isTalking = false
  private let scratch: UnsafeMutableBufferPointer<UInt8>
  private let wrapped: UnsafeMutableBufferPointer<UInt8>
  private var extensions = StreamExtensions()
  /// The rest of an Ethernet frame after IPv6, UDP, a Send indication to an IPv6 peer, RTP with its extension, and the
  /// SRTP tag. The encoder lowers its rate to fit into it; a much larger packet could not be sent.
  private static let maximumPayload = maximumDatagramSize - 48 - 48 - 12 - 24 - 16

  init(
    settings: AudioSettings, fidelity: MediaFidelity, media: NegotiatedMedia, codec: NegotiatedCodec,
    track: LocalTrack, random: RandomSource
  ) {
    self.settings = settings
    self.fidelity = fidelity
    clock = SendingClock(rate: codec.clockRate)
    negotiated = (media, codec)
    encoding = AudioEncoding(settings, media, codec)
    encoder = Self.makeEncoder(encoding, settings, fidelity, expectedLoss: nil)
    recordedChannels = settings.stereo && fidelity == .real ? 2 : 1
    framer = PCMFramer(frameSize: encoding.packetDuration.samplesPerChannel * recordedChannels)
    var sending = RTPSender.Settings(payloadType: codec.payloadType, clockRate: codec.clockRate)
    sending.keepsHistory = codec.feedback.contains(.nack)
    sending.initialSequenceNumber = settings.initialSequenceNumber
    let suffix = track.number == 0 ? "" : "/\(track.number)"
    rtp = RTPSender(ssrc: track.sender.ssrc, settings: sending, random: random.stream("rtp" + suffix))
    if let payloadType = codec.retransmissionPayloadType, let ssrc = track.sender.encodings[0].retransmissionSSRC {
      retransmission = RetransmissionSender(
        ssrc: ssrc, payloadType: payloadType, random: random.stream("rtx" + suffix))
    }
    scratch = .allocate(capacity: Self.maximumPayload)
    wrapped = .allocate(capacity: Self.maximumPayload)
    setHelpers(media, codec)
    noteFormat()
  }

  deinit {
    scratch.deallocate()
    wrapped.deallocate()
  }

  private static func makeEncoder(
    _ encoding: AudioEncoding, _ settings: AudioSettings, _ fidelity: MediaFidelity, expectedLoss: Int?
  ) -> AudioEncoder {
    switch fidelity {
    case .real:
      if let codec = encoding.codec.telephony {
        return .telephony(TelephonyEncoder(codec, packetDuration: encoding.packetDuration))
      }
      let opus = encoding.opus(
        complexity: settings.complexity, expectedPacketLoss: settings.expectedLossPercent ?? expectedLoss ?? 0)
      do throws(CodecError) {
        return .opus(try OpusEncoder(settings: opus, cache: settings.reusesEncodedAudio ? .shared : nil))
      } catch {
        preconditionFailure("validated audio settings were refused: \(error)")
      }
    case .synthetic: return .synthetic(SyntheticAudioEncoder(settings: encoding.synthetic(bottleneck: nil)))
    }
  }

  /// Whether the negotiated direction sends. If not, recording continues and nothing is sent: the stream keeps its
  /// sequence numbers, which must never be used twice with one key.
  var isActive = true

  /// Applies the result of a later negotiation. Another codec encodes from the next packet on.
  func update(_ media: NegotiatedMedia, _ codec: NegotiatedCodec) {
    rtp.setPayloadType(codec.payloadType)
    rtp.setClockRate(codec.clockRate)
    if let own = codec.retransmissionPayloadType { retransmission?.associate(own, with: codec.payloadType) }
    clock.setRate(codec.clockRate)
    rtp.setKeepsHistory(codec.feedback.contains(.nack))
    negotiated = (media, codec)
    setHelpers(media, codec)
    noteFormat()
    reconsider()
  }

  /// Takes the negotiated formats that assist the codec: those with its media clock. A retransmission stream stands for
  /// one payload type, so that it excludes them.
  private func setHelpers(_ media: NegotiatedMedia, _ codec: NegotiatedCodec) {
    func payloadType(of helper: AudioCodec) -> UInt8? {
      guard retransmission == nil else { return nil }
      return media.sendHelpers.first { AudioCodec($0) == helper && $0.clockRate == codec.clockRate }?.payloadType
    }
    let isOpus = AudioCodec(codec) == .opus
    let noisePayloadType = settings.dtx && !isOpus && fidelity == .real ? payloadType(of: .comfortNoise) : nil
    noise = noisePayloadType.map { (noise?.encoder ?? ComfortNoiseEncoder(), $0) }
    eventPayloadType = payloadType(of: .telephoneEvents)
    if eventPayloadType == nil { events.removeAll() }
    let redundancyPayloadType = isOpus && settings.redundantPackets > 0 ? payloadType(of: .redundancy) : nil
    guard let own = redundancyPayloadType else {
      redundancy = nil
      return
    }
    if redundancy?.payloadType == own, redundancy?.mediaPayloadType == codec.payloadType { return }
    redundancy = RedundancyEncoder(
      payloadType: own, mediaPayloadType: codec.payloadType, limit: settings.redundantPackets)
  }

  /// Limits the bitrate below the negotiated one (W3C `maxBitrate`).
  func setLimit(_ limit: DataRate?) {
    guard limit != self.limit else { return }
    self.limit = limit
    reconsider()
  }

  /// Notes how the sound is sent, whatever limits its bitrate for the moment.
  private func noteFormat() {
    let encoding = AudioEncoding(settings, negotiated.media, negotiated.codec)
    format = SentAudioFormat(encoding, settings)
    format.repeatedPackets = redundancy == nil ? 0 : settings.redundantPackets
    format.hasComfortNoise = noise != nil
    format.hasEvents = eventPayloadType != nil
  }

  private func reconsider() {
    var settings = settings
    if let limit { settings.bitrate = min(settings.bitrate, max(limit, AudioEncoding.lowestBitrate)) }
    let next = AudioEncoding(settings, negotiated.media, negotiated.codec)
    guard next != encoding else { return }
    // Queued levels have the old packet duration, so they are dropped; queued samples are split again.
    while levels.popFirst() != nil { clock.position += Int64(encoding.packetDuration.samplesPerChannel) }
    let isOther = encoding.codec != next.codec || encoding.channels != next.channels
    encoding = next
    framer.frameSize = next.packetDuration.samplesPerChannel * recordedChannels
    if isOther, encoder.needsSamples {
      encoder = Self.makeEncoder(next, settings, fidelity, expectedLoss: lastExpectedLoss)
      return
    }
    switch encoder {
    case .opus(let opus):
      try? opus.update(
        next.opus(complexity: settings.complexity, expectedPacketLoss: opus.settings.expectedPacketLoss))
    case .telephony(let telephony): telephony.update(next.packetDuration)
    case .synthetic(let synthetic):
      synthetic.update(next.synthetic(bottleneck: bottleneck))
    }
  }

  /// Adapts the rate of modelled iSAC to the path.
  ///
  /// - Parameters:
  ///   - bottleneck: what the other side says that the path to it carries; nil before it has said anything.
  ///   - index: what is said to the other side in turn.
  func adapt(to bottleneck: DataRate?, saying index: UInt8) {
    guard encoding.codec == .isac, case .synthetic(let synthetic) = encoder else { return }
    self.bottleneck = bottleneck
    var settings = encoding.synthetic(bottleneck: bottleneck)
    settings.bottleneck = index
    synthetic.update(settings)
  }

  /// Sets the negotiated header extensions.
  ///
  /// - Parameters:
  ///   - isNumbered: whether the remote side sends feedback about the arrival of these packets.
  ///   - mid: the section name carried by every packet (RFC 9143 section 15) until the remote side reports on the
  ///     stream and so knows its source. Nil to leave this as it is.
  func setExtensions(_ negotiated: MediaExtensions, isNumbered: Bool, naming mid: String?) {
    extensions.set(negotiated, isNumbered: isNumbered, mid: mid, rid: nil)
  }

  /// Whether a whole packet of samples was recorded and not encoded yet.
  var hasRecordedPacket: Bool { encoder.needsSamples ? framer.pendingCount >= framer.frameSize : !levels.isEmpty }

  /// The position of the next sample to be recorded.
  var recordingPosition: RecordingPosition {
    let pending =
      encoder.needsSamples
      ? framer.pendingCount / recordedChannels : levels.count * encoder.packetDuration.samplesPerChannel + levelSamples
    let ticks = clock.ticks(at: clock.position + Int64(pending))
    var position = RecordingPosition(
      AudioPosition(ssrc: rtp.ssrc, timestamp: rtp.timestamp(of: ticks)), clockRate: negotiated.codec.clockRate,
      codecDelay: encoder.delay)
    position.sent = counts
    position.format = format
    position.isOfDigits = !events.isIdle
    return position
  }

  /// The expected packet loss in percent; nil for a codec without this setting.
  var expectedPacketLoss: Int? {
    guard case .opus(let opus) = encoder else { return nil }
    return opus.settings.expectedPacketLoss
  }

  var hasSent: Bool { rtp.outbound.packetsSent > 0 }
  /// Whether packets carry transport-wide numbers.
  var isNumbered: Bool { extensions.originalNumberOffset != nil }
  var roundTrip: Interval? { rtp.remoteInbound.roundTripTime }

  // MARK: Samples

  func append(_ samples: Span<Int16>) { framer.append(samples) }

  func append(_ level: AudioLevel, duration: Interval) {
    let frame = encoder.packetDuration.samplesPerChannel
    loudest = max(loudest, level)
    levelSamples += Int(duration.nanoseconds * 48 / 1_000_000)
    while levelSamples >= frame {
      levelSamples -= frame
      levels.append(loudest)
      loudest = levelSamples > 0 ? level : .silence
    }
  }

  /// Replaces what was recorded, and not sent yet, by silence: the rest of a packet may wait for its end for as long as the
  /// microphone is taken from the app.
  func silencePending() {
    loudest = .silence
    framer.silence()
  }

  /// Discards the recorded samples and waiting events; the media clock continues.
  func dropPending() {
    events.removeAll()
    let samples = Int64(encoder.packetDuration.samplesPerChannel)
    while levels.popFirst() != nil { clock.position += samples }
    while framer.takeFrame(into: &frame) { clock.position += samples }
  }

  // MARK: Packets

  /// Encodes the recorded samples, and hands them to the pacer together with the requested retransmissions.
  func produce(into pacer: inout Pacer, at now: Instant) {
    while let level = takeRecorded() {
      let start = clock.position
      clock.position += Int64(encoder.packetDuration.samplesPerChannel)
      if sendEvent(from: start, into: &pacer, at: now) { continue }
      guard let (encoded, helper) = encode(level) else { continue }
      if helper == nil {
        guard gate.admits(encoded) else { continue }
      } else if !noiseGate.admits(encoded) {
        continue
      }
      let isOnset = !isTalking && !encoded.isDTX
      isTalking = !encoded.isDTX
      let payload = UnsafeRawBufferPointer(start: scratch.baseAddress, count: encoded.byteCount)
      if case .opus(let opus) = encoder { counts.add(payload.bytes, settings: opus.settings) }
      let ticks = clock.ticks(at: start)
      guard redundancy != nil, helper == nil else {
        send(payload.bytes, ticks: ticks, payloadType: helper, marker: isOnset, level: level, into: &pacer, at: now)
        continue
      }
      var output = OutputSpan<UInt8>(buffer: wrapped, initializedCount: 0)
      redundancy?.wrap(payload.bytes, at: ticks, into: &output)
      let count = output.finalize(for: wrapped)
      let whole = UnsafeRawBufferPointer(start: wrapped.baseAddress, count: count)
      send(
        whole.bytes, ticks: ticks, payloadType: redundancy?.payloadType, marker: isOnset, level: level, into: &pacer,
        at: now)
    }
    while rtp.isAskedAgain, pacer.enqueue(.retransmission, at: now, write: { takeRetransmission(into: &$0, at: now) }) {
    }
  }

  /// Hands one packet to the pacer.
  private func send(
    _ payload: RawSpan, ticks: UInt32, payloadType: UInt8?, marker: Bool, level: AudioLevel, into pacer: inout Pacer,
    at now: Instant
  ) {
    let (extensions, numberOffset) = extensions.original(AudioLevelIndication(of: level))
    _ = pacer.enqueue(.audio, at: now) { output in
      let header = rtp.packetize(
        payload: payload, mediaTime: ticks, payloadType: payloadType, marker: marker, extensions: extensions,
        into: &output)
      guard let header else { return nil }
      return OutgoingPacket(
        header: header, headerSize: RTPHeader.fixedSize + extensions.encodedSize, captured: now,
        transportNumberOffset: numberOffset)
    }
  }

  /// Queues a telephone event, such as a DTMF digit, to be sent in place of sound (RFC 4733).
  ///
  /// - Parameters:
  ///   - duration: 40 ms to 6 s, else the nearest of these, as in W3C `insertDTMF`.
  ///   - gap: the time of sound after it before another event, at least 30 ms.
  /// - Returns: false when events were not negotiated for the codec's media clock, or too many wait.
  func sendTelephoneEvent(
    _ event: UInt8, duration: Interval = .milliseconds(100), gap: Interval = .milliseconds(70)
  ) -> Bool {
    guard eventPayloadType != nil else { return false }
    return events.append(
      event, duration: min(max(duration, .milliseconds(40)), .seconds(6)), gap: max(gap, .milliseconds(30)))
  }

  /// Whether telephone events were negotiated for the codec's media clock.
  var canSendEvents: Bool { isActive && eventPayloadType != nil }

  /// The tones that have not begun.
  var toneBuffer: String { events.toneBuffer }

  /// Returns the next tone that has begun; an empty text when all are over.
  func nextToneChange() -> String? { events.nextToneChange() }

  /// Replaces the waiting tones.
  func setTones(_ tones: [DTMFTone], duration: Interval, gap: Interval) {
    events.replace(
      with: tones, duration: min(max(duration, .milliseconds(40)), .seconds(6)), gap: max(gap, .milliseconds(30)))
  }

  /// Queues the event of a DTMF digit.
  func sendTelephoneEvent(
    _ digit: Character, duration: Interval = .milliseconds(100), gap: Interval = .milliseconds(70)
  ) -> Bool {
    TelephoneEventPayload.event(of: digit).map { sendTelephoneEvent($0, duration: duration, gap: gap) } ?? false
  }

  /// Sends the packet of an event that is due.
  ///
  /// - Returns: whether it replaces the sound.
  private func sendEvent(from start: Int64, into pacer: inout Pacer, at now: Instant) -> Bool {
    guard !events.isIdle, let payloadType = eventPayloadType,
      let packet = events.next(from: start, to: clock.position, samplesPerTick: clock.samplesPerTick)
    else { return false }
    var output = OutputSpan<UInt8>(buffer: wrapped, initializedCount: 0)
    packet.payload(samplesPerTick: clock.samplesPerTick).write(into: &output)
    let count = output.finalize(for: wrapped)
    let payload = UnsafeRawBufferPointer(start: wrapped.baseAddress, count: count)
    send(
      payload.bytes, ticks: clock.ticks(at: packet.start), payloadType: payloadType, marker: packet.isOnset,
      level: .silence, into: &pacer, at: now)
    return packet.replacesSound
  }

  private func takeRetransmission(into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    guard retransmission != nil else { return rtp.takeRetransmission(into: &output, at: now) }
    var packet = rtp.takeRetransmission(on: &retransmission!, extensions: extensions.repair, into: &output, at: now)
    packet?.transportNumberOffset = extensions.repairNumberOffset
    return packet
  }

  /// Counts a packet as sent.
  ///
  /// - Returns: whether the packet belongs to this stream.
  func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) -> Bool {
    guard packet.header.ssrc == rtp.ssrc || packet.header.ssrc == retransmission?.ssrc else { return false }
    rtp.departed(packet, bytes, at: now)
    return true
  }

  /// Notes that a packet will not be sent.
  func dropped(_ packet: OutgoingPacket) { rtp.dropped(packet) }

  /// Takes the next packet's samples, if the codec needs them, into `frame`, and returns the level, which is silence when
  /// it is not sent.
  private func takeRecorded() -> AudioLevel? {
    guard encoder.needsSamples else { return levels.popFirst() }
    guard framer.takeFrame(into: &frame) else { return nil }
    if encoding.channels < recordedChannels { mixFrame() }
    guard extensions.hasLevel else { return .silence }
    let samples = frame
    return AudioLevel(of: samples.span)
  }

  /// Mixes the two channels of the taken samples.
  private func mixFrame() {
    let count = frame.count / 2
    for index in 0..<count { frame[index] = Int16((Int(frame[2 * index]) + Int(frame[2 * index + 1])) / 2) }
    frame.removeLast(count)
  }

  /// Encodes the taken samples, or a level, into `scratch`.
  ///
  /// - Returns: the packet, and its payload type if it is not that of the codec; nil on failure.
  private func encode(_ level: AudioLevel) -> (audio: EncodedAudio, helper: UInt8?)? {
    let room = scratch.count - (redundancy == nil ? 0 : RedundancyEncoder.overhead)
    let memory = UnsafeMutableBufferPointer(rebasing: scratch[..<room])
    var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    var (encoded, helper): (EncodedAudio?, UInt8?)
    if encoder.needsSamples {
      let samples = frame
      if let noise, noise.encoder.isPause(samples.span) {
        encoded = try? noise.encoder.write(into: &output)
        helper = noise.payloadType
      } else {
        encoded = try? encoder.encode(samples.span, into: &output)
      }
    } else {
      encoded = try? encoder.encode(level, into: &output)
    }
    _ = output.finalize(for: memory)
    if helper == nil, noise != nil { noiseGate = DTXGate(refreshInterval: .milliseconds(100)) }
    return encoded.map { ($0, helper) }
  }

  // MARK: Feedback

  /// Returns the sender report of an active stream; nil for a held one.
  func senderReport(clock: WallClock, at now: Instant) -> SenderReport? {
    rtp.hasSentLately ? rtp.senderReport(clock: clock, at: now) : nil
  }

  func endReportInterval() { rtp.endReportInterval() }

  func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
    if block.ssrc == retransmission?.ssrc { extensions.forgetRepairNames() }
    guard block.ssrc == rtp.ssrc else { return }
    rtp.receive(block, clock: clock, at: now)
    extensions.forgetNames()
    guard settings.expectedLossPercent == nil else { return }
    let expected = expectedLoss.add(rtp.remoteInbound.fractionLost, at: now)
    lastExpectedLoss = expected
    guard case .opus(let opus) = encoder else { return }
    var changed = opus.settings
    changed.expectedPacketLoss = expected
    try? opus.update(changed)
  }

  func receive(_ nack: GenericNACK) { rtp.receive(nack) }
}
