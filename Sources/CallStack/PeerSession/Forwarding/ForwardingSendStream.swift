internal import CallCore
internal import Codecs
internal import CongestionControl
internal import RTP
internal import SDP

/// Sends packets that another connection received, as one stream of this one: with its SSRC, its payload types and its
/// extensions. Numbers and timestamps keep their distances, so that a gap stays a gap.
///
/// What is lost on this connection is sent again from here. Of a simulcast, and of temporal layers, that is sent which the
/// estimated bandwidth holds, and at least the base of the smallest encoding.
final class ForwardingSendStream: RetransmittingStream {
  /// The place of one received stream among the numbers and timestamps that are sent.
  private struct Mapping {
    let stream: Int
    let encoding: Int
    let source: UInt32
    /// The first number that is sent of it, and what it is sent as.
    let first: (number: Int64, sequence: UInt16)
    /// The timestamp of the first packet as it is sent.
    let start: UInt32
    /// What is added to its timestamps.
    let offset: UInt32
    /// What is added to its picture numbers, and to those of its base frames.
    let pictureOffset: Int64
    let baseOffset: Int64
    /// Its numbers of packets and of pictures without those of layers that are left out.
    var numbers = Renumbering()
    var pictures = Renumbering()
    var filter = LayerFilter()
    /// The highest number of a packet.
    var highest: Int64
  }

  private(set) var rtp: RTPSender
  /// The retransmission stream (RFC 4588); nil when lost packets are sent again on the stream itself.
  private var retransmission: RetransmissionSender?
  let retransmissionSSRC: UInt32?
  private let kind: MediaKind
  private(set) var pliCount: Int64 = 0
  private(set) var firCount: Int64 = 0
  private(set) var framesSent: Int64 = 0
  /// The packets in a format that the remote side does not take.
  private(set) var refusedCount = 0
  private var extensions = StreamExtensions()
  /// The negotiated codecs and helpers.
  private var formats: [NegotiatedCodec] = []
  /// The streams that were forwarded, the current one last.
  private var mappings: [Mapping] = []
  /// Whether the next packet begins a mapping, whatever its stream.
  private var beginsAnew = true
  /// The packets of a key frame whose first one has not come.
  private var waiting: [ForwardedPacket] = []
  /// The last packet: when it was taken, and its timestamp.
  private var last: (taken: Instant, timestamp: UInt32)?
  /// The highest picture number that was sent, and that of its base frame.
  private var lastPicture: (id: Int64, base: Int64)?
  /// The encodings of which a key frame is needed.
  private var neededKeyFrames: [Int] = []
  private var choice = EncodingChoice()
  /// Without a retransmission stream nothing can probe for room in a pause, so that there is none.
  var policy = ForwardingPolicy() { didSet { choice.pauses = policy.pauses && retransmission != nil } }
  /// When the last packet came, whether or not it was sent on.
  private var lastArrival: Instant?
  /// Whether the pause was told.
  private var isPauseTold = false
  /// The number of the track among those of the session.
  let number: Int
  /// Whether the remote side reports the arrival of each packet.
  private(set) var isNumbered = false
  private var lastRequest: Instant?
  private var lastIntraRequest: UInt8?
  /// Whether the negotiated direction sends.
  var isActive = false {
    didSet { if isActive, !oldValue { beginsAnew = true } }
  }

  /// The number of mappings kept to find the origin of what plays.
  private static let mappingLimit = 8
  private static let waitingLimit = 256
  /// libwebrtc's `kMaxPaddingLength`.
  private static let paddingSize = 224
  /// The time between requests for the key frame to begin with, as an encoder's between key frames.
  private static let requestInterval = Interval.milliseconds(300)

  init(_ kind: MediaKind, codec: NegotiatedCodec, track: LocalTrack, random: RandomSource) {
    self.kind = kind
    number = track.number
    let encoding = track.sender.encodings[0]
    var sending = RTPSender.Settings(payloadType: codec.payloadType, clockRate: codec.clockRate)
    sending.keepsHistory = codec.feedback.contains(.nack)
    sending.retransmissionQueueLimit = kind == .video ? 1_000 : 64
    rtp = RTPSender(ssrc: encoding.ssrc, settings: sending, random: random.stream("forwarding/\(track.number)/rtp"))
    retransmissionSSRC = encoding.retransmissionSSRC
    guard let payloadType = codec.retransmissionPayloadType, let ssrc = retransmissionSSRC else { return }
    retransmission = RetransmissionSender(
      ssrc: ssrc, payloadType: payloadType, random: random.stream("forwarding/\(track.number)/rtx"))
  }

  // MARK: Settings

  /// Applies the result of a negotiation.
  func update(_ media: NegotiatedMedia, extensions negotiated: MediaExtensions, naming mid: String?) {
    formats = media.sendCodecs + media.sendHelpers
    for codec in media.sendCodecs {
      if let own = codec.retransmissionPayloadType { retransmission?.associate(own, with: codec.payloadType) }
    }
    rtp.setKeepsHistory(media.sendCodecs.first?.feedback.contains(.nack) ?? false)
    isNumbered = kind == .video && media.sendCodecs.first?.feedback.contains(.transportCC) ?? false
    extensions.set(negotiated, isNumbered: isNumbered, mid: mid, rid: nil)
  }

  /// Begins anew with the next packet that a decoder can begin with, which comes from another source.
  func changeSource() {
    changeStream()
    lastRequest = nil
    choice.reset()
  }

  private func changeStream() {
    beginsAnew = true
    waiting = []
  }

  /// Returns whether the video is paused, if that has changed since the last call.
  func takePauseChange() -> Bool? {
    guard choice.isPaused != isPauseTold else { return nil }
    isPauseTold = choice.isPaused
    return isPauseTold
  }

  // MARK: Bandwidth

  /// The stream for the division of the bandwidth; nil for audio, and while nothing is sent.
  var allocation: RateAllocator.Stream? {
    guard kind == .video, isActive, hasSent, let smallest = choice.rates.min(), let largest = choice.rates.max() else {
      return nil
    }
    // Twice, so that the estimate can tell whether a larger encoding has room.
    var stream = RateAllocator.Stream(
      id: number, minimum: max(smallest, VideoSettings.minimumBitrate),
      maximum: max(largest * 2.0, VideoSettings.minimumBitrate))
    stream.priority = policy.priority
    return stream
  }

  /// The rate of what is to be sent of a video; zero while nothing is.
  var rate: DataRate { isActive ? choice.rate : .zero }

  /// Sets the share of the estimated bandwidth, whether all that is forwarded arrives as fast as it is sent, and the least
  /// priority among the videos that are not paused.
  func setRate(_ rate: DataRate, isDelivered: Bool, leastPriority: Double) {
    (choice.share, choice.isDelivered) = (rate, isDelivered)
    choice.isPreferred = policy.priority > leastPriority
  }

  /// Whether a video is sent on, and not paused.
  func isSent(at now: Instant) -> Bool {
    guard let lastArrival, kind == .video, isActive, !choice.isPaused else { return false }
    return now - lastArrival < MediaChannel.idleTimeout
  }

  /// Whether padding can be sent, for probes.
  func canPad(at now: Instant) -> Bool {
    guard let lastArrival, kind == .video, isActive, hasSent, retransmission != nil else { return false }
    return now - lastArrival < MediaChannel.idleTimeout
  }

  func pad(_ count: Int, into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    guard canPad(at: now), let last else { return nil }
    // Always a large one, for a probe waits for it.
    var packet = retransmission!.pad(
      max(count, Self.paddingSize), timestamp: last.timestamp, captured: now, extensions: extensions.repair,
      into: &output)
    packet?.transportNumberOffset = extensions.repairNumberOffset
    return packet
  }

  // MARK: Packets

  /// Takes a packet that another connection received, and hands it to the pacer.
  func send(_ packet: ForwardedPacket, into pacer: inout Pacer, at now: Instant) {
    guard isActive else { return }
    guard let codec = formats.first(where: { $0.carries(packet.codec) }) else {
      refusedCount += 1
      return
    }
    choice.note(packet, at: now)
    lastArrival = now
    // After the pause a decoder must be able to begin.
    guard !choice.isPaused else { return changeStream() }
    if beginsAnew || mappings.last?.stream != packet.stream {
      // What comes late of a stream that was left is not sent.
      if !beginsAnew, let current = mappings.last, current.encoding == packet.encoding, packet.stream < current.stream {
        return
      }
      guard packet.encoding == choice.wanted?.encoding else { return }
      guard packet.isEntry else { return wait(for: packet, at: now) }
      begin(packet, codec, at: now)
      let rest = waiting.filter { $0.stream == packet.stream && $0.number > packet.number }
      waiting = []
      enqueue(packet, codec, into: &pacer, at: now)
      for packet in rest { send(packet, into: &pacer, at: now) }
      return
    }
    enqueue(packet, codec, into: &pacer, at: now)
  }

  /// Keeps a packet until the first one of its key frame comes, and asks for a key frame.
  private func wait(for packet: ForwardedPacket, at now: Instant) {
    if waiting.count == Self.waitingLimit { waiting.removeFirst() }
    waiting.append(packet)
    if let lastRequest, now - lastRequest < Self.requestInterval { return }
    lastRequest = now
    needKeyFrame(of: packet.encoding)
  }

  /// Begins to send another stream: its numbers follow those that were sent, its timestamps go on with the time.
  private func begin(_ packet: ForwardedPacket, _ codec: NegotiatedCodec, at now: Instant) {
    var start = rtp.timestamp(of: 0)
    if let last {
      let elapsed = max(.zero, now - last.taken)
      let ticks = elapsed.nanoseconds / 1_000 * Int64(rtp.settings.clockRate) / 1_000_000
      start = last.timestamp &+ UInt32(truncatingIfNeeded: max(1, ticks))
    }
    rtp.setClockRate(codec.clockRate)
    mappings.append(
      Mapping(
        stream: packet.stream, encoding: packet.encoding, source: packet.ssrc,
        first: (packet.number, rtp.nextSequenceNumber), start: start, offset: start &- packet.timestamp,
        pictureOffset: offset(from: packet.picture?.id, to: lastPicture?.id),
        baseOffset: offset(from: packet.picture?.base, to: lastPicture?.base), highest: packet.number))
    if mappings.count > Self.mappingLimit { mappings.removeFirst() }
    beginsAnew = false
    lastRequest = nil
  }

  /// Returns what must be added to a number so that it follows the last one that was sent.
  private func offset(from number: Int64?, to last: Int64?) -> Int64 {
    guard let number, let last else { return 0 }
    return last + 1 - number
  }

  private func enqueue(_ packet: ForwardedPacket, _ codec: NegotiatedCodec, into pacer: inout Pacer, at now: Instant) {
    guard var mapping = mappings.popLast() else { return }
    defer { mappings.append(mapping) }
    guard packet.number >= mapping.first.number else { return }
    let isNewest = packet.number >= mapping.highest
    mapping.highest = max(mapping.highest, packet.number)
    var payload = packet.payload
    if kind == .video, mapping.filter.judge(packet, wanted: choice.layer(of: mapping.encoding)) == .omit {
      if let picture = packet.picture { mapping.pictures.omit(picture.id) }
      guard !isNewest else { return mapping.numbers.omit(packet.number) }
      // The numbers after it count it. Without a payload it fills the gap.
      payload = []
    } else if let picture = packet.picture {
      rewrite(picture, in: &payload, mapping)
    }
    let number =
      mapping.first.sequence &+ UInt16(truncatingIfNeeded: mapping.numbers(packet.number) - mapping.first.number)
    let timestamp = packet.timestamp &+ mapping.offset
    if last.map({ Int32(bitPattern: timestamp &- $0.timestamp) >= 0 }) ?? true { last = (now, timestamp) }
    let (extensions, numberOffset) = extensions.original(packet.audioLevel)
    _ = pacer.enqueue(kind == .audio ? .audio : .video, at: now) { output in
      let header = rtp.packetize(
        payload: payload.span.bytes, sequenceNumber: number, timestamp: timestamp, payloadType: codec.payloadType,
        marker: packet.marker && !payload.isEmpty, extensions: extensions, into: &output)
      guard let header else { return nil }
      return OutgoingPacket(
        header: header, headerSize: RTPHeader.fixedSize + extensions.encodedSize, captured: now,
        transportNumberOffset: numberOffset)
    }
  }

  /// Gives a picture the numbers that follow those that were sent: receivers wait for pictures between them.
  private func rewrite(_ picture: ForwardedPicture, in payload: inout [UInt8], _ mapping: Mapping) {
    let id = mapping.pictures(picture.id) + mapping.pictureOffset
    let base = picture.base + mapping.baseOffset
    lastPicture = (max(lastPicture?.id ?? id, id), max(lastPicture?.base ?? base, base))
    switch picture.format {
    case .vp8: VP8PayloadDescriptor.renumber(&payload, pictureID: id, base: base)
    default: GenericPayloadDescriptor.renumber(&payload, pictureID: id, base: base)
    }
  }

  /// Returns the source of what is sent with a timestamp, and its timestamp there.
  func origin(of timestamp: UInt32) -> (ssrc: UInt32, timestamp: UInt32)? {
    let mapping = mappings.last { Int32(bitPattern: timestamp &- $0.start) >= 0 } ?? mappings.first
    return mapping.map { ($0.source, timestamp &- $0.offset) }
  }

  /// Hands the requested retransmissions to the pacer; those of audio have no limit.
  func sendAgain(into pacer: inout Pacer, limiter: inout RetransmissionLimiter, at now: Instant) {
    guard kind == .audio else { return retransmit(into: &pacer, limiter: &limiter, at: now) }
    var none = RetransmissionLimiter()
    retransmit(into: &pacer, limiter: &none, at: now)
  }

  var isAskedAgain: Bool { rtp.isAskedAgain }

  func refuseRetransmission() { rtp.refuseRetransmission() }

  func takeRetransmission(into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    guard retransmission != nil else { return rtp.takeRetransmission(into: &output, at: now) }
    var packet = rtp.takeRetransmission(on: &retransmission!, extensions: extensions.repair, into: &output, at: now)
    packet?.transportNumberOffset = extensions.repairNumberOffset
    return packet
  }

  var hasSent: Bool { rtp.outbound.packetsSent > 0 }
  var sources: [UInt32] { [rtp.ssrc] + (retransmissionSSRC.map { [$0] } ?? []) }

  private func owns(_ ssrc: UInt32) -> Bool { ssrc == rtp.ssrc || ssrc == retransmissionSSRC }

  /// Counts a packet as sent.
  ///
  /// - Returns: whether the packet belongs to this stream.
  func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) -> Bool {
    guard owns(packet.header.ssrc) else { return false }
    rtp.departed(packet, bytes, at: now)
    if packet.header.marker, !packet.isRetransmission { framesSent += 1 }
    return true
  }

  /// Notes that a packet will not be sent.
  func dropped(_ packet: OutgoingPacket) { if owns(packet.header.ssrc) { rtp.dropped(packet) } }

  // MARK: Reports and feedback

  func senderReport(clock: WallClock, at now: Instant) -> SenderReport? {
    rtp.hasSentLately ? rtp.senderReport(clock: clock, at: now) : nil
  }

  func endReportInterval() { rtp.endReportInterval() }

  func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
    if block.ssrc == retransmissionSSRC { extensions.forgetRepairNames() }
    guard block.ssrc == rtp.ssrc else { return }
    rtp.receive(block, clock: clock, at: now)
    extensions.forgetNames()
  }

  func receive(_ nack: GenericNACK) { rtp.receive(nack) }

  func receive(_ indication: PictureLossIndication) {
    guard indication.mediaSSRC == rtp.ssrc else { return }
    pliCount += 1
    needKeyFrame(of: mappings.last?.encoding ?? 0)
  }

  private func needKeyFrame(of encoding: Int) {
    if kind == .video, !neededKeyFrames.contains(encoding) { neededKeyFrames.append(encoding) }
  }

  /// Takes a full intra request. The same number again repeats a request that was obeyed (RFC 5104 section 4.3.1.2).
  func receive(_ request: FullIntraRequest) {
    for entry in request.entries where entry.ssrc == rtp.ssrc {
      firCount += 1
      guard lastIntraRequest != entry.sequenceNumber else { continue }
      lastIntraRequest = entry.sequenceNumber
      needKeyFrame(of: mappings.last?.encoding ?? 0)
    }
  }

  /// Returns an encoding of which the source must be asked for a key frame now.
  func takeKeyFrameNeed() -> Int? { neededKeyFrames.isEmpty ? nil : neededKeyFrames.removeFirst() }
}
