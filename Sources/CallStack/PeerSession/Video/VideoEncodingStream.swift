internal import CallCore
internal import Codecs
internal import CongestionControl
internal import Pictures
internal import RTP
internal import SDP

/// One encoding of a video track: encodes pictures, and turns their frames into RTP packets.
final class VideoEncodingStream: RetransmittingStream {
  private(set) var rtp: RTPSender
  /// The retransmission stream (RFC 4588); nil when lost packets are sent again on the stream itself.
  private var retransmission: RetransmissionSender?
  let retransmissionSSRC: UInt32?
  /// Forward error correction; nil while none is negotiated.
  private var repair: VideoRepairSender?
  /// The stream of FlexFEC, which keeps its numbers when it is no longer negotiated.
  private var flexFEC: FlexFECSender?
  let repairSSRC: UInt32?
  let rid: String?
  private(set) var settings: VideoEncoderSettings
  private(set) var adaptation: VideoAdaptation
  /// The capture time from which the next picture is encoded, when fewer are sent than captured.
  private var nextCapture: Instant?
  private var encoder: VideoEncoder?
  private var videoCodec: VideoCodec
  /// The negotiated name: all codecs are one where media are modelled.
  private var codecName: String
  private let random: RandomSource
  private let name: String
  private var packetizer = VideoPacketizer()
  private var descriptors: VideoDescriptors
  private(set) var counters = VideoSendCounters()
  /// The rate for media with all headers; zero while the encoding is paused.
  private(set) var rate = DataRate.zero
  /// The most that the encoder may use.
  private var maximum = DataRate.zero
  /// The share of it for retransmissions.
  private var repairShare = 0.0
  /// The loss and the round trip of the path.
  private var path: (loss: Double, roundTrip: Interval) = (0, .zero)
  private var isKeyFrameRequested = false
  private var lastKeyFrame: Instant?
  private var lastCapture: (mediaTime: UInt32, captured: Instant)?
  private var meanFrameSize = 0.0
  /// The number of the last full intra request.
  private var lastIntraRequest: UInt8?
  private var extensions = StreamExtensions()
  private let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)

  /// The maximum size of a packet before protection, as in libwebrtc.
  private static let maximumPacket = 1_200
  /// The minimum time between key frames that are requested, as in libwebrtc.
  private static let keyFrameInterval = Interval.milliseconds(300)

  init(
    _ encoding: Transceiver.Encoding, rid: String?, codec: NegotiatedCodec, video: VideoCodec,
    settings: VideoEncoderSettings, content: VideoSettings.Content, random: RandomSource, name: String
  ) {
    adaptation = VideoAdaptation(size: settings.size, frameRate: settings.frameRate, content: content)
    self.rid = rid
    self.settings = settings
    videoCodec = video
    codecName = codec.name
    var sending = RTPSender.Settings(payloadType: codec.payloadType, clockRate: codec.clockRate)
    sending.keepsHistory = codec.feedback.contains(.nack)
    sending.retransmissionQueueLimit = 1_000
    rtp = RTPSender(ssrc: encoding.ssrc, settings: sending, random: random.stream("\(name)/rtp"))
    retransmissionSSRC = encoding.retransmissionSSRC
    if let payloadType = codec.retransmissionPayloadType, let ssrc = encoding.retransmissionSSRC {
      retransmission = RetransmissionSender(
        ssrc: ssrc, payloadType: payloadType, random: random.stream("\(name)/rtx"))
    }
    repairSSRC = encoding.repairSSRC
    sources = [encoding.ssrc] + [encoding.retransmissionSSRC, encoding.repairSSRC].compactMap { $0 }
    self.random = random
    self.name = name
    var numbers = random.stream("\(name)/descriptors")
    descriptors = VideoDescriptors(random: &numbers)
  }

  deinit { scratch.deallocate() }

  // MARK: Settings

  /// Applies the result of a later negotiation. Another codec begins with a key frame.
  func update(_ codec: NegotiatedCodec, video: VideoCodec) {
    rtp.setPayloadType(codec.payloadType)
    rtp.setKeepsHistory(codec.feedback.contains(.nack))
    if let own = codec.retransmissionPayloadType { retransmission?.associate(own, with: codec.payloadType) }
    guard codec.name != codecName else { return }
    codecName = codec.name
    videoCodec = video
    encoder = nil
    lastKeyFrame = nil
  }

  func setExtensions(_ negotiated: MediaExtensions, isNumbered: Bool, naming mid: String?) {
    extensions.set(negotiated, isNumbered: isNumbered, mid: mid, rid: rid)
    repair?.setUnprotected(negotiated.transportNumber.map { [$0] } ?? [])
  }

  /// Sets the scheme of forward error correction; call ``setExtensions(_:isNumbered:naming:)`` after it.
  ///
  /// - Parameter redRetransmission: the payload type of retransmissions of RED.
  func setRepair(_ scheme: VideoRepairSender.Scheme?, redRetransmission: UInt8?) {
    if case .ulpfec(_, let red)? = scheme, let redRetransmission {
      retransmission?.associate(redRetransmission, with: red)
    }
    guard scheme != repair?.scheme else { return }
    repair = nil
    if case .flexFEC(let payloadType)? = scheme {
      guard let repairSSRC else { return }
      let made = FlexFECSender(
        ssrc: repairSSRC, mediaSSRC: ssrc, payloadType: payloadType, format: .flexFECDraft,
        random: random.stream("\(name)/fec"))
      flexFEC = flexFEC ?? made
      flexFEC?.setPayloadType(payloadType)
    }
    repair = scheme.map { VideoRepairSender($0) }
  }

  /// Sets the rate with all headers; zero pauses the encoding.
  ///
  /// - Parameters:
  ///   - maximum: the most that the encoder may use of it: what is beyond is room for repair.
  ///   - repairShare: the share of it for retransmissions.
  func setRate(_ rate: DataRate, maximum: DataRate, repairShare: Double, path: TargetRate, at now: Instant) {
    if self.rate == .zero, rate > .zero, rtp.outbound.packetsSent > 0 { requestKeyFrame() }
    self.rate = rate
    self.maximum = maximum
    self.repairShare = repairShare
    self.path = (path.lossRatio, path.roundTrip)
    applyRate(at: now)
  }

  /// Decides the protection, and gives the encoder what it and retransmissions leave.
  private func applyRate(at now: Instant) {
    var share = repairShare
    if let repair {
      var conditions = ProtectionRule.Conditions()
      (conditions.loss, conditions.roundTrip) = (path.loss, path.roundTrip)
      (conditions.bitrate, conditions.frameRate) = (rate, Double(settings.frameRate))
      (conditions.width, conditions.height) = (settings.size.width, settings.size.height)
      conditions.temporalLayers = settings.temporalLayers
      repair.decide(conditions, at: now)
      if rate > .zero { share += Double(repair.rate(at: now).bitsPerSecond) / Double(rate.bitsPerSecond) }
      share = min(share, BandwidthControl.largestRepairShare)
    }
    settings.bitrate = max(min(mediaRate(repairShare: share), maximum), .kilobitsPerSecond(5))
    adapt()
  }

  /// Sets the full size and frame rate.
  func setSize(_ size: PictureSize, frameRate: Int) {
    adaptation.size = size
    adaptation.frameRate = frameRate
    adapt()
  }

  private func adapt() {
    if rate > .zero { adaptation.adapt(to: settings.bitrate) }
    settings.size = adaptation.currentSize
    settings.frameRate = adaptation.currentFrameRate
  }

  /// Returns whether a picture is encoded: those between the times of a lower frame rate are left out.
  private func isWanted(_ captured: Instant) -> Bool {
    let interval = Interval(nanoseconds: 1_000_000_000 / Int64(settings.frameRate))
    guard let next = nextCapture, captured < next + interval * 4 else {
      nextCapture = captured + interval
      return true
    }
    // Half of the shortest interval of capture is tolerance.
    guard captured >= next - .milliseconds(4) else { return false }
    nextCapture = next + interval
    return true
  }

  /// The rate that is left for the encoder: each packet has headers, and a tag.
  ///
  /// - Parameter repairShare: the share for retransmissions and forward error correction.
  private func mediaRate(repairShare: Double) -> DataRate {
    let frames = Double(settings.frameRate)
    let payload = Double(Self.maximumPacket - headerSize)
    let packets = max(frames, (Double(rate.bitsPerSecond) / 8 / payload).rounded(.up))
    let overhead = packets * Double(headerSize + MediaTransport.lowerOverhead) * 8
    return .bitsPerSecond(Int64(max(0, (Double(rate.bitsPerSecond) - overhead) * (1 - repairShare)).rounded()))
  }

  /// The rate of the encoder; zero while the encoding is paused.
  var targetRate: DataRate { rate > .zero ? settings.bitrate : rate }

  private var headerSize: Int { RTPHeader.fixedSize + extensions.original.encodedSize }

  /// The bytes before the payload, in a packet or in its retransmission, whichever has more.
  private var overhead: Int {
    guard retransmission != nil else { return headerSize }
    return max(headerSize, RTPHeader.fixedSize + extensions.repair.encodedSize) + RTPPacket.originalNumberSize
  }

  var ssrc: UInt32 { rtp.ssrc }
  var hasSent: Bool { rtp.outbound.packetsSent > 0 }
  /// The last picture that was encoded.
  var sentPicture: SentPicture? {
    lastCapture.map {
      SentPicture(ssrc: ssrc, timestamp: rtp.timestamp(of: $0.mediaTime), captured: $0.captured)
    }
  }
  /// The SSRCs that the remote side may know.
  let sources: [UInt32]

  func owns(_ ssrc: UInt32) -> Bool { sources.contains(ssrc) }
  var roundTrip: Interval? { rtp.remoteInbound.roundTripTime }

  // MARK: Frames

  func requestKeyFrame() { isKeyFrameRequested = true }

  /// Encodes a picture and hands its packets to the pacer.
  func encode(_ input: inout VideoInput, into pacer: inout Pacer, at now: Instant) {
    guard rate > .zero, isWanted(input.captured) else { return }
    if repair?.isDue(at: now) ?? false { applyRate(at: now) }
    let isDue = lastKeyFrame.map { now - $0 >= Self.keyFrameInterval } ?? true
    let forces = isKeyFrameRequested && isDue
    // A frame that the encoder drops or cannot code is not sent; the next one may be.
    guard let frame = try? encodeFrame(&input, forcingKeyFrame: forces) else { return }
    count(frame, at: now)
    if frame.isKeyFrame {
      isKeyFrameRequested = false
      lastKeyFrame = now
    }
    send(frame, captured: input.captured, into: &pacer, at: now)
  }

  private func encodeFrame(
    _ input: inout VideoInput, forcingKeyFrame: Bool
  ) throws(VideoCodecError) -> EncodedVideoFrame? {
    if let encoder {
      try encoder.update(settings)
    } else {
      encoder = try VideoEncoder(videoCodec, settings: settings, random: random.stream("\(name)/encoder"))
    }
    guard let encoder else { return nil }
    guard encoder.needsPictures else {
      return try encoder.encode(
        contentID: input.contentID, isBlack: input.isBlack, at: input.captured, forcingKeyFrame: forcingKeyFrame)
    }
    return try encoder.encode(input.picture(settings.size), forcingKeyFrame: forcingKeyFrame)
  }

  private func count(_ frame: EncodedVideoFrame, at now: Instant) {
    counters.framesEncoded += 1
    if frame.isKeyFrame { counters.keyFramesEncoded += 1 }
    if let quantizer = frame.quantizer { counters.qpSum = (counters.qpSum ?? 0) + Int64(quantizer) }
    counters.size = frame.size
    counters.rate.count(at: now)
    let size = Double(frame.bytes.count)
    if meanFrameSize > 0, size > meanFrameSize * VideoSendCounters.hugeFactor { counters.hugeFramesSent += 1 }
    meanFrameSize += (size - meanFrameSize) / Double(min(counters.framesEncoded, 100))
  }

  private func send(_ frame: EncodedVideoFrame, captured: Instant, into pacer: inout Pacer, at now: Instant) {
    let mediaTime = UInt32(truncatingIfNeeded: captured.nanoseconds / 1_000 * 9 / 100)
    lastCapture = (mediaTime, captured)
    let room = Self.maximumPacket - overhead - (repair?.overhead(extensions: extensions.original.encodedSize) ?? 0)
    let bytes = frame.bytes.span.bytes
    let description = descriptors.describe(frame, codec: videoCodec, layers: settings.temporalLayers)
    guard packetizer.begin(bytes, as: description, limits: PayloadLimits(maximum: room)) != nil else { return }
    while true {
      var payload = OutputSpan<UInt8>(buffer: scratch, initializedCount: 0)
      let place = packetizer.next(of: bytes, into: &payload)
      let count = payload.finalize(for: scratch)
      guard let place else { break }
      let written = UnsafeRawBufferPointer(start: scratch.baseAddress, count: count)
      _ = pacer.enqueue(.video, at: now) { output in
        let write = { (output: inout OutputSpan<UInt8>) in
          self.rtp.packetize(
            payload: written.bytes, mediaTime: mediaTime, marker: place.isLast, extensions: self.extensions.original,
            into: &output)
        }
        let header =
          repair.map { repair in
            repair.add(isKeyFrame: frame.isKeyFrame, endsFrame: place.isLast, into: &output, write: write)
          } ?? write(&output)
        guard let header else { return nil }
        return OutgoingPacket(
          header: header, headerSize: headerSize, captured: captured,
          transportNumberOffset: extensions.originalNumberOffset)
      }
    }
    sendRepair(mediaTime: mediaTime, captured: captured, into: &pacer, at: now)
  }

  /// Hands the repair packets of a whole group to the pacer. Those of ULPFEC keep their place among the numbers of the
  /// stream; those of FlexFEC wait behind media.
  private func sendRepair(mediaTime: UInt32, captured: Instant, into pacer: inout Pacer, at now: Instant) {
    guard let repair else { return }
    while let payload = repair.next() {
      let priority: PacketPriority = if case .ulpfec = repair.scheme { .video } else { .repair }
      _ = pacer.enqueue(priority, at: now) { output in
        defer { repair.sent(byteCount: output.count, at: now) }
        switch repair.scheme {
        case .ulpfec(let payloadType, let red):
          return writeULPFEC(
            payload, payloadType: payloadType, red: red, mediaTime: mediaTime, captured: captured, into: &output)
        case .flexFEC:
          var packet = flexFEC?.packetize(payload, extensions: extensions.repair, into: &output, at: now)
          packet?.transportNumberOffset = extensions.repairNumberOffset
          return packet
        }
      }
    }
  }

  private func writeULPFEC(
    _ repair: RepairPayload, payloadType: UInt8, red: UInt8, mediaTime: UInt32, captured: Instant,
    into output: inout OutputSpan<UInt8>
  ) -> OutgoingPacket? {
    var payload = OutputSpan<UInt8>(buffer: scratch, initializedCount: 0)
    let isWritten = REDEncapsulation.write(repair, payloadType: payloadType, into: &payload)
    let bytes = UnsafeRawBufferPointer(start: scratch.baseAddress, count: payload.finalize(for: scratch)).bytes
    guard isWritten else { return nil }
    let header = rtp.packetize(
      payload: bytes, mediaTime: mediaTime, payloadType: red, extensions: extensions.original, into: &output)
    guard let header else { return nil }
    return OutgoingPacket(
      header: header, headerSize: headerSize, isRepair: true, captured: captured,
      transportNumberOffset: extensions.originalNumberOffset)
  }

  // MARK: Packets

  var isAskedAgain: Bool { rtp.isAskedAgain }

  func refuseRetransmission() { rtp.refuseRetransmission() }

  func takeRetransmission(into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    guard retransmission != nil else { return rtp.takeRetransmission(into: &output, at: now) }
    var packet = rtp.takeRetransmission(on: &retransmission!, extensions: extensions.repair, into: &output, at: now)
    packet?.transportNumberOffset = extensions.repairNumberOffset
    return packet
  }

  /// Writes a packet of padding; nil without a retransmission stream, and before the first packet.
  func pad(_ count: Int, into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    guard hasSent, let lastCapture, retransmission != nil else { return nil }
    var packet = retransmission!.pad(
      count, timestamp: rtp.timestamp(of: lastCapture.mediaTime), captured: lastCapture.captured,
      extensions: extensions.repair, into: &output)
    packet?.transportNumberOffset = extensions.repairNumberOffset
    return packet
  }

  func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) {
    // W3C counts for each source, and has no entry for FlexFEC's.
    guard packet.header.ssrc != repairSSRC else { return }
    rtp.departed(packet, bytes, at: now)
    if packet.header.marker, !packet.isRetransmission { counters.framesSent += 1 }
  }

  func dropped(_ packet: OutgoingPacket) { rtp.dropped(packet) }

  // MARK: Feedback

  func endReportInterval() { rtp.endReportInterval() }

  func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
    if block.ssrc == retransmissionSSRC || Defect.repairMIDEndsWithMedia.isPlanted { extensions.forgetRepairNames() }
    guard block.ssrc == rtp.ssrc else { return }
    rtp.receive(block, clock: clock, at: now)
    extensions.forgetNames()
  }

  func receive(_ nack: GenericNACK) { rtp.receive(nack) }

  func receive(_ indication: PictureLossIndication) {
    guard indication.mediaSSRC == rtp.ssrc else { return }
    counters.pliCount += 1
    requestKeyFrame()
  }

  /// Takes a full intra request. The same number again repeats a request that was obeyed (RFC 5104 section 4.3.1.2).
  func receive(_ request: FullIntraRequest) {
    for entry in request.entries where entry.ssrc == rtp.ssrc {
      counters.firCount += 1
      guard lastIntraRequest != entry.sequenceNumber else { continue }
      lastIntraRequest = entry.sequenceNumber
      requestKeyFrame()
    }
  }
}
