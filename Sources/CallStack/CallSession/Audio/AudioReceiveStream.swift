internal import CallCore
internal import Codecs
internal import JitterBuffer
internal import RTP
internal import SDP

/// From the RTP packets of one media section to playout.
///
/// One source plays. A new one takes over at once, as when the far side changed its SSRC; one heard before, whose last
/// packets may only be late, takes over when the playing one has fallen silent.
final class AudioReceiveStream {
  /// What one SSRC has sent, and what became of it.
  struct Source {
    var rtp: RTPReceiver
    /// What was counted when it last played; nil for one that never has, and out of date for the one that plays.
    var playout: AudioJitterBufferStatistics?
    /// Packets that are not late, since it has said goodbye; nil while it has not.
    var sinceGoodbye: Int?

    var ssrc: UInt32 { rtp.ssrc }
    var hasDeparted: Bool { sinceGoodbye != nil }
  }

  /// In order of appearance.
  private(set) var sources: [Source] = []
  /// Its place among them; beyond the end when none plays.
  private var playing = 0
  private var jitterBuffer: AudioJitterBuffer
  private var payloadTypes: [Bool] = Array(repeating: false, count: 128)
  /// Whether the direction last agreed on receives.
  var isActive = false {
    didSet { if isActive, !oldValue { jitterBuffer.resume() } }
  }
  private var nack: NACKGenerator.Settings?
  /// The payload type that one of a retransmission stream stands for.
  private var retransmitted: [UInt8: UInt8] = [:]
  /// The sources that signalling named.
  private var named: [MediaSource] = []

  /// Sources remembered; more are forgotten, the longest silent first.
  private static let sourceLimit = 4
  private static let takeoverSilence = Interval.milliseconds(500)
  /// A goodbye may overtake the last packets. So many after it mean that the source goes on, as libwebrtc's does after a
  /// hold.
  private static let packetsOfReturn = 3

  init(fidelity: MediaFidelity) { jitterBuffer = AudioJitterBuffer(decoder: Self.makeDecoder(fidelity)) }

  private static func makeDecoder(_ fidelity: MediaFidelity) -> AudioDecoder {
    guard fidelity == .real else { return .synthetic(SyntheticAudioDecoder()) }
    do throws(CodecError) {
      return .opus(try OpusDecoder(channels: 1))
    } catch {
      preconditionFailure("libopus refused a mono decoder: \(error)")
    }
  }

  /// Accepts these payload types from now on, besides those of before: packets sent under an earlier negotiation may
  /// still be on their way, and a number keeps its meaning (RFC 3264 section 8.3.2).
  ///
  /// - Parameter sources: those the far side named, with those that retransmit them.
  func accept(_ codecs: [NegotiatedCodec], retransmissions sources: [MediaSource]) {
    for codec in codecs {
      payloadTypes[Int(codec.payloadType)] = true
      if let own = codec.retransmissionPayloadType { retransmitted[own] = codec.payloadType }
    }
    if !sources.isEmpty { named = sources }
    guard let first = codecs.first else { return }
    nack = first.feedback.contains(.nack) ? NACKGenerator.Settings() : nil
    for index in self.sources.indices { self.sources[index].rtp.setNACK(nack) }
  }

  var playingSource: UInt32? { playing < sources.count ? sources[playing].ssrc : nil }

  /// Whether every source has said goodbye, and nothing new has come since.
  var isOver: Bool { !sources.isEmpty && sources.allSatisfy(\.hasDeparted) }

  /// What a source's playout has counted; nil when it never played.
  func playout(of source: Source) -> AudioJitterBufferStatistics? {
    source.ssrc == playingSource ? jitterBuffer.statistics : source.playout
  }

  // MARK: Packets

  /// The packet that one of a retransmission stream brings back; nil when that is none, or nobody knows whose.
  func original(of packet: RTPPacket, in datagram: RawSpan) -> RTPPacket? {
    let source = named.first { $0.retransmission == packet.header.ssrc }?.ssrc ?? playingSource
    guard let source, let payloadType = retransmitted[packet.header.payloadType] else { return nil }
    return packet.retransmitted(ssrc: source, payloadType: payloadType, in: datagram)
  }

  /// - Returns: whether its source is there and goes on, which a late packet does not show; nil when its payload type was
  ///   not negotiated.
  func receive(_ packet: RTPPacket, in datagram: RawSpan, ecn: ECN, at now: Instant) -> Bool? {
    guard isActive, payloadTypes[Int(packet.header.payloadType)] else { return nil }
    let index = index(of: packet.header.ssrc, at: now)
    let verdict = sources[index].rtp.receive(packet, ecn: ecn, at: now)
    if verdict != .probation, index == playing, !packet.payloadRange.isEmpty {
      jitterBuffer.insert(packet.header, payload: datagram.extracting(packet.payloadRange), at: now)
    }
    guard case .advanced = verdict else { return false }
    if let count = sources[index].sinceGoodbye {
      sources[index].sinceGoodbye = count + 1 < Self.packetsOfReturn ? count + 1 : nil
    }
    return !sources[index].hasDeparted
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

  /// Takes a source over, which plays from now on.
  @discardableResult
  func adopt(_ source: Source) -> Int {
    if sources.count == Self.sourceLimit, let oldest = sources.indices.min(by: { isOlder($0, than: $1) }) {
      remove(at: oldest)
    }
    sources.append(source)
    play(sources.count - 1)
    return playing
  }

  /// Gives up a source that turns out to belong elsewhere.
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

  /// Changes the source that plays; every one has counters of its own.
  private func play(_ index: Int) {
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
    return AudioLevel(linear: jitterBuffer.pull(samples: count, into: &output, at: now).level)
  }

  /// Where the first sample of the last pull was; nil when it was invented.
  var playedPosition: AudioPosition? {
    guard isActive, let ssrc = playingSource, let timestamp = jitterBuffer.playedTimestamp else { return nil }
    return AudioPosition(ssrc: ssrc, timestamp: timestamp)
  }

  // MARK: RTCP

  func receive(_ report: SenderReport, at now: Instant) {
    guard let index = sources.firstIndex(where: { $0.ssrc == report.ssrc }) else { return }
    sources[index].rtp.receive(report, at: now)
  }

  /// - Returns: whether it was the source that plays.
  func depart(_ ssrc: UInt32) -> Bool {
    guard let index = sources.firstIndex(where: { $0.ssrc == ssrc }) else { return false }
    sources[index].sinceGoodbye = 0
    return index == playing
  }

  /// Appends a block for each source that is there, up to a packet's worth.
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
