internal import CallCore
internal import Codecs
internal import CongestionControl
internal import RTP
internal import SDP

/// The media of one transceiver, of any kind, as the transport sees it: packets and feedback, out and in.
enum MediaChannel {
  case audio(AudioChannel)
  case video(VideoChannel)
  /// Audio or video of a forwarding connection.
  case forwarding(ForwardingChannel)

  var kind: MediaKind {
    switch self {
    case .audio: .audio
    case .video: .video
    case .forwarding(let channel): channel.kind
    }
  }

  var transceiver: Transceiver.ID { state.transceiver }

  var state: ChannelState {
    switch self {
    case .audio(let channel): channel.state
    case .video(let channel): channel.state
    case .forwarding(let channel): channel.state
    }
  }

  func setTrack(_ track: LocalTrack) {
    switch self {
    case .audio(let channel): channel.setTrack(track)
    case .video(let channel): channel.setTrack(track)
    case .forwarding(let channel): channel.setTrack(track)
    }
  }

  func setParameters(_ parameters: [EncodingParameters]) {
    switch self {
    case .audio(let channel): channel.setParameters(parameters)
    case .video(let channel): channel.setParameters(parameters)
    case .forwarding(let channel): channel.setParameters(parameters)
    }
  }

  /// - Returns: the SSRCs that end with the track, if the remote side may know them.
  func removeTrack() -> [UInt32] {
    switch self {
    case .audio(let channel): channel.removeTrack().map { [$0] } ?? []
    case .video(let channel): channel.removeTrack()
    case .forwarding(let channel): channel.removeTrack()
    }
  }

  func stop() {
    switch self {
    case .audio(let channel): channel.stop()
    case .video(let channel): channel.stop()
    case .forwarding(let channel): channel.stop()
    }
  }

  /// Applies the result of a negotiation; nil when the section is rejected. Streams keep their sequence numbers and
  /// counters during a hold.
  func apply(_ media: NegotiatedMedia?, extensions: MediaExtensions, random: RandomSource) {
    switch self {
    case .audio(let channel): channel.apply(media, extensions: extensions, random: random)
    case .video(let channel): channel.apply(media, extensions: extensions, random: random)
    case .forwarding(let channel): channel.apply(media, extensions: extensions, random: random)
    }
  }

  // MARK: Out

  /// The sources that the remote side may know.
  var sentSources: [UInt32] {
    switch self {
    case .audio(let channel): channel.send.map { $0.hasSent ? [$0.rtp.ssrc] : [] } ?? []
    case .video(let channel): channel.send?.sources ?? []
    case .forwarding(let channel): channel.sentSources
    }
  }

  /// Hands all pending packets to the pacer, media and retransmissions.
  ///
  /// - Parameter limiter: the limit of the retransmissions of video.
  func produce(into pacer: inout Pacer, limiter: inout RetransmissionLimiter, at now: Instant) {
    switch self {
    case .audio(let channel): channel.produce(into: &pacer, at: now)
    case .video(let channel): channel.send?.retransmit(into: &pacer, limiter: &limiter, at: now)
    case .forwarding(let channel): channel.send?.sendAgain(into: &pacer, limiter: &limiter, at: now)
    }
  }

  /// Whether a forwarded packet is asked for that was not sent again or refused.
  var isAskedAgain: Bool {
    if case .forwarding(let channel) = self { channel.send?.isAskedAgain ?? false } else { false }
  }

  /// Whether something was negotiated to be received, and is not over.
  var hasReceiver: Bool {
    switch self {
    case .audio(let channel): channel.receive != nil
    case .video(let channel): channel.receive != nil
    case .forwarding(let channel): channel.receive != nil
    }
  }

  /// Writes a packet of padding, which needs a retransmission stream.
  func pad(_ count: Int, into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    switch self {
    case .audio: nil
    case .video(let channel): channel.send?.pad(count, into: &output, at: now)
    case .forwarding(let channel): channel.send?.pad(count, into: &output, at: now)
    }
  }

  /// Counts a packet as sent.
  ///
  /// - Parameter bytes: the packet as sent, before protection.
  /// - Returns: whether the packet's source belongs to this channel.
  func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) -> Bool {
    switch self {
    case .audio(let channel): channel.send?.departed(packet, bytes, at: now) ?? false
    case .video(let channel): channel.send?.departed(packet, bytes, at: now) ?? false
    case .forwarding(let channel): channel.send?.departed(packet, bytes, at: now) ?? false
    }
  }

  /// Notes that a packet will not be sent.
  func dropped(_ packet: OutgoingPacket) {
    switch self {
    case .audio(let channel): channel.send?.dropped(packet)
    case .video(let channel): channel.send?.dropped(packet)
    case .forwarding(let channel): channel.send?.dropped(packet)
    }
  }

  /// Discards pending media. Video is encoded and forwarded only when it can be sent, so that none is pending.
  func dropPending() {
    switch self {
    case .audio(let channel): channel.send?.dropPending()
    case .video, .forwarding: break
    }
  }

  /// The time after the last picture at which padding ends: libwebrtc's until an encoder without pictures counts as
  /// stopped.
  static let idleTimeout = Interval.seconds(2)

  /// Whether it can send padding: it sends video, and pictures come.
  func canPad(at now: Instant) -> Bool {
    switch self {
    case .audio: false
    case .video(let channel): channel.send?.canPad(at: now) ?? false
    case .forwarding(let channel): channel.send?.canPad(at: now) ?? false
    }
  }

  /// The stream for the division of the bandwidth; nil while nothing is sent. Audio takes part with a constant rate if
  /// its packets are numbered, as in libwebrtc.
  var allocation: RateAllocator.Stream? {
    switch self {
    case .audio(let channel):
      guard let send = channel.send, send.isActive, send.isNumbered, let track = channel.state.track else { return nil }
      let packets = 1 / send.encoding.packetDuration.interval.seconds
      let headers = Double(RTPHeader.fixedSize + MediaTransport.lowerOverhead) * 8 * packets
      let rate = send.encoding.bitrate + .bitsPerSecond(Int64(headers))
      var stream = RateAllocator.Stream(id: track.number, minimum: rate, maximum: rate)
      stream.isMinimumEnforced = true
      return stream
    case .video(let channel): return channel.send?.allocation
    case .forwarding(let channel): return channel.send?.allocation
    }
  }

  // MARK: Reports

  var roundTrip: Interval? {
    switch self {
    case .audio(let channel): channel.send?.roundTrip
    case .video(let channel): channel.send?.roundTrip
    case .forwarding(let channel): channel.send?.rtp.remoteInbound.roundTripTime
    }
  }

  /// Appends the sender reports of active streams; held ones have none.
  func appendSenderReports(to reports: inout [SenderReport], clock: WallClock, at now: Instant) {
    switch self {
    case .audio(let channel):
      if let report = channel.send?.senderReport(clock: clock, at: now) { reports.append(report) }
    case .video(let channel): channel.send?.appendSenderReports(to: &reports, clock: clock, at: now)
    case .forwarding(let channel):
      if let report = channel.send?.senderReport(clock: clock, at: now) { reports.append(report) }
    }
  }

  func endReportInterval() {
    switch self {
    case .audio(let channel): channel.send?.endReportInterval()
    case .video(let channel): for encoding in channel.send?.encodings ?? [] { encoding.endReportInterval() }
    case .forwarding(let channel): channel.send?.endReportInterval()
    }
  }

  /// Appends a report block for each active source, up to the limit of one packet.
  func takeReportBlocks(into blocks: inout [ReportBlock], at now: Instant) {
    switch self {
    case .audio(let channel): channel.receive?.takeReportBlocks(into: &blocks, at: now)
    case .video(let channel): channel.receive?.takeReportBlocks(into: &blocks, at: now)
    case .forwarding(let channel): channel.receive?.takeReportBlocks(into: &blocks, at: now)
    }
  }

  func receive(_ report: SenderReport, at now: Instant) {
    switch self {
    case .audio(let channel): channel.receive?.receive(report, at: now)
    case .video(let channel): channel.receive?.receive(report, at: now)
    case .forwarding(let channel): channel.receive?.receive(report, at: now)
    }
  }

  func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
    switch self {
    case .audio(let channel): channel.send?.receive(block, clock: clock, at: now)
    case .video(let channel):
      for encoding in channel.send?.encodings ?? [] { encoding.receive(block, clock: clock, at: now) }
    case .forwarding(let channel): channel.send?.receive(block, clock: clock, at: now)
    }
  }

  // MARK: Feedback

  func receive(_ nack: GenericNACK) {
    switch self {
    case .audio(let channel): channel.send?.receive(nack)
    case .video(let channel): for encoding in channel.send?.encodings ?? [] { encoding.receive(nack) }
    case .forwarding(let channel): channel.send?.receive(nack)
    }
  }

  func receive(_ indication: PictureLossIndication) {
    switch self {
    case .audio: break
    case .video(let channel): for encoding in channel.send?.encodings ?? [] { encoding.receive(indication) }
    case .forwarding(let channel): channel.send?.receive(indication)
    }
  }

  func receive(_ request: FullIntraRequest) {
    switch self {
    case .audio: break
    case .video(let channel): for encoding in channel.send?.encodings ?? [] { encoding.receive(request) }
    case .forwarding(let channel): channel.send?.receive(request)
    }
  }

  /// Returns a NACK or a request for a key frame that is due.
  func takeFeedback(from source: UInt32, roundTrip: Interval?, at now: Instant) -> RTCPPacket? {
    switch self {
    case .audio(let channel):
      channel.receive?.takeNACK(from: source, roundTrip: roundTrip, at: now).map(RTCPPacket.genericNACK)
    case .video(let channel): channel.receive?.takeFeedback(from: source, roundTrip: roundTrip, at: now)
    case .forwarding(let channel): channel.receive?.takeFeedback(from: source, roundTrip: roundTrip, at: now)
    }
  }

  func postponeFeedback(at now: Instant) {
    switch self {
    case .audio(let channel): channel.receive?.postponeNACK(at: now)
    case .video(let channel): channel.receive?.postponeFeedback(at: now)
    case .forwarding(let channel): channel.receive?.postponeFeedback(at: now)
    }
  }

  /// The time of the next feedback, and of the next picture.
  var deadline: Instant? {
    switch self {
    case .audio(let channel): channel.receive?.nackDeadline
    case .video(let channel): channel.receive?.deadline
    case .forwarding(let channel): channel.receive?.deadline
    }
  }

  // MARK: In

  /// The result of a received packet.
  enum Reception {
    case taken
    /// The first packet of a muted track.
    case unmuted(mid: String)
    /// The channel does not receive.
    case unexpected
    case unknownPayloadType
  }

  func receive(
    _ packet: RTPPacket, on route: RTPRouter.Route, in datagram: RawSpan, ecn: ECN, at now: Instant
  ) -> Reception {
    switch self {
    case .audio(let channel): channel.receive(packet, as: route.role, in: datagram, ecn: ecn, at: now)
    case .video(let channel): channel.receive(packet, on: route, in: datagram, ecn: ecn, at: now)
    case .forwarding(let channel): channel.receive(packet, on: route, in: datagram, ecn: ecn, at: now)
    }
  }

  /// Returns whether a packet of this source was received here.
  func knows(_ source: UInt32) -> Bool {
    switch self {
    case .audio(let channel): channel.receive?.knows(source) ?? false
    case .video(let channel): channel.receive?.knows(source) ?? false
    case .forwarding(let channel): channel.receive?.knows(source) ?? false
    }
  }

  /// Takes over a source whose MID has moved here from another channel of its kind, with its sequence numbers and
  /// counters.
  func adopt(_ source: UInt32, from other: MediaChannel) -> Bool {
    switch (self, other) {
    case (.audio(let channel), .audio(let other)): channel.adopt(source, from: other)
    case (.video(let channel), .video(let other)): channel.adopt(source, from: other)
    // A source that moves to another section of a forwarding connection begins there as a new one.
    default: false
    }
  }

  /// Notes a BYE.
  ///
  /// - Returns: whether that source is playing.
  func depart(_ source: UInt32) -> Bool {
    switch self {
    case .audio(let channel): channel.receive?.depart(source) ?? false
    case .video(let channel): channel.receive?.depart(source) ?? false
    case .forwarding(let channel): channel.receive?.depart(source) ?? false
    }
  }

  /// Releases the receive stream once the remote side no longer sends in this section and has sent a BYE for every
  /// source.
  func forgetWhatIsOver() {
    switch self {
    case .audio(let channel): channel.forgetWhatIsOver()
    case .video(let channel): channel.forgetWhatIsOver()
    case .forwarding(let channel): channel.forgetWhatIsOver()
    }
  }
}
