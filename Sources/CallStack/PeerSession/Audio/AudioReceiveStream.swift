internal import CallCore
internal import Codecs
internal import JitterBuffer
internal import RTP
internal import SDP

/// Receives the RTP packets of one media section and plays them.
///
/// One source plays at a time. A new source takes over at once, because the remote side may have changed its SSRC. A
/// known source, whose last packets may only be late, takes over once the playing one has been silent for a while.
final class AudioReceiveStream {
  /// The reception state and the playout counters of one SSRC.
  struct Source {
    var rtp: RTPReceiver
    /// The counters of its last playout; nil if it never played, out of date while it plays.
    var playout: AudioJitterBufferStatistics?
    /// The number of packets after its BYE, without late ones; nil if there was no BYE.
    var sinceGoodbye: Int?

    var ssrc: UInt32 { rtp.ssrc }
    var hasDeparted: Bool { sinceGoodbye != nil }
  }

  /// The known sources, in order of appearance.
  private(set) var sources: [Source] = []
  /// The index of the source that plays; beyond the end when none plays.
  private var playing = 0
  private var jitterBuffer: AudioJitterBuffer
  /// The sample of the playing source that was played last of what was sent, and when.
  private var lastPlayed: (timestamp: UInt32, at: Instant)?
  /// The negotiated use of a payload type.
  private struct Use {
    var clockRate: UInt32
    var codec: AudioCodec
  }

  private var uses: [Use?] = Array(repeating: nil, count: 128)
  private var events = TelephoneEventReceiver()
  /// What the packets of modelled iSAC tell: the bottleneck on the way here, and the one on the way back, as they say it.
  private(set) var bottleneck = ISACBottleneckEstimator()
  private(set) var remoteBottleneck: DataRate?
  /// The decoders beside Opus that were made.
  private var decoders: [(codec: AudioCodec, clockRate: UInt32, format: AudioJitterBuffer.Format)] = []
  private let fidelity: MediaFidelity
  /// Whether the negotiated direction receives.
  var isActive = false {
    didSet { if isActive, !oldValue { jitterBuffer.resume() } }
  }
  private var nack: NACKGenerator.Settings?
  /// The original payload type for each payload type of the retransmission stream.
  private var retransmitted: [UInt8: UInt8] = [:]
  /// The sources in the remote description.
  private var named: [MediaSource] = []

  /// The number of sources kept; beyond it, the source that has been silent longest is dropped.
  private static let sourceLimit = 4
  private static let takeoverSilence = Interval.milliseconds(500)
  /// The number of packets after a BYE that show the source continues, as libwebrtc's does after a hold. Fewer may be
  /// packets that the BYE has overtaken.
  private static let packetsOfReturn = 3

  init(fidelity: MediaFidelity) {
    self.fidelity = fidelity
    jitterBuffer = AudioJitterBuffer(decoder: Self.makeDecoder(.opus, fidelity))
  }

  private static func makeDecoder(_ codec: AudioCodec, _ fidelity: MediaFidelity) -> AudioDecoder {
    guard fidelity == .real else { return .synthetic(SyntheticAudioDecoder()) }
    if let telephony = codec.telephony { return .telephony(TelephonyDecoder(telephony)) }
    if codec == .comfortNoise { return .comfortNoise(ComfortNoiseDecoder()) }
    do throws(CodecError) {
      return .opus(try OpusDecoder(channels: 1))
    } catch {
      preconditionFailure("libopus refused a mono decoder: \(error)")
    }
  }

  /// Accepts these payload types in addition to earlier ones: packets sent under an earlier negotiation may still
  /// arrive, and a payload type keeps its meaning (RFC 3264 section 8.3.2).
  ///
  /// - Parameters:
  ///   - helpers: the formats that assist the codecs.
  ///   - sources: the sources in the remote description, with their retransmission sources.
  func accept(
    _ codecs: [NegotiatedCodec], helpers: [NegotiatedCodec] = [], retransmissions sources: [MediaSource]
  ) {
    for codec in codecs + helpers {
      uses[Int(codec.payloadType)] = Use(clockRate: codec.clockRate, codec: AudioCodec(codec) ?? .opus)
      jitterBuffer.setFormat(format(of: codec), of: codec.payloadType)
      if let own = codec.retransmissionPayloadType { retransmitted[own] = codec.payloadType }
    }
    if !sources.isEmpty { named = sources }
    guard let first = codecs.first else { return }
    nack = first.feedback.contains(.nack) ? NACKGenerator.Settings() : nil
    for index in self.sources.indices { self.sources[index].rtp.setNACK(nack) }
  }

  /// Returns the decoder of a codec, and makes it once.
  private func format(of codec: NegotiatedCodec) -> AudioJitterBuffer.Format {
    guard let name = AudioCodec(codec), name != .opus, name != .redundancy else { return .usual }
    let known = decoders.first { $0.codec == name && $0.clockRate == codec.clockRate }
    if let known { return known.format }
    let tones = ToneDecoder(clockRate: codec.clockRate, producesSamples: fidelity == .real)
    let decoder = name == .telephoneEvents ? .tones(tones) : Self.makeDecoder(name, fidelity)
    let format = jitterBuffer.add(decoder, clockRate: codec.clockRate)
    decoders.append((name, codec.clockRate, format))
    return format
  }

  var playingSource: UInt32? { playing < sources.count ? sources[playing].ssrc : nil }

  /// Whether every source has sent a BYE and nothing since.
  var isOver: Bool { !sources.isEmpty && sources.allSatisfy(\.hasDeparted) }

  /// Returns the playout counters of a source; nil if it never played.
  func playout(of source: Source) -> AudioJitterBufferStatistics? {
    source.ssrc == playingSource ? jitterBuffer.statistics : source.playout
  }

  // MARK: Lip-sync

  /// The newest packet of the playing source by both clocks; nil while its capture time is unknown.
  var newestCapture: StreamSynchronization.Measurement? {
    playing < sources.count ? sources[playing].rtp.newestCapture : nil
  }

  /// The time for which the fastest packet would have waited when the last one was played.
  var playoutDelay: Interval { jitterBuffer.currentDelay }

  /// - Returns: whether the jitter buffer can hold so much.
  func setMinimumDelay(_ delay: Interval) -> Bool { jitterBuffer.setMinimumDelay(delay) }

  /// Returns the sender's wall clock at what is played now of a source; nil while it is unknown.
  func playoutTime(of source: Source, at now: Instant) -> Double? {
    source.ssrc == playingSource ? source.rtp.playoutTime(of: lastPlayed, at: now) : nil
  }

  // MARK: Packets

  /// Returns the original packet that a retransmission packet carries; nil if it carries none, or its source is
  /// unknown.
  func original(of packet: RTPPacket, in datagram: RawSpan) -> RTPPacket? {
    let source = named.first { $0.retransmission == packet.header.ssrc }?.ssrc ?? playingSource
    guard let source, let payloadType = retransmitted[packet.header.payloadType] else { return nil }
    return packet.retransmitted(ssrc: source, payloadType: payloadType, in: datagram)
  }

  /// - Returns: whether the source is active, which a late packet does not show; nil when its payload type was not
  ///   negotiated.
  func receive(_ packet: RTPPacket, in datagram: RawSpan, ecn: ECN, at now: Instant) -> Bool? {
    guard isActive, let use = uses[Int(packet.header.payloadType)] else { return nil }
    let index = index(of: packet.header.ssrc, at: now)
    sources[index].rtp.setClockRate(use.clockRate)
    let verdict = sources[index].rtp.receive(
      packet, isTimed: use.codec != .telephoneEvents, ecn: ecn, at: now)
    if verdict != .probation, index == playing, !packet.payloadRange.isEmpty {
      insert(packet.header, use, datagram.extracting(packet.payloadRange), at: now)
    }
    guard case .advanced = verdict else { return false }
    if let count = sources[index].sinceGoodbye {
      sources[index].sinceGoodbye = count + 1 < Self.packetsOfReturn ? count + 1 : nil
    }
    return !sources[index].hasDeparted
  }

  private func insert(_ header: RTPHeader, _ use: Use, _ payload: RawSpan, at now: Instant) {
    switch use.codec {
    case .redundancy: insertBlocks(header, payload, at: now)
    case .telephoneEvents:
      if let event = TelephoneEventPayload(parsing: payload) {
        events.receive(event, timestamp: header.timestamp, clockRate: use.clockRate, at: now)
      }
      jitterBuffer.insert(header, payload: payload, at: now)
    case .isac:
      sources[playing].rtp.mediaPayloadType = header.payloadType
      bottleneck.receive(size: payload.byteCount, timestamp: header.timestamp, at: now)
      if let rate = SyntheticCodec.bottleneck(in: payload) { remoteBottleneck = rate }
      jitterBuffer.insert(header, payload: payload, at: now)
    case .opus, .g722, .pcmu, .pcma, .ilbc:
      sources[playing].rtp.mediaPayloadType = header.payloadType
      jitterBuffer.insert(header, payload: payload, at: now)
    case .comfortNoise: jitterBuffer.insert(header, payload: payload, at: now)
    }
  }

  /// Inserts the blocks of a redundant payload (RFC 2198). The last block before the primary one is that of the packet
  /// before, and so on, as senders repeat their last packets.
  private func insertBlocks(_ header: RTPHeader, _ payload: RawSpan, at now: Instant) {
    guard var blocks = REDPayload(parsing: payload) else { return jitterBuffer.refuse() }
    var back = blocks.count - 1
    while let block = blocks.next(in: payload) {
      defer { back -= 1 }
      guard let use = uses[Int(block.payloadType & 0x7F)], use.codec != .redundancy, !block.range.isEmpty else {
        continue
      }
      var inner = header
      inner.payloadType = block.payloadType & 0x7F
      let bytes = payload.extracting(block.range)
      guard !block.isPrimary else {
        jitterBuffer.noteRedundancy(bytes: payload.byteCount - block.range.count)
        insert(inner, use, bytes, at: now)
        continue
      }
      guard use.codec != .telephoneEvents else { continue }
      inner.sequenceNumber &-= UInt16(truncatingIfNeeded: back)
      inner.timestamp &-= UInt32(block.timestampOffset)
      jitterBuffer.insertRedundant(inner, payload: bytes, at: now)
    }
  }

  /// Returns the next beginning or end of a telephone event of the remote side.
  func nextTelephoneEvent(at now: Instant) -> TelephoneEvent? {
    events.advance(to: now)
    return events.next()
  }

  /// Returns the next DTMF digit that the remote side has begun to send.
  func nextDigit(at now: Instant) -> Character? {
    while let event = nextTelephoneEvent(at: now) {
      if event.phase == .began, let digit = event.digit { return digit }
    }
    return nil
  }

  private func index(of ssrc: UInt32, at now: Instant) -> Int {
    if playing < sources.count, sources[playing].ssrc == ssrc { return playing }
    guard let known = sources.firstIndex(where: { $0.ssrc == ssrc }) else { return add(ssrc) }
    let last = playing < sources.count ? sources[playing].rtp.inbound.lastPacketReceivedTimestamp : nil
    if last.map({ now - $0 >= Self.takeoverSilence }) ?? true { play(known) }
    return known
  }

  private func add(_ ssrc: UInt32) -> Int {
    var settings = RTPReceiver.Settings(clockRate: UInt32(audioSampleRate))
    settings.nack = nack
    return adopt(Source(rtp: RTPReceiver(ssrc: ssrc, settings: settings)))
  }

  /// Takes over a source, and starts to play it.
  @discardableResult
  func adopt(_ source: Source) -> Int {
    if sources.count == Self.sourceLimit, let oldest = sources.indices.min(by: { isOlder($0, than: $1) }) {
      remove(at: oldest)
    }
    sources.append(source)
    play(sources.count - 1)
    return playing
  }

  /// Removes a source that belongs to another channel.
  func release(_ ssrc: UInt32) -> Source? {
    guard let index = sources.firstIndex(where: { $0.ssrc == ssrc }) else { return nil }
    return remove(at: index)
  }

  func knows(_ ssrc: UInt32) -> Bool { sources.contains { $0.ssrc == ssrc } }

  @discardableResult
  private func remove(at index: Int) -> Source {
    if index == playing { play(sources.count) }
    let source = sources.remove(at: index)
    if playing > index { playing -= 1 }
    return source
  }

  /// Switches playout to another source. Each source has its own counters.
  private func play(_ index: Int) {
    if playing != index {
      events = TelephoneEventReceiver()
      lastPlayed = nil
    }
    let next = index < sources.count ? sources[index].playout : nil
    let counted = jitterBuffer.begin(withCounters: next ?? AudioJitterBufferStatistics())
    if playing < sources.count, playing != index { sources[playing].playout = counted }
    playing = index
  }

  private func isOlder(_ a: Int, than b: Int) -> Bool {
    (sources[a].rtp.inbound.lastPacketReceivedTimestamp ?? .zero)
      < (sources[b].rtp.inbound.lastPacketReceivedTimestamp ?? .zero)
  }

  func play(_ count: Int, into output: inout OutputSpan<Int16>, at now: Instant) -> AudioLevel? {
    guard isActive, playing < sources.count else { return nil }
    let level = AudioLevel(linear: jitterBuffer.pull(samples: count, into: &output, at: now).level)
    if let timestamp = jitterBuffer.playedTimestamp { lastPlayed = (timestamp, now) }
    return level
  }

  /// Where the sound of the last pull comes from.
  var playedPlace: PlayedPlace {
    guard isActive, let ssrc = playingSource else { return .concealed }
    if let timestamp = jitterBuffer.playedTimestamp { return .sent(AudioPosition(ssrc: ssrc, timestamp: timestamp)) }
    return jitterBuffer.playsComfort ? .comfort : .concealed
  }

  // MARK: RTCP

  func receive(_ report: SenderReport, at now: Instant) {
    guard let index = sources.firstIndex(where: { $0.ssrc == report.ssrc }) else { return }
    sources[index].rtp.receive(report, at: now)
  }

  /// - Returns: whether that source is playing.
  func depart(_ ssrc: UInt32) -> Bool {
    guard let index = sources.firstIndex(where: { $0.ssrc == ssrc }) else { return false }
    sources[index].sinceGoodbye = 0
    return index == playing
  }

  /// Appends a report block for each active source, up to the limit of one packet.
  func takeReportBlocks(into blocks: inout [ReportBlock], at now: Instant) {
    for index in sources.indices where blocks.count < RTCPPacket.maximumCount {
      guard !sources[index].hasDeparted else { continue }
      if let block = sources[index].rtp.takeReportBlock(at: now) { blocks.append(block) }
    }
  }

  func takeNACK(from ssrc: UInt32, roundTrip: Interval?, at now: Instant) -> GenericNACK? {
    guard playing < sources.count else { return nil }
    return sources[playing].rtp.takeNACK(from: ssrc, roundTrip: roundTrip, at: now)
  }

  func postponeNACK(at now: Instant) {
    if playing < sources.count { sources[playing].rtp.postponeNACK(at: now) }
  }

  var nackDeadline: Instant? { playing < sources.count ? sources[playing].rtp.nackDeadline : nil }
}
