internal import CallCore
internal import CongestionControl
internal import RTP
internal import SDP

/// All media of a session on its one transport: routes incoming packets, orders outgoing ones, and runs RTCP for both
/// directions.
final class MediaTransport {
  enum Outgoing {
    case media(ssrc: UInt32, prefix: UInt64)
    /// RTCP with a BYE for these sources of ours.
    case control(departed: [UInt32])
  }

  private let configuration: SessionConfiguration
  private let random: RandomSource
  /// The random stream for SSRCs.
  private var identifiers: RandomStream
  /// The channels, one for each transceiver with a track or a negotiated section, in order of creation.
  private(set) var channels: [MediaChannel] = []
  /// Those that receive, or did.
  private var receiving: [MediaChannel] = []
  /// Those with a track.
  private var sending: [MediaChannel] = []
  /// The channels by their transceivers, and by the sources of packets that they have sent.
  private var places: [Transceiver.ID: MediaChannel] = [:]
  private var departures: [UInt32: MediaChannel] = [:]
  /// Whether no channel wants to send feedback or show a picture, as long as nothing but packets come.
  private var isFeedbackIdle = false
  /// Whether a receiver of what is forwarded has asked for packets that were not sent again yet.
  private var isAskedAgain = false
  var audio = AudioEngine()
  var video = VideoEngine()
  /// Whether tracks added later are forwarded from the start.
  var forwardsTracks = true
  private var tracksMade = 0
  private var router = RTPRouter()
  /// The channel of each section of the router.
  private var owners: [MediaChannel] = []
  /// The SSRC of RTCP while there is no track; the first track takes it.
  private var reporter: UInt32
  private var scheduler: RTCPScheduler
  private var reports: ReportWriter
  var pacer: Pacer
  private var limiter = RetransmissionLimiter()
  /// The control of the bandwidth, from the first video that is sent.
  private var bandwidth: BandwidthControl?
  private(set) var sequencer = TransportSequencer()
  private var arrivals = ArrivalRecorder()
  /// The extensions of received packets.
  private var extensions = MediaExtensions([], sending: false)
  /// The results of the last feedback; a property so that its memory is reused.
  private(set) var feedbackResults: [TransportSequencer.Result] = []
  private var isConnected = false
  /// When the bandwidth is divided anew among forwarded streams.
  private var nextDivision = Instant.zero
  private static let divisionInterval = Interval.milliseconds(250)
  private var lipSync = LipSync()
  private var isEnded = false
  private var saysGoodbye = false
  private(set) var malformedControl = 0

  init(configuration: SessionConfiguration, identifiers: consuming RandomStream, random: RandomSource) {
    self.configuration = configuration
    self.random = random
    pacer = Pacer(settings: Pacer.Settings(rate: configuration.forwards ? Self.forwardingRate : Self.pacingRate))
    reporter = UInt32(truncatingIfNeeded: identifiers.next())
    self.identifiers = identifiers
    scheduler = RTCPScheduler(random: random.stream("rtcp"))
    reports = ReportWriter(clock: configuration.wallClock, canonicalName: configuration.cname)
  }

  /// The rate of paced packets: libwebrtc's initial estimate of 300 kbit/s times its factor of 2.5.
  private static let pacingRate = DataRate.kilobitsPerSecond(750)
  /// The rate of forwarded packets, which their senders have paced: more than their sum.
  private static let forwardingRate = DataRate.megabitsPerSecond(1_000)

  /// The bytes of a packet below RTP: UDP over IPv4, and the authentication tag of SRTP.
  static let lowerOverhead = 38

  var midExtensionID: UInt8? { router.midExtensionID }
  /// The estimate of the bandwidth; nil before video is sent.
  var availableOutgoingBitrate: DataRate? { bandwidth?.deadline == nil ? nil : bandwidth?.target.target }

  // MARK: Tracks

  /// Makes a sender for a track, or for none yet, to be set on a transceiver.
  ///
  /// - Parameters:
  ///   - rids: the names of its encodings; empty for one without a name.
  ///   - streamIDs: the media streams it belongs to; empty for that of the connection.
  func makeTrack(
    _ track: MediaStreamTrack?, _ kind: MediaKind, rids: [String] = [], streamIDs: [String] = []
  ) -> LocalTrack {
    let number = tracksMade
    tracksMade += 1
    var name = track?.id ?? ""
    if name.isEmpty { name = "\(configuration.cname)-\(kind.rawValue)" + (number == 0 ? "" : "-\(number + 1)") }
    let isCorrected =
      kind == .video && configuration.video?.forwardErrorCorrection == .flexfec && rids.count < 2
    let isRepaired =
      kind == .audio ? configuration.audio.retransmitsOnItsOwnStream : configuration.video?.retransmission ?? false
    var encodings: [Transceiver.Encoding] = []
    for index in 0..<max(1, rids.count) {
      encodings.append(
        Transceiver.Encoding(
          rid: index < rids.count ? rids[index] : nil, ssrc: number == 0 && index == 0 ? reporter : newSource(),
          retransmissionSSRC: isRepaired ? newSource() : nil, repairSSRC: isCorrected ? newSource() : nil))
    }
    return LocalTrack(
      number: number,
      sender: Transceiver.Sender(
        trackID: name, streamIDs: streamIDs.isEmpty ? [configuration.cname] : streamIDs, cname: configuration.cname,
        encodings: encodings),
      source: track.map { $0.named(name) })
  }

  /// Replaces the source of a track, without negotiation; nil sends nothing.
  func setSource(_ source: MediaStreamTrack?, of transceiver: Transceiver.ID, _ kind: MediaKind) {
    let channel = channel(of: transceiver, kind)
    guard let track = channel.state.track else { return }
    let isOther = source?.source != track.source?.source
    channel.state.track?.source = source.map { $0.id.isEmpty ? $0.named(track.sender.trackID) : $0 }
    if isOther, case .forwarding(let forwarding) = channel { forwarding.send?.changeSource() }
  }

  func parameters(of transceiver: Transceiver.ID) -> [EncodingParameters] {
    places[transceiver]?.state.encodings ?? [EncodingParameters()]
  }

  func setParameters(
    _ parameters: [EncodingParameters], of transceiver: Transceiver.ID, _ kind: MediaKind, at now: Instant
  ) {
    channel(of: transceiver, kind).setParameters(parameters)
    bandwidth?.setStreams(of: channels, pacer: &pacer, limiter: limiter, at: now)
  }

  /// Returns an SSRC that is unique in the session (RFC 3550 section 8.1).
  private func newSource() -> UInt32 {
    while true {
      let ssrc = UInt32(truncatingIfNeeded: identifiers.next())
      let isTaken =
        ssrc == reporter || router.route(ofSource: ssrc) != nil
        || channels.contains { channel in
          channel.state.track?.sender.encodings.contains {
            [$0.ssrc, $0.retransmissionSSRC, $0.repairSSRC].contains(ssrc)
          } ?? false
        }
      if !isTaken { return ssrc }
    }
  }

  func setTrack(_ track: LocalTrack, of transceiver: Transceiver.ID, _ kind: MediaKind, at now: Instant) {
    channel(of: transceiver, kind).setTrack(track)
    listChannels()
    startReporting(at: now)
  }

  /// Notes that the remote side has announced a track, which is muted until its first packet.
  func announce(_ transceiver: Transceiver.ID, _ kind: MediaKind, mid: String) {
    let channel = channel(of: transceiver, kind)
    channel.state.mid = mid
    channel.state.isAnnounced = true
    channel.state.isMuted = true
  }

  /// Ends sending, at once and for good.
  func removeTrack(of transceiver: Transceiver.ID) {
    guard let channel = places[transceiver] else { return }
    end(channel)
  }

  /// Ends sending and receiving, at once and for good.
  func stop(_ transceiver: Transceiver.ID) {
    guard let channel = places[transceiver] else { return }
    end(channel)
    channel.stop()
  }

  private func end(_ channel: MediaChannel) {
    let source = channel.state.track?.sender.ssrc
    reports.departed += channel.removeTrack()
    // After its BYE an SSRC must not be used again.
    if source == reporter { reporter = newSource() }
    listChannels()
  }

  /// Lists the channels that are asked for every packet, so that its cost does not grow with those that do nothing.
  private func listChannels() {
    receiving = channels.filter(\.hasReceiver)
    lipSync.pair(channels)
    sending = channels.filter { $0.state.track != nil }
    departures = [:]
    isFeedbackIdle = false
  }

  /// Returns the channel of a transceiver, if there is one.
  func knownChannel(of transceiver: Transceiver.ID) -> MediaChannel? { places[transceiver] }

  /// Asks all channels again when feedback is due: something but a packet has changed one.
  func expectFeedback() { isFeedbackIdle = false }

  private func channel(of transceiver: Transceiver.ID, _ kind: MediaKind) -> MediaChannel {
    if let known = places[transceiver] { return known }
    let made: MediaChannel =
      switch kind {
      case _ where configuration.forwards:
        .forwarding(ForwardingChannel(transceiver, kind, configuration: configuration, isEnabled: forwardsTracks))
      case .audio: .audio(AudioChannel(transceiver, configuration: configuration, isEnabled: audio.isEnabled))
      case .video: .video(VideoChannel(transceiver, configuration: configuration, isEnabled: video.isEnabled))
      }
    channels.append(made)
    places[transceiver] = made
    return made
  }

  // MARK: Negotiation

  /// Applies the result of a negotiation to the current transceivers.
  func apply(_ media: [NegotiatedMedia], of transceivers: [Transceiver], at now: Instant) {
    extensions = MediaExtensions(media, sending: false)
    router.midExtensionID = extensions.mid
    router.ridExtensionID = extensions.rid
    router.repairedRIDExtensionID = extensions.repairedRID
    let sent = MediaExtensions(media, sending: true)
    forgetAll(but: transceivers)
    for section in media { _ = channel(of: section.transceiver, section.kind) }
    for channel in channels {
      channel.apply(
        media.first { $0.transceiver == channel.transceiver }, extensions: sent, random: random)
    }
    listChannels()
    let received = media.filter(\.direction.receives)
    owners = []
    for section in received { owners.append(channel(of: section.transceiver, section.kind)) }
    router.setSections(received.map(RTPRouter.Section.init))
    if media.contains(where: { $0.kind == .video }) { scheduler.setMinimumInterval(.seconds(1)) }
    controlBandwidth(at: now)
    startReporting(at: now)
  }

  /// Estimates the bandwidth as long as video has been sent.
  private func controlBandwidth(at now: Instant) {
    let hasSender = channels.contains { channel in
      switch channel {
      case .audio: false
      case .video(let video): video.send != nil
      case .forwarding(let forwarding): forwarding.kind == .video && forwarding.send != nil
      }
    }
    if bandwidth == nil, hasSender {
      bandwidth = BandwidthControl(
        start: configuration.video?.startBitrate ?? Self.pacingRate,
        configuration.video?.congestionControl ?? .googleCongestionControl, forwards: configuration.forwards)
      if isConnected { bandwidth?.start(channels, pacer: &pacer, limiter: limiter, at: now) }
    }
    bandwidth?.setStreams(of: channels, pacer: &pacer, limiter: limiter, at: now)
  }

  /// Ends the channels of removed transceivers.
  func forgetAll(but transceivers: [Transceiver]) {
    for channel in channels where !transceivers.contains(where: { $0.id == channel.transceiver }) { end(channel) }
    channels.removeAll { channel in !transceivers.contains { $0.id == channel.transceiver } }
    places = Dictionary(uniqueKeysWithValues: channels.map { ($0.transceiver, $0) })
    listChannels()
  }

  /// Starts media and RTCP on the connected transport.
  func start(at now: Instant) {
    isConnected = true
    bandwidth?.start(channels, pacer: &pacer, limiter: limiter, at: now)
    startReporting(at: now)
  }

  /// Notes that packets take another path.
  func changeRoute(at now: Instant) { bandwidth?.changeRoute(at: now) }

  /// Takes a picture of the camera.
  func record(
    _ input: inout VideoInput, for transceiver: Transceiver.ID?, isSendable: Bool, at now: Instant
  ) {
    video.record(&input, for: transceiver, in: channels, isSendable: isSendable && isRunning, into: &pacer, at: now)
  }

  private func startReporting(at now: Instant) {
    if isConnected, !channels.isEmpty { scheduler.start(at: now) }
  }

  /// Whether captured media can be sent.
  var isRunning: Bool { isConnected && !isEnded && !channels.isEmpty }

  /// Stops sending, except for a BYE if requested and anything was sent before.
  func end(saysGoodbye: Bool) {
    self.saysGoodbye = saysGoodbye && hasSent
    isEnded = true
    for channel in channels { channel.dropPending() }
    pacer.removeAll { _ in }
  }

  private var hasSent: Bool { channels.contains { !$0.sentSources.isEmpty } }

  // MARK: Out

  /// Discards pending media while nothing can be sent, so that no wake-up is requested for it.
  func dropPending(at now: Instant) {
    isFeedbackIdle = false
    for channel in channels {
      channel.dropPending()
      channel.postponeFeedback(at: now)
    }
    pacer.removeAll { packet in
      for channel in channels { channel.dropped(packet.packet) }
    }
    arrivals.postpone(at: now)
    if scheduler.isDue(at: now) { scheduler.sentReport(byteCount: 0, at: now) }
  }

  /// Writes the next packet: RTCP when due, then the next one that the pacer releases.
  func next(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Outgoing? {
    if isEnded {
      guard saysGoodbye else { return nil }
      saysGoodbye = false
      for channel in channels { reports.departed += channel.sentSources }
      return writeReport(into: &buffer, at: now)
    }
    guard isConnected else { return nil }
    if scheduler.isDue(at: now) {
      let report = writeReport(into: &buffer, at: now)
      scheduler.sentReport(byteCount: buffer.count, at: now)
      for channel in channels { channel.endReportInterval() }
      if let report { return report }
      buffer.removeAll()
    }
    if !reports.departed.isEmpty, let report = writeReport(into: &buffer, at: now) {
      scheduler.note(byteCount: buffer.count)
      return report
    }
    if writeFeedback(into: &buffer, at: now) {
      scheduler.note(byteCount: buffer.count)
      return .control(departed: [])
    }
    limiter.maximum = bandwidth?.target.target
    if !configuration.forwards || isAskedAgain {
      for channel in sending { channel.produce(into: &pacer, limiter: &limiter, at: now) }
      isAskedAgain = configuration.forwards && channels.contains(where: \.isAskedAgain)
    }
    if bandwidth != nil { pad(at: now) }
    while let packet = pacer.next(into: &buffer, at: now) {
      if let outgoing = depart(packet, &buffer, at: now) { return outgoing }
      buffer.removeAll()
    }
    return nil
  }

  /// Calls `body` with the DTMF tones that have begun, and with an empty text when all of a sender are over.
  func takeToneChanges(_ body: (Transceiver.ID, String) -> Void) {
    for case .audio(let channel) in channels {
      while let tone = channel.send?.nextToneChange() { body(channel.state.transceiver, tone) }
    }
  }

  /// Queues the padding of a probe or a gap, on the first retransmission stream that there is. The pacer has to learn
  /// that there is none, or it asks for its padding again and again.
  private func pad(at now: Instant) {
    pacer.pad(at: now) { [channels] count, output in
      channels.first { $0.canPad(at: now) }?.pad(count, into: &output, at: now)
    }
  }

  /// Writes a NACK, a request for a key frame, or transport-wide feedback that is due.
  private func writeFeedback(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
    if !isFeedbackIdle, writeChannelFeedback(into: &buffer, at: now) { return true }
    guard let deadline = arrivals.deadline, now >= deadline,
      let feedback = arrivals.takeFeedback(from: reportingSource, at: now)
    else { return false }
    return reports.write(
      .transportFeedback(feedback), isReducedSize: channels.allSatisfy(\.state.usesReducedSizeRTCP), on: channels,
      from: reportingSource, into: &buffer, at: now)
  }

  private func writeChannelFeedback(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
    var isIdle = true
    for channel in receiving {
      guard let deadline = channel.deadline else { continue }
      isIdle = false
      guard now >= deadline else { continue }
      if let feedback = channel.takeFeedback(from: reportingSource, roundTrip: roundTrip, at: now),
        reports.write(
          feedback, isReducedSize: channel.state.usesReducedSizeRTCP, on: channels, from: reportingSource,
          into: &buffer, at: now)
      {
        return true
      }
    }
    isFeedbackIdle = isIdle
    return false
  }

  /// Writes the transport-wide number into a packet at the time of sending, and lets its stream count the packet.
  ///
  /// - Returns: nil when its source has ended, because no packet may follow a BYE.
  private func depart(
    _ queued: QueuedPacket, _ buffer: inout OutputSpan<UInt8>, at now: Instant
  ) -> Outgoing? {
    let packet = queued.packet
    let size = buffer.count + Self.lowerOverhead
    if let offset = packet.transportNumberOffset {
      let number = sequencer.assign(byteCount: size, probe: queued.probe, at: now)
      var bytes = buffer.mutableSpan
      bytes[offset] = UInt8(number >> 8)
      bytes[offset + 1] = UInt8(truncatingIfNeeded: number)
      bandwidth?.sent(byteCount: size, bytesInFlight: sequencer.bytesInFlight, at: now)
    } else {
      sequencer.sentUnnumbered(byteCount: size)
    }
    guard isCounted(packet, buffer.span.bytes, at: now) else { return nil }
    let prefix =
      packet.isRetransmission || packet.isPadding
      ? 0 : buffer.span.bytes.bigEndian(UInt64.self, at: packet.headerSize) ?? 0
    return .media(ssrc: packet.header.ssrc, prefix: prefix)
  }

  /// Lets the channel of a packet count it. Returns false when its source has ended.
  private func isCounted(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) -> Bool {
    if let known = departures[packet.header.ssrc], known.departed(packet, bytes, at: now) { return true }
    guard let channel = sending.first(where: { $0.departed(packet, bytes, at: now) }) else { return false }
    departures[packet.header.ssrc] = channel
    return true
  }

  private func writeReport(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Outgoing? {
    reports.writeReport(on: channels, from: reportingSource, into: &buffer, at: now).map { .control(departed: $0) }
  }

  private var roundTrip: Interval? { channels.lazy.compactMap(\.roundTrip).first }

  /// The SSRC of our RTCP: a track's source, if there is one, because the remote side knows it.
  private var reportingSource: UInt32 { channels.lazy.compactMap { $0.state.track?.sender.ssrc }.first ?? reporter }

  // MARK: In

  /// - Returns: the reason for discarding the packet; nil when it was accepted.
  func receiveRTP(
    _ packet: RawSpan, ecn: ECN, at now: Instant, events: inout FIFO<SessionOutput>
  ) -> StaticString? {
    guard let parsed = RTPPacket(parsing: packet) else { return "rtp-malformed" }
    guard !owners.isEmpty else { return "rtp-unexpected" }
    guard let route = router.route(of: parsed, in: packet) else { return "rtp-unknown-source" }
    if let id = extensions.transportNumber, let number = parsed.transportSequenceNumber(id: id, in: packet) {
      arrivals.record(number, from: parsed.header.ssrc, at: now)
    }
    let channel = owners[route.section]
    if route.role == .media { bring(parsed.header.ssrc, to: channel) }
    defer { if isFeedbackIdle, channel.deadline != nil { isFeedbackIdle = false } }
    switch channel.receive(parsed, on: route, in: packet, ecn: ecn, at: now) {
    case .unexpected: return "rtp-unexpected"
    case .unknownPayloadType: return "rtp-unknown-payload-type"
    case .taken:
      events.append(.mediaReceived(ssrc: parsed.header.ssrc, byteCount: packet.byteCount))
    case .unmuted(let mid):
      events.append(.mediaReceived(ssrc: parsed.header.ssrc, byteCount: packet.byteCount))
      events.append(.unmute(mid: mid))
    }
    switch channel {
    case .audio(let audio):
      while let digit = audio.receive?.nextDigit(at: now) { events.append(.digitReceived(digit)) }
    case .video(let video):
      video.receive?.takeRecovered { events.append(.mediaRecovered(ssrc: $0.ssrc, byteCount: $1)) }
    case .forwarding(let forwarding):
      while let packet = forwarding.receive?.nextReceived() { events.append(packet) }
    }
    return nil
  }

  /// Moves a source whose MID names another section, with its sequence numbers and counters.
  private func bring(_ ssrc: UInt32, to channel: MediaChannel) {
    guard !channel.knows(ssrc) else { return }
    isFeedbackIdle = false
    for other in channels where channel.adopt(ssrc, from: other) { return }
  }

  /// - Returns: the reason for discarding the packet or a part of it; nil when it was accepted.
  func receiveRTCP(
    _ compound: RawSpan, at now: Instant, events: inout FIFO<SessionOutput>
  ) -> StaticString? {
    var reader = RTCPReader()
    isFeedbackIdle = false
    scheduler.note(byteCount: compound.byteCount)
    while let packet = reader.next(in: compound) {
      switch packet {
      case .senderReport(let report):
        for channel in channels { channel.receive(report, at: now) }
        take(report.blocks, at: now)
      case .receiverReport(let report): take(report.blocks, at: now)
      case .genericNACK(let nack):
        for channel in channels { channel.receive(nack) }
        isAskedAgain = true
      case .transportFeedback(let feedback):
        feedbackResults.removeAll(keepingCapacity: true)
        sequencer.receive(feedback, into: &feedbackResults)
        bandwidth?.receive(
          feedbackResults, bytesInFlight: sequencer.bytesInFlight, channels, pacer: &pacer, limiter: limiter, at: now
        ) { events.append(.bandwidthEstimate($0)) }
      case .pictureLossIndication(let indication):
        for channel in channels { channel.receive(indication) }
      case .fullIntraRequest(let request):
        for channel in channels { channel.receive(request) }
      case .receiverEstimate(let estimate): bandwidth?.receive(estimate, at: now)
      case .goodbye(let goodbye):
        for source in goodbye.sources { depart(source, events: &events) }
      case .sourceDescription, .extendedReport, .congestionFeedback, .lossNotification, .unknown: break
      }
    }
    if configuration.forwards { passKeyFrameNeeds(to: &events) }
    malformedControl += reader.malformedCount
    return reader.malformedCount > 0 ? "rtcp-malformed" : nil
  }

  private func take(_ blocks: [ReportBlock], at now: Instant) {
    for block in blocks {
      for channel in channels { channel.receive(block, clock: configuration.wallClock, at: now) }
    }
    bandwidth?.receive(blocks, about: channels, roundTrip: roundTrip, at: now)
  }

  private func depart(_ source: UInt32, events: inout FIFO<SessionOutput>) {
    events.append(.remoteBye(ssrc: source))
    for channel in channels where channel.depart(source) {
      if !channel.state.isMuted, let mid = channel.state.mid {
        channel.state.isMuted = true
        events.append(.mute(mid: mid))
      }
      channel.forgetWhatIsOver()
    }
  }

  // MARK: Time

  /// Updates the estimate of the bandwidth, and decodes and shows pictures that are due.
  func advance(to now: Instant, events: inout FIFO<SessionOutput>) {
    guard isRunning else { return }
    isFeedbackIdle = false
    if configuration.forwards, bandwidth != nil, now >= nextDivision {
      // The rates of what is forwarded change by themselves.
      nextDivision = now + Self.divisionInterval
      bandwidth?.setStreams(of: channels, pacer: &pacer, limiter: limiter, at: now)
    }
    lipSync.advance(to: now)
    bandwidth?.advance(to: now, channels, pacer: &pacer, limiter: limiter) { events.append(.bandwidthEstimate($0)) }
    for case .video(let channel) in channels {
      let mid = channel.state.mid ?? ""
      channel.receive?.advance(to: now) { _, frame in
        var frame = frame
        frame.mid = mid
        events.append(frame)
      }
    }
  }

  var wake: Wake {
    guard isRunning else { return .never }
    var earliest = Wake.never
    if let deadline = scheduler.deadline {
      earliest = .at(deadline, reason: SessionWakeReason.rtcp.rawValue)
    }
    if let deadline = pacer.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.pacer.rawValue))
    }
    if let deadline = arrivals.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.feedback.rawValue))
    }
    for channel in isFeedbackIdle ? [] : receiving {
      guard let deadline = channel.deadline else { continue }
      let reason = channel.kind == .audio ? SessionWakeReason.nack : .video
      earliest = .earliest(earliest, .at(deadline, reason: reason.rawValue))
    }
    if let deadline = bandwidth?.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.bandwidth.rawValue))
    }
    if let deadline = lipSync.deadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.lipSync.rawValue))
    }
    return earliest
  }
}
