internal import CallCore
internal import Codecs
internal import RTP
internal import SDP
internal import VideoReceive

/// One received source whose packets are forwarded: its reception, and the requests for lost packets and for key frames.
final class ForwardingSource: ReceivedSource {
  /// What was negotiated for the sources of a section.
  struct Formats {
    let kind: MediaKind
    let fidelity: MediaFidelity
    /// The codecs and helpers by their payload types.
    var codecs: [UInt8: NegotiatedCodec] = [:]
    /// The payload types that are no helpers.
    var media: Set<UInt8> = []
    var nack: NACKGenerator.Settings?
    var request: VideoSource.KeyFrameRequest?
    var associations: [RetransmissionReceiver.Association] = []
    /// The identifier of audio levels; nil without them.
    var audioLevel: UInt8?
    /// Whether audio levels have the flag of voice activity.
    var hasVoiceFlag = true
  }

  let ssrc: UInt32
  private let transceiver: Transceiver.ID
  /// The encoding of a simulcast, by its place in the section.
  var encoding: Int
  /// The rates of the temporal layers.
  private var rates = [ReceivedRate()]
  /// The layer of the latest frame, which the later packets of an AV1 frame do not give.
  private var latestLayer: (timestamp: UInt32, layer: ForwardedLayer)?
  private var pictures = PictureIDUnwrapper()
  private var bases = Unwrapper<UInt8>()
  /// The number of the stream on its transceiver.
  private(set) var stream: Int
  private(set) var rtp: RTPReceiver
  private(set) var retransmission: RetransmissionReceiver
  /// The reception of the stream that retransmits; nil before its first packet.
  private(set) var repair: RTPReceiver?
  private(set) var nackCount: Int64 = 0
  private(set) var pliCount: Int64 = 0
  private(set) var firCount: Int64 = 0
  /// Whether it has sent a BYE, and nothing since.
  var hasDeparted = false
  private var formats: Formats
  private var nack: NACKGenerator?
  private var pendingNACKs: [UInt16] = []
  private var keyFrames = KeyFrameRequester()
  private var intraRequestNumber: UInt8 = 0
  private var unwrapper = SequenceUnwrapper()
  /// The numbers of the last packets, each at its remainder, to forward every one once.
  private var taken: [Int64] = Array(repeating: .min, count: memory)

  /// How far back a late packet may lie: more than any request for it looks back.
  private static let memory = 1_024

  init(_ ssrc: UInt32, of transceiver: Transceiver.ID, encoding: Int, stream: Int, formats: Formats) {
    self.ssrc = ssrc
    self.transceiver = transceiver
    self.encoding = encoding
    self.stream = stream
    self.formats = formats
    retransmission = RetransmissionReceiver(originalSSRC: ssrc, associations: formats.associations)
    let clockRate: UInt32 = formats.kind == .audio ? UInt32(audioSampleRate) : 90_000
    rtp = RTPReceiver(ssrc: ssrc, settings: RTPReceiver.Settings(clockRate: clockRate))
    nack = formats.nack.map { NACKGenerator(settings: $0) }
  }

  func accept(_ formats: Formats) {
    if (formats.nack == nil) != (nack == nil) { nack = formats.nack.map { NACKGenerator(settings: $0) } }
    self.formats = formats
    retransmission.associations = formats.associations
  }

  var lastArrival: Instant { rtp.inbound.lastPacketReceivedTimestamp ?? .zero }

  // MARK: Packets

  /// What became of a packet.
  struct Reception {
    /// Whether it shows that the source is active.
    var isNews: Bool
    /// What to forward; nil for a repeated packet, and for one without media.
    var packet: ForwardedPacket?
  }

  /// - Parameter next: returns the number of a stream whose numbers begin anew.
  func receive(
    _ packet: RTPPacket, as codec: NegotiatedCodec, in datagram: RawSpan, ecn: ECN, at now: Instant, next: () -> Int
  ) -> Reception {
    rtp.setClockRate(codec.clockRate)
    let isTimed = !codec.isNamed("telephone-event")
    if formats.media.contains(codec.payloadType) { rtp.mediaPayloadType = codec.payloadType }
    let verdict = rtp.receive(packet, isTimed: isTimed, ecn: ecn, at: now)
    switch verdict {
    case .probation, .jumped: return Reception(isNews: false)
    case .restarted:
      stream = next()
      nack?.reset()
      unwrapper = SequenceUnwrapper()
      (pictures, bases, latestLayer) = (PictureIDUnwrapper(), Unwrapper(), nil)
      taken = Array(repeating: .min, count: Self.memory)
    case .advanced: hasDeparted = false
    case .old: break
    }
    let isNews = if case .advanced = verdict { true } else { false }
    return Reception(isNews: isNews, packet: take(packet, as: codec, in: datagram, at: now))
  }

  /// Takes a packet of the stream that retransmits. The loss that it repairs stays counted, as in libwebrtc.
  func receiveRetransmission(_ packet: RTPPacket, in datagram: RawSpan, at now: Instant) -> ForwardedPacket? {
    if repair?.ssrc != packet.header.ssrc { repair = RTPReceiver(ssrc: packet.header.ssrc, settings: rtp.settings) }
    _ = repair?.receive(packet, at: now)
    // Before the first packet of media, the place of the numbers is not known.
    guard unwrapper.last != nil, let original = retransmission.receive(packet, in: datagram),
      let codec = formats.codecs[original.header.payloadType]
    else { return nil }
    return take(original, as: codec, in: datagram, at: now)
  }

  private func take(
    _ packet: RTPPacket, as codec: NegotiatedCodec, in datagram: RawSpan, at now: Instant
  ) -> ForwardedPacket? {
    let header = packet.header
    let overflows = nack?.overflowCount ?? 0
    nack?.receive(sequenceNumber: header.sequenceNumber, at: now)
    if nack?.overflowCount ?? 0 > overflows { keyFrames.request(.nackOverflow, at: now) }
    let number = unwrapper.peek(header.sequenceNumber)
    if number > unwrapper.last ?? .min { _ = unwrapper.unwrap(header.sequenceNumber) }
    guard let last = unwrapper.last, last - number < Int64(Self.memory) else { return nil }
    let place = Int(((number % Int64(Self.memory)) + Int64(Self.memory)) % Int64(Self.memory))
    guard taken[place] != number else { return nil }
    taken[place] = number
    let payload = datagram.extracting(packet.payloadRange)
    let video = video(payload, codec)
    let layer = layer(video, of: payload, timestamp: header.timestamp)
    let rate = rate(RTPHeader.fixedSize + payload.byteCount + MediaTransport.lowerOverhead, layer.index, at: now)
    let isEntry = formats.kind == .audio || video.map(Self.isEntry) ?? false
    if isEntry { keyFrames.keyFrameArrived() }
    return ForwardedPacket(
      transceiver: transceiver, ssrc: ssrc, stream: stream, number: number, timestamp: header.timestamp,
      marker: header.marker, codec: codec, encoding: encoding, layer: layer, rate: rate, isEntry: isEntry,
      picture: video.flatMap { picture($0) }, audioLevel: audioLevel(in: packet, datagram), payload: payload.copied)
  }

  private func audioLevel(in packet: RTPPacket, _ datagram: RawSpan) -> AudioLevelIndication? {
    guard formats.kind == .audio, let id = formats.audioLevel,
      let (level, hasVoice) = packet.audioLevel(id: id, in: datagram)
    else { return nil }
    return AudioLevelIndication(level: level, hasVoice: formats.hasVoiceFlag ? hasVoice : nil)
  }

  private func video(_ payload: RawSpan, _ codec: NegotiatedCodec) -> VideoPayload? {
    guard formats.kind == .video, !payload.isEmpty,
      let video = VideoCodec(codec, fidelity: formats.fidelity)
    else { return nil }
    return VideoPayload(parsing: payload, format: video.format)
  }

  private static func isEntry(_ payload: VideoPayload) -> Bool {
    // The parameter sets of a key frame come before it.
    if case .h264(let content) = payload.descriptor { return content.hasSequenceParameterSet }
    return payload.isKeyFrame && payload.start != .no
  }

  private func layer(_ video: VideoPayload?, of payload: RawSpan, timestamp: UInt32) -> ForwardedLayer {
    if let latestLayer, latestLayer.timestamp == timestamp { return latestLayer.layer }
    let layer = video.flatMap { ForwardedLayer($0, of: payload) } ?? .base
    latestLayer = (timestamp, layer)
    return layer
  }

  /// Counts the bytes of a packet. Returns the rate of its layer and those below; nil if that of one is not known.
  private func rate(_ byteCount: Int, _ layer: Int, at now: Instant) -> DataRate? {
    while rates.count <= layer { rates.append(ReceivedRate()) }
    rates[layer].add(byteCount, at: now)
    return rates.indices.prefix(layer + 1).reduce(.zero) { sum, index in
      sum.flatMap { sum in rates[index].rate(at: now).map { sum + $0 } }
    }
  }

  private func picture(_ video: VideoPayload) -> ForwardedPicture? {
    switch video.descriptor {
    case .vp8(let descriptor):
      descriptor.pictureID.map { picture($0, base: descriptor.temporalLayerZeroIndex, .vp8) }
    case .generic(let descriptor):
      descriptor.pictureID.map { picture(.long($0), base: descriptor.layer?.baseIndex, .generic) }
    case .vp9, .h264, .av1: nil
    }
  }

  private func picture(_ id: PictureID, base: UInt8?, _ format: VideoFormat) -> ForwardedPicture {
    ForwardedPicture(id: pictures.unwrap(id), base: base.map { bases.unwrap($0) } ?? 0, format: format)
  }

  // MARK: RTCP

  /// Asks the sender for a key frame, for one who forwards this source or for the pictures here.
  func requestKeyFrame(at now: Instant) {
    if formats.request != nil { keyFrames.request(.receiver, at: now) }
  }

  func receive(_ report: SenderReport, at now: Instant) { rtp.receive(report, at: now) }

  func takeReportBlock(at now: Instant) -> ReportBlock? { rtp.takeReportBlock(at: now) }

  /// Returns the block about the stream that retransmits: it is a source like others (RFC 4588 section 9).
  func takeRepairReportBlock(at now: Instant) -> ReportBlock? { repair?.takeReportBlock(at: now) }

  /// Returns a NACK or a request for a key frame that is due.
  func takeFeedback(from reporter: UInt32, roundTrip: Interval?, at now: Instant) -> RTCPPacket? {
    if let roundTrip {
      nack?.roundTrip = roundTrip
      keyFrames.roundTrip = roundTrip
    }
    if pendingNACKs.isEmpty, let deadline = nack?.deadline, now >= deadline {
      nack?.takeDue(at: now, into: &pendingNACKs)
    }
    if !pendingNACKs.isEmpty {
      let numbers = Array(pendingNACKs.prefix(NACKGenerator.Settings.maximumPerPacket))
      pendingNACKs.removeFirst(numbers.count)
      nackCount += 1
      return .genericNACK(GenericNACK(senderSSRC: reporter, mediaSSRC: ssrc, sequenceNumbers: numbers))
    }
    guard keyFrames.take(at: now) != nil, let request = formats.request else { return nil }
    switch request {
    case .pictureLossIndication:
      pliCount += 1
      return .pictureLossIndication(PictureLossIndication(senderSSRC: reporter, mediaSSRC: ssrc))
    case .fullIntraRequest:
      firCount += 1
      intraRequestNumber &+= 1
      return .fullIntraRequest(
        FullIntraRequest(senderSSRC: reporter, entries: [.init(ssrc: ssrc, sequenceNumber: intraRequestNumber)]))
    }
  }

  func postponeFeedback(at now: Instant) {
    nack?.postponeDue(at: now)
    pendingNACKs = []
    keyFrames.postpone(at: now)
  }

  /// The time of the next request.
  var deadline: Instant? {
    if !pendingNACKs.isEmpty { return .zero }
    guard let request = keyFrames.deadline else { return nack?.deadline }
    return nack?.deadline.map { min($0, request) } ?? request
  }
}
