internal import CallCore
internal import RTP
internal import SDP
internal import VideoReceive

/// Receives the packets of one media section to forward them, and decodes none.
final class ForwardingReceiveStream: SectionSources {
  private let transceiver: Transceiver.ID
  /// The known sources, in order of appearance.
  var sources: [ForwardingSource] = []
  /// Whether the negotiated direction receives.
  var isActive = false
  private var formats: ForwardingSource.Formats
  /// The sources in the remote description.
  private var named: [MediaSource] = []
  private var streamCount = 0
  /// The packets that nobody has taken yet.
  private var received = FIFO<ForwardedPacket>()

  init(_ kind: MediaKind, of transceiver: Transceiver.ID, fidelity: MediaFidelity) {
    self.transceiver = transceiver
    formats = ForwardingSource.Formats(kind: kind, fidelity: fidelity)
  }

  /// Accepts these payload types in addition to earlier ones: packets sent under an earlier negotiation may still
  /// arrive, and a payload type keeps its meaning (RFC 3264 section 8.3.2).
  func accept(_ codecs: [NegotiatedCodec], of media: NegotiatedMedia) {
    for codec in codecs + media.receiveHelpers {
      formats.codecs[codec.payloadType] = codec
      if let own = codec.retransmissionPayloadType { associate(own, with: codec.payloadType) }
    }
    formats.media.formUnion(codecs.map(\.payloadType))
    if !media.remoteSources.isEmpty { named = media.remoteSources }
    formats.audioLevel = media.extensionID(MediaExtensions.audioLevelURI, sending: false)
    formats.hasVoiceFlag = media.indicatesVoice
    guard let first = codecs.first else { return }
    let settings: NACKGenerator.Settings = formats.kind == .video ? .video : NACKGenerator.Settings()
    formats.nack = first.feedback.contains(.nack) ? settings : nil
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

  func receive(
    _ packet: RTPPacket, on route: RTPRouter.Route, in datagram: RawSpan, ecn: ECN, at now: Instant
  ) -> VideoReceiveStream.Reception {
    switch route.role {
    case .media:
      guard let codec = formats.codecs[packet.header.payloadType] else { return .unknownPayloadType }
      let reception = source(packet.header.ssrc, route.encoding).receive(
        packet, as: codec, in: datagram, ecn: ecn, at: now
      ) {
        nextStream()
      }
      if let packet = reception.packet { received.append(packet) }
      return .taken(isNews: reception.isNews)
    case .retransmission:
      guard formats.associations.contains(where: { $0.payloadType == packet.header.payloadType }) else {
        return .unknownPayloadType
      }
      let original = named.first { $0.retransmission == packet.header.ssrc }?.ssrc
      guard
        let source = original.map({ source($0, route.encoding) })
          ?? sources.last(where: { $0.encoding == route.encoding })
      else { return .unknownSource }
      if let packet = source.receiveRetransmission(packet, in: datagram, at: now) { received.append(packet) }
      return .taken(isNews: false)
    case .repair: return .unknownPayloadType
    }
  }

  /// Returns the next packet to forward.
  func nextReceived() -> ForwardedPacket? { received.popFirst() }

  private func nextStream() -> Int {
    streamCount += 1
    return streamCount
  }

  private func source(_ ssrc: UInt32, _ encoding: Int) -> ForwardingSource {
    if let known = sources.first(where: { $0.ssrc == ssrc }) {
      known.encoding = encoding
      return known
    }
    let made = ForwardingSource(ssrc, of: transceiver, encoding: encoding, stream: nextStream(), formats: formats)
    adopt(made)
    return made
  }

  /// Asks the newest source of an encoding for a key frame: it is the one that is forwarded.
  func requestKeyFrame(of encoding: Int, at now: Instant) {
    sources.last { $0.encoding == encoding }?.requestKeyFrame(at: now)
  }
}
