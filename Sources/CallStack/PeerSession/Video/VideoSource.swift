internal import CallCore
internal import Codecs
internal import Pictures
internal import RTP
internal import VideoReceive

/// One received source of video: its reception, frames, decoder, and the pictures that wait to be shown.
final class VideoSource: ReceivedSource {
  /// The way in which key frames are requested.
  enum KeyFrameRequest { case pictureLossIndication, fullIntraRequest }

  /// What was negotiated for the sources of a section.
  struct Formats {
    var codecs: [VideoReceiver.Codec] = []
    var nack: NACKGenerator.Settings?
    var request: KeyFrameRequest?
    /// The original payload types and those that retransmit them.
    var associations: [RetransmissionReceiver.Association] = []
    var repair = RepairFormats()
    /// The header extension of the transport-wide number, which repair packets do not protect.
    var transportNumber: UInt8?
  }

  let ssrc: UInt32
  /// The index of its encoding in the section.
  let encoding: Int
  private(set) var rtp: RTPReceiver
  private(set) var receiver: VideoReceiver
  private(set) var counters = VideoReceiveCounters()
  private(set) var retransmission: RetransmissionReceiver
  /// The reception of the stream that retransmits; nil before its first packet.
  private(set) var repair: RTPReceiver?
  /// Forward error correction; nil when none was negotiated.
  private(set) var correction: VideoRepairReceiver?
  /// The sizes of recovered packets that are not reported yet.
  private var recovered = FIFO<Int>()
  private var decoder: VideoDecoder?
  private var formats: Formats
  private var intraRequestNumber: UInt8 = 0
  /// Decoded pictures whose time has not come, in order.
  private var waiting = FIFO<RenderedVideoFrame>()
  /// The picture that was shown last, and when.
  private(set) var lastShown: (timestamp: UInt32, at: Instant)?
  /// Whether it has sent a BYE, and nothing since.
  var hasDeparted = false

  init(_ ssrc: UInt32, encoding: Int, formats: Formats, at now: Instant) {
    self.ssrc = ssrc
    retransmission = RetransmissionReceiver(originalSSRC: ssrc, associations: formats.associations)
    self.encoding = encoding
    self.formats = formats
    rtp = RTPReceiver(ssrc: ssrc, settings: RTPReceiver.Settings(clockRate: 90_000))
    var settings = VideoReceiver.Settings(codecs: formats.codecs)
    settings.nack = formats.nack
    settings.requestsKeyFrames = formats.request != nil
    receiver = VideoReceiver(settings: settings, at: now)
    prepareCorrection()
  }

  func accept(_ formats: Formats) {
    self.formats = formats
    retransmission.associations = formats.associations
    receiver.accept(formats.codecs, nack: formats.nack, requestsKeyFrames: formats.request != nil)
    prepareCorrection()
  }

  /// FlexFEC goes first where a section has both, as in libwebrtc.
  private func prepareCorrection() {
    let format: RepairFormat? =
      formats.repair.flexFEC != nil ? .flexFECDraft : formats.repair.ulpfec != nil ? .ulpfec : nil
    guard let format else { return }
    if correction?.format != format { correction = VideoRepairReceiver(format, ssrc: ssrc) }
    correction?.unprotectedExtensions = formats.transportNumber.map { [$0] } ?? []
  }

  var lastArrival: Instant { rtp.inbound.lastPacketReceivedTimestamp ?? .zero }

  // MARK: Packets

  /// - Returns: whether the packet shows that the source is active.
  func receive(_ packet: RTPPacket, in datagram: RawSpan, ecn: ECN, at now: Instant) -> Bool {
    let verdict = rtp.receive(packet, ecn: ecn, at: now)
    if verdict == .restarted { receiver.restart() }
    take(packet, in: datagram, at: now)
    guard case .advanced = verdict else { return false }
    hasDeparted = false
    return true
  }

  /// Takes a packet of the stream that retransmits. The loss that it repairs stays counted, as in libwebrtc.
  func receiveRetransmission(_ packet: RTPPacket, in datagram: RawSpan, at now: Instant) {
    if repair?.ssrc != packet.header.ssrc { repair = RTPReceiver(ssrc: packet.header.ssrc, settings: rtp.settings) }
    _ = repair?.receive(packet, at: now)
    guard let original = retransmission.receive(packet, in: datagram) else { return }
    guard original.header.payloadType == formats.repair.red else {
      receiver.receive(original, in: datagram, isRetransmission: true, at: now)
      return
    }
    guard let inner = original.insideRED(in: datagram) else { return }
    receiver.receive(inner, in: datagram, isRetransmission: true, at: now)
  }

  /// Takes a packet of the stream of FlexFEC.
  func receiveRepair(_ packet: RTPPacket, in datagram: RawSpan, at now: Instant) {
    correction?.receive(stream: packet, in: datagram, settings: rtp.settings, at: now)
    takeRecovered(at: now)
  }

  /// Takes what is inside RED, or a packet without it. What a retransmission brings is not given to the correction: its
  /// header extensions are others.
  private func take(_ packet: RTPPacket, in datagram: RawSpan, at now: Instant) {
    guard packet.header.payloadType == formats.repair.red, let inner = packet.insideRED(in: datagram) else {
      rtp.mediaPayloadType = packet.header.payloadType
      receiver.receive(packet, in: datagram, at: now)
      if correction?.format == .flexFECDraft {
        correction?.receive(media: packet, in: datagram)
        takeRecovered(at: now)
      }
      return
    }
    if inner.header.payloadType == formats.repair.ulpfec {
      receiver.receive(repair: inner.header, at: now)
      correction?.receive(repair: inner, in: datagram)
    } else {
      rtp.mediaPayloadType = inner.header.payloadType
      receiver.receive(inner, in: datagram, at: now)
      correction?.receive(media: packet, in: datagram)
    }
    takeRecovered(at: now)
  }

  /// Hands the recovered packets to the assembly of frames, so that they are not requested again. The loss stays counted,
  /// as with retransmissions.
  private func takeRecovered(at now: Instant) {
    while let bytes = correction?.next() {
      guard let packet = RTPPacket(parsing: bytes.span.bytes),
        receiver.receive(packet, in: bytes.span.bytes, at: now) == .inserted
      else { continue }
      recovered.append(bytes.count)
    }
  }

  /// Returns the size of the next recovered packet that is not reported yet.
  func nextRecovered() -> Int? { recovered.popFirst() }

  // MARK: Pictures

  func setMinimumDelay(_ delay: Interval) { receiver.setMinimumDelay(delay) }

  /// Decodes what is due, and passes the pictures whose time has come to `show`.
  func advance(to now: Instant, show: (RenderedVideoFrame) -> Void) {
    receiver.advance(to: now)
    while let picture = receiver.takePicture(at: now) { decode(picture, at: now) }
    while let next = waiting.first, next.rendered <= now {
      _ = waiting.popFirst()
      receiver.pictureRendered(at: next.rendered)
      lastShown = (next.timestamp, next.rendered)
      show(next)
    }
  }

  private func decode(_ picture: VideoReceiver.Picture, at now: Instant) {
    var decoded: DecodedVideoFrame?
    do throws(VideoCodecError) {
      for frame in picture.frames {
        let decoder = try decoder(of: frame)
        decoded = try decoder.decode(frame.data.span.bytes, at: now) ?? decoded
      }
    } catch {
      return receiver.decodingFailed(at: now)
    }
    receiver.pictureDecoded(in: .zero, at: now)
    guard let decoded, let first = picture.frames.first else { return }
    guard !decoded.isCorrupted else { return receiver.decodingFailed(at: now) }
    count(decoded, first, at: now)
    // Nobody keeps the frames of a modelled codec.
    let frames = decoded.picture == nil ? [] : picture.frames.map(\.data)
    waiting.append(
      RenderedVideoFrame(
        ssrc: ssrc, timestamp: first.timestamp, rendered: max(now, picture.renderTime), width: decoded.size.width,
        height: decoded.size.height, isKeyFrame: decoded.isKeyFrame, modelledID: decoded.contentID,
        picture: decoded.picture, coded: (VideoCodec(first.format), frames)))
  }

  private func decoder(of frame: EncodedFrame) throws(VideoCodecError) -> VideoDecoder {
    let codec = VideoCodec(frame.format)
    if let decoder, decoder.codec == codec { return decoder }
    let made = try VideoDecoder(codec)
    decoder = made
    return made
  }

  private func count(_ decoded: DecodedVideoFrame, _ frame: EncodedFrame, at now: Instant) {
    counters.framesDecoded += 1
    if decoded.isKeyFrame { counters.keyFramesDecoded += 1 }
    if frame.sequences.count > 1 { counters.framesAssembledFromMultiplePackets += 1 }
    if let quantizer = decoded.quantizer { counters.qpSum = (counters.qpSum ?? 0) + Int64(quantizer) }
    counters.size = decoded.size
    counters.rate.count(at: now)
    counters.jitterBufferDelay += (now - frame.firstArrival).seconds
    counters.jitterBufferEmittedCount += 1
    counters.totalProcessingDelay += (now - frame.firstArrival).seconds
  }

  // MARK: RTCP

  func receive(_ report: SenderReport, at now: Instant) { rtp.receive(report, at: now) }

  func takeReportBlock(at now: Instant) -> ReportBlock? { rtp.takeReportBlock(at: now) }

  /// Returns the block about the stream that retransmits: it is a source like others (RFC 4588 section 9).
  func takeRepairReportBlock(at now: Instant) -> ReportBlock? { repair?.takeReportBlock(at: now) }

  /// Returns a NACK or a request for a key frame that is due.
  func takeFeedback(from reporter: UInt32, roundTrip: Interval?, at now: Instant) -> RTCPPacket? {
    if let roundTrip { receiver.setRoundTrip(roundTrip) }
    if let numbers = receiver.takeNACK(at: now) {
      return .genericNACK(GenericNACK(senderSSRC: reporter, mediaSSRC: ssrc, sequenceNumbers: numbers))
    }
    guard receiver.takeKeyFrameRequest(at: now) != nil, let request = formats.request else { return nil }
    switch request {
    case .pictureLossIndication:
      counters.pliCount += 1
      return .pictureLossIndication(PictureLossIndication(senderSSRC: reporter, mediaSSRC: ssrc))
    case .fullIntraRequest:
      counters.firCount += 1
      intraRequestNumber &+= 1
      return .fullIntraRequest(
        FullIntraRequest(
          senderSSRC: reporter, entries: [.init(ssrc: ssrc, sequenceNumber: intraRequestNumber)]))
    }
  }

  func postponeFeedback(at now: Instant) { receiver.postponeRequests(at: now) }

  /// The time of the next picture or request.
  var deadline: Instant? {
    guard let shown = waiting.first?.rendered else { return receiver.deadline }
    return receiver.deadline.map { min($0, shown) } ?? shown
  }
}
