internal import CallCore
internal import Codecs
internal import RTP
internal import SDP
internal import VideoReceive

/// Receives the video of one media section. Each source, and so each encoding of a simulcast, is decoded and shown by
/// itself.
final class VideoReceiveStream: SectionSources {
  private let fidelity: MediaFidelity
  /// The known sources, in order of appearance.
  var sources: [VideoSource] = []
  /// Whether the negotiated direction receives.
  var isActive = false
  private var isNegotiated: [Bool] = Array(repeating: false, count: 128)
  private var formats = VideoSource.Formats()
  /// The minimum time for which pictures wait, for lip-sync.
  var minimumDelay = Interval.zero {
    didSet { for source in sources { source.setMinimumDelay(minimumDelay) } }
  }
  /// The sources in the remote description.
  private var named: [MediaSource] = []

  init(fidelity: MediaFidelity) { self.fidelity = fidelity }

  /// Accepts these payload types in addition to earlier ones: packets sent under an earlier negotiation may still
  /// arrive, and a payload type keeps its meaning (RFC 3264 section 8.3.2).
  func accept(_ negotiated: [NegotiatedCodec], of media: NegotiatedMedia) {
    for codec in negotiated {
      guard let video = VideoCodec(codec, fidelity: fidelity) else { continue }
      let entry = VideoReceiver.Codec(payloadType: codec.payloadType, format: video.format)
      isNegotiated[Int(codec.payloadType)] = true
      if !formats.codecs.contains(entry) { formats.codecs.append(entry) }
      if let own = codec.retransmissionPayloadType { associate(own, with: codec.payloadType) }
    }
    let repair = RepairFormats(media.receiveHelpers)
    formats.repair.add(repair)
    if let red = repair.red {
      isNegotiated[Int(red)] = true
      if let own = repair.redRetransmission { associate(own, with: red) }
    }
    formats.transportNumber = media.extensionID(MediaExtensions.transportNumberURI, sending: false)
    if !media.remoteSources.isEmpty { named = media.remoteSources }
    guard let first = negotiated.first else { return }
    formats.nack = first.feedback.contains(.nack) ? .video : nil
    formats.request =
      first.feedback.contains(.pictureLoss)
      ? .pictureLossIndication : first.feedback.contains(.fullIntraRequest) ? .fullIntraRequest : nil
    for source in sources { source.accept(formats) }
  }

  private func associate(_ payloadType: UInt8, with original: UInt8) {
    guard !formats.associations.contains(where: { $0.payloadType == payloadType }) else { return }
    formats.associations.append(.init(payloadType: payloadType, original: original))
  }

  // MARK: Packets

  /// What became of a packet.
  enum Reception {
    /// - Parameter isNews: Whether the packet shows that its source is active.
    case taken(isNews: Bool)
    case unknownPayloadType
    /// It repairs a source that is not known.
    case unknownSource
  }

  func receive(
    _ packet: RTPPacket, on route: RTPRouter.Route, in datagram: RawSpan, ecn: ECN, at now: Instant
  ) -> Reception {
    switch route.role {
    case .media:
      guard isNegotiated[Int(packet.header.payloadType)] else { return .unknownPayloadType }
      let source = source(packet.header.ssrc, encoding: route.encoding, at: now)
      return .taken(isNews: source.receive(packet, in: datagram, ecn: ecn, at: now))
    case .retransmission:
      guard formats.associations.contains(where: { $0.payloadType == packet.header.payloadType }) else {
        return .unknownPayloadType
      }
      guard let source = source(repairedBy: packet.header.ssrc, encoding: route.encoding, at: now) else {
        return .unknownSource
      }
      source.receiveRetransmission(packet, in: datagram, at: now)
      return .taken(isNews: false)
    case .repair:
      guard packet.header.payloadType == formats.repair.flexFEC else { return .unknownPayloadType }
      guard let source = source(repairedBy: packet.header.ssrc, encoding: route.encoding, at: now) else {
        return .unknownSource
      }
      source.receiveRepair(packet, in: datagram, at: now)
      return .taken(isNews: false)
    }
  }

  /// Calls `body` with the size of each packet that was recovered since.
  func takeRecovered(_ body: (VideoSource, Int) -> Void) {
    for source in sources { while let byteCount = source.nextRecovered() { body(source, byteCount) } }
  }

  /// Returns the source whose packets another source sends again or corrects: the one named in signalling, which may not have sent
  /// anything itself yet, or the one of the same encoding.
  private func source(repairedBy ssrc: UInt32, encoding: Int, at now: Instant) -> VideoSource? {
    if let name = named.first(where: { [$0.retransmission, $0.repair].contains(ssrc) })?.ssrc {
      return source(name, encoding: encoding, at: now)
    }
    return sources.last { $0.encoding == encoding }
  }

  private func source(_ ssrc: UInt32, encoding: Int, at now: Instant) -> VideoSource {
    if let known = sources.first(where: { $0.ssrc == ssrc }) { return known }
    let made = VideoSource(ssrc, encoding: encoding, formats: formats, at: now)
    made.setMinimumDelay(minimumDelay)
    adopt(made)
    return made
  }

  /// The source whose packets came last.
  var newestSource: VideoSource? { sources.max { $0.lastArrival < $1.lastArrival } }

  /// Removes a source that belongs to another channel.
  func release(_ ssrc: UInt32) -> VideoSource? {
    guard let index = sources.firstIndex(where: { $0.ssrc == ssrc }) else { return nil }
    return sources.remove(at: index)
  }

  /// Decodes and shows the pictures that are due.
  func advance(to now: Instant, show: (VideoSource, RenderedVideoFrame) -> Void) {
    guard isActive else { return }
    for source in sources { source.advance(to: now) { show(source, $0) } }
  }
}
