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
  /// What every source has sent, in order of appearance.
  private(set) var sources: [RTPReceiver] = []
  /// Who has said goodbye, and how many packets have come since that are not late.
  private var departed: [(ssrc: UInt32, news: Int)] = []
  private var playing = 0
  private(set) var jitterBuffer: AudioJitterBuffer
  private var payloadTypes: [Bool] = Array(repeating: false, count: 128)
  /// Whether the direction last agreed on receives.
  var isActive = false {
    didSet { if isActive, !oldValue { jitterBuffer.resume() } }
  }
  private let usesNACK: Bool

  /// Sources remembered; more are forgotten, the longest silent first.
  private static let sourceLimit = 4
  private static let takeoverSilence = Interval.milliseconds(500)
  /// A goodbye may overtake the last packets. So many after it mean that the source goes on, as libwebrtc's does after a
  /// hold.
  private static let packetsOfReturn = 3

  init(media: MediaFidelity, settings: AudioSettings, usesNACK: Bool) {
    self.usesNACK = usesNACK
    jitterBuffer = AudioJitterBuffer(decoder: Self.makeDecoder(media))
  }

  private static func makeDecoder(_ media: MediaFidelity) -> AudioDecoder {
    guard media == .real else { return .synthetic(SyntheticAudioDecoder()) }
    do throws(CodecError) {
      return .opus(try OpusDecoder(channels: 1))
    } catch {
      preconditionFailure("libopus refused a mono decoder: \(error)")
    }
  }

  /// Accepts these payload types from now on, besides those of before: packets sent under an earlier negotiation may
  /// still be on their way, and a number keeps its meaning (RFC 3264 section 8.3.2).
  func accept(_ codecs: [NegotiatedCodec]) {
    for codec in codecs { payloadTypes[Int(codec.payloadType)] = true }
  }

  var playingSource: UInt32? { playing < sources.count ? sources[playing].ssrc : nil }

  /// Whether every source has said goodbye, and nothing new has come since.
  var isOver: Bool { !sources.isEmpty && sources.allSatisfy { hasDeparted($0.ssrc) } }

  private func hasDeparted(_ ssrc: UInt32) -> Bool { departed.contains { $0.ssrc == ssrc } }

  /// - Returns: whether its source is there and goes on, which a late packet does not show; nil when its payload type was
  ///   not negotiated.
  func receive(_ packet: RTPPacket, in datagram: RawSpan, ecn: ECN, at now: Instant) -> Bool? {
    guard isActive, payloadTypes[Int(packet.header.payloadType)] else { return nil }
    let index = index(of: packet.header.ssrc, at: now)
    let verdict = sources[index].receive(packet, ecn: ecn, at: now)
    switch verdict {
    case .rejected, .probation: break
    case .advanced, .old, .restarted:
      if index == playing, !packet.payloadRange.isEmpty {
        jitterBuffer.insert(packet.header, payload: datagram.extracting(packet.payloadRange), at: now)
      }
    }
    guard case .advanced = verdict else { return false }
    noteNews(of: packet.header.ssrc)
    return !hasDeparted(packet.header.ssrc)
  }

  private func noteNews(of ssrc: UInt32) {
    guard let index = departed.firstIndex(where: { $0.ssrc == ssrc }) else { return }
    departed[index].news += 1
    if departed[index].news == Self.packetsOfReturn { departed.remove(at: index) }
  }

  private func index(of ssrc: UInt32, at now: Instant) -> Int {
    if playing < sources.count, sources[playing].ssrc == ssrc { return playing }
    guard let known = sources.firstIndex(where: { $0.ssrc == ssrc }) else { return add(ssrc) }
    let last = sources[playing].inbound.lastPacketReceivedTimestamp
    if last.map({ now - $0 >= Self.takeoverSilence }) ?? true { playing = known }
    return known
  }

  private func add(_ ssrc: UInt32) -> Int {
    if sources.count == Self.sourceLimit, let oldest = sources.indices.min(by: { isOlder($0, than: $1) }) {
      departed.removeAll { $0.ssrc == sources[oldest].ssrc }
      sources.remove(at: oldest)
    }
    var settings = RTPReceiver.Settings(clockRate: 48_000)
    if usesNACK { settings.nack = NACKGenerator.Settings() }
    sources.append(RTPReceiver(ssrc: ssrc, settings: settings))
    playing = sources.count - 1
    return playing
  }

  private func isOlder(_ a: Int, than b: Int) -> Bool {
    (sources[a].inbound.lastPacketReceivedTimestamp ?? .zero)
      < (sources[b].inbound.lastPacketReceivedTimestamp ?? .zero)
  }

  func play(_ count: Int, into output: inout OutputSpan<Int16>, at now: Instant) -> AudioLevel? {
    guard isActive, !sources.isEmpty else { return nil }
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
    sources[index].receive(report, at: now)
  }

  /// - Returns: whether it was the source that plays.
  func depart(_ ssrc: UInt32) -> Bool {
    guard let index = sources.firstIndex(where: { $0.ssrc == ssrc }) else { return false }
    departed.removeAll { $0.ssrc == ssrc }
    departed.append((ssrc, news: 0))
    return index == playing
  }

  /// Appends a block for each source that is there, up to a packet's worth.
  func takeReportBlocks(into blocks: inout [ReportBlock], at now: Instant) {
    for index in sources.indices where blocks.count < RTCPPacket.maximumCount {
      guard !hasDeparted(sources[index].ssrc) else { continue }
      if let block = sources[index].takeReportBlock(at: now) { blocks.append(block) }
    }
  }

  func takeNACK(from ssrc: UInt32, roundTrip: Interval?, at now: Instant) -> GenericNACK? {
    guard usesNACK, playing < sources.count else { return nil }
    return sources[playing].takeNACK(from: ssrc, roundTrip: roundTrip, at: now)
  }

  var nackDeadline: Instant? { usesNACK && playing < sources.count ? sources[playing].nackDeadline : nil }
}
