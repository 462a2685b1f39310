internal import CallCore
internal import Codecs
internal import JitterBuffer
internal import RTP
internal import SDP

/// All audio of a session on its one transport: microphone samples to RTP packets, RTP packets to one mixed playout, and
/// the RTCP about both.
struct AudioTransport: ~Copyable {
  enum Outgoing {
    case media(ssrc: UInt32, prefix: UInt64)
    /// RTCP; after it, these sources of ours are no more.
    case control(departed: [UInt32])
  }

  private let configuration: SessionConfiguration
  private let random: RandomSource
  /// Where SSRCs come from.
  private var identifiers: RandomStream
  /// One for each transceiver with a track or a negotiated section, in the order of their making.
  private(set) var channels: [AudioChannel] = []
  private var tracksMade = 0
  private var demultiplexer = RTPDemultiplexer()
  /// Whose each section of the demultiplexer is.
  private var owners: [AudioChannel] = []
  /// Who reports while there is no track; the first track takes its source.
  private var reporter: UInt32
  private var isEnabled = true
  private let mixer = AudioMixer()
  private var scheduler: RTCPScheduler
  /// Sources of ours that ended, for a BYE.
  private var departed: [UInt32] = []
  /// Where the next report begins when one cannot hold all.
  private var reportTurn = 0
  private var isConnected = false
  private var isEnded = false
  private var saysGoodbye = false
  private(set) var malformedControl = 0

  init(configuration: SessionConfiguration, identifiers: consuming RandomStream, random: RandomSource) {
    self.configuration = configuration
    self.random = random
    reporter = UInt32(truncatingIfNeeded: identifiers.next())
    self.identifiers = identifiers
    scheduler = RTCPScheduler(random: random.stream("rtcp"))
  }

  static let midExtension = "urn:ietf:params:rtp-hdrext:sdes:mid"

  static func capabilities(_ audio: AudioSettings) -> MediaCapabilities {
    var parameters: FormatParameters = ["minptime": "10"]
    if audio.inBandFEC { parameters["useinbandfec"] = "1" }
    if audio.dtx { parameters["usedtx"] = "1" }
    if audio.constantBitrate { parameters["cbr"] = "1" }
    let opus = CodecCapability(
      "opus", clockRate: 48_000, channels: 2, parameters: parameters, feedback: audio.nack ? [.nack] : [],
      preferredPayloadType: 111)
    return MediaCapabilities(codecs: [opus], headerExtensions: [midExtension])
  }

  var midExtensionID: UInt8? { demultiplexer.midExtensionID }

  // MARK: Tracks

  /// A new track, to be set on a transceiver.
  mutating func makeTrack() -> AudioChannel.Track {
    let number = tracksMade
    tracksMade += 1
    let name = number == 0 ? "\(configuration.cname)-audio" : "\(configuration.cname)-audio-\(number + 1)"
    return AudioChannel.Track(
      number: number,
      sender: Transceiver.Sender(
        trackID: name, streamIDs: [configuration.cname], cname: configuration.cname,
        ssrc: number == 0 ? reporter : newSource()))
  }

  /// A source nobody in the session has (RFC 3550 section 8.1).
  private mutating func newSource() -> UInt32 {
    while true {
      let ssrc = UInt32(truncatingIfNeeded: identifiers.next())
      let isTaken =
        ssrc == reporter || demultiplexer.section(ofSource: ssrc) != nil
        || channels.contains { $0.track?.sender.ssrc == ssrc }
      if !isTaken { return ssrc }
    }
  }

  mutating func setTrack(_ track: AudioChannel.Track, of transceiver: Transceiver.ID, at now: Instant) {
    channel(of: transceiver).setTrack(track)
    startReporting(at: now)
  }

  /// The far side has announced a track, which is muted until its first packet.
  mutating func announce(_ transceiver: Transceiver.ID, mid: String) {
    let channel = channel(of: transceiver)
    channel.mid = mid
    channel.isAnnounced = true
    channel.isMuted = true
  }

  /// Ends what is sent, at once and for good.
  mutating func removeTrack(of transceiver: Transceiver.ID) {
    guard let channel = channels.first(where: { $0.transceiver == transceiver }) else { return }
    end(channel)
  }

  /// Ends both ways, at once and for good.
  mutating func stop(_ transceiver: Transceiver.ID) {
    guard let channel = channels.first(where: { $0.transceiver == transceiver }) else { return }
    end(channel)
    channel.stop()
  }

  private mutating func end(_ channel: AudioChannel) {
    let source = channel.track?.sender.ssrc
    if let ended = channel.removeTrack() { departed.append(ended) }
    // Who has said goodbye must not speak again.
    if source == reporter { reporter = newSource() }
  }

  mutating func setEnabled(_ enabled: Bool, of transceiver: Transceiver.ID?) {
    if transceiver == nil { isEnabled = enabled }
    for channel in channels where transceiver == nil || channel.transceiver == transceiver {
      channel.isEnabled = enabled
    }
  }

  private mutating func channel(of transceiver: Transceiver.ID) -> AudioChannel {
    if let known = channels.first(where: { $0.transceiver == transceiver }) { return known }
    let made = AudioChannel(transceiver, configuration: configuration, isEnabled: isEnabled)
    channels.append(made)
    return made
  }

  // MARK: Negotiation

  /// Takes what a negotiation came to, of the transceivers there are.
  mutating func apply(_ media: [NegotiatedMedia], of transceivers: [Transceiver], at now: Instant) {
    let audio = media.filter { $0.kind == .audio }
    let mids = audio.flatMap(\.headerExtensions).filter { $0.uri == Self.midExtension }
    demultiplexer.midExtensionID = mids.first { $0.direction?.receives ?? true }.flatMap { UInt8(exactly: $0.id) }
    let sentMID = mids.first { $0.direction?.sends ?? true }.flatMap { UInt8(exactly: $0.id) }
    forgetAll(but: transceivers)
    for section in audio { _ = channel(of: section.transceiver) }
    for channel in channels {
      channel.apply(
        audio.first { $0.transceiver == channel.transceiver }, midExtensionID: sentMID, random: random)
    }
    let heard = audio.filter(\.direction.receives)
    owners = []
    for section in heard { owners.append(channel(of: section.transceiver)) }
    demultiplexer.setSections(
      heard.map { section in
        RTPDemultiplexer.Section(
          mid: Array(section.mid.utf8), payloadTypes: section.receiveCodecs.map(\.payloadType),
          sources: section.remoteSources.map(\.ssrc))
      })
    startReporting(at: now)
  }

  /// Ends the channels of transceivers that are gone.
  mutating func forgetAll(but transceivers: [Transceiver]) {
    for channel in channels where !transceivers.contains(where: { $0.id == channel.transceiver }) { end(channel) }
    channels.removeAll { channel in !transceivers.contains { $0.id == channel.transceiver } }
  }

  /// The transport is up.
  mutating func start(at now: Instant) {
    isConnected = true
    startReporting(at: now)
  }

  private mutating func startReporting(at now: Instant) {
    if isConnected, !channels.isEmpty { scheduler.start(at: now) }
  }

  private var isRunning: Bool { isConnected && !isEnded && !channels.isEmpty }

  /// Nothing more is sent but, when it makes sense, a BYE.
  mutating func end(saysGoodbye: Bool) {
    self.saysGoodbye = saysGoodbye && hasSent
    isEnded = true
    for channel in channels { channel.send?.dropPending() }
  }

  private var hasSent: Bool { channels.contains { $0.send?.hasSent ?? false } }

  // MARK: Samples

  /// - Parameter transceiver: whose track it is; nil for every one.
  mutating func record(_ samples: Span<Int16>, for transceiver: Transceiver.ID?) {
    guard isRunning else { return }
    for channel in channels where transceiver == nil || channel.transceiver == transceiver {
      channel.record(samples)
    }
  }

  mutating func record(_ level: AudioLevel, duration: Interval, for transceiver: Transceiver.ID?) {
    guard isRunning else { return }
    for channel in channels where transceiver == nil || channel.transceiver == transceiver {
      channel.record(level, duration: duration)
    }
  }

  /// Plays all that is received at once.
  mutating func play(_ count: Int, into output: inout OutputSpan<Int16>, at now: Instant) -> AudioLevel? {
    mixer.begin()
    for channel in channels {
      guard let stream = channel.receive else { continue }
      mixer.add(into: &output) { stream.play(count, into: &$0, at: now) }
    }
    return mixer.level(of: output)
  }

  /// Throws away what is due while nothing can be sent, so that it is never waited for.
  mutating func dropPending(at now: Instant) {
    for channel in channels {
      channel.send?.dropPending()
      channel.receive?.postponeNACK(at: now)
    }
    if scheduler.isDue(at: now) { scheduler.sentReport(byteCount: 0, at: now) }
  }

  // MARK: Out

  /// Writes the next packet: RTCP when due, then for each track audio and retransmissions.
  mutating func next(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Outgoing? {
    if isEnded {
      guard saysGoodbye else { return nil }
      saysGoodbye = false
      for channel in channels where channel.send?.hasSent ?? false {
        if let source = channel.track?.sender.ssrc { departed.append(source) }
      }
      return writeReport(into: &buffer, at: now)
    }
    guard isConnected else { return nil }
    if scheduler.isDue(at: now) {
      let report = writeReport(into: &buffer, at: now)
      scheduler.sentReport(byteCount: buffer.count, at: now)
      for channel in channels { channel.send?.endReportInterval() }
      if let report { return report }
      buffer.removeAll()
    }
    if !departed.isEmpty, let report = writeReport(into: &buffer, at: now) {
      scheduler.note(byteCount: buffer.count)
      return report
    }
    for channel in channels {
      if let nack = takeNACK(for: channel, at: now), write(nack, of: channel, into: &buffer, at: now) {
        scheduler.note(byteCount: buffer.count)
        return .control(departed: [])
      }
    }
    for channel in channels {
      guard let stream = channel.send else { continue }
      if !stream.isActive {
        stream.dropPending()
      } else if let prefix = stream.next(into: &buffer, at: now) {
        return .media(ssrc: stream.rtp.ssrc, prefix: prefix)
      }
    }
    return nil
  }

  private func takeNACK(for channel: AudioChannel, at now: Instant) -> GenericNACK? {
    channel.receive?.takeNACK(from: reportingSource, roundTrip: roundTrip, at: now)
  }

  /// Writes a NACK, alone where that was negotiated (RFC 5506 section 4.1), and else in a minimal compound (RFC 4585
  /// section 3.1).
  private func write(
    _ nack: GenericNACK, of channel: AudioChannel, into buffer: inout OutputSpan<UInt8>, at now: Instant
  ) -> Bool {
    if !channel.usesReducedSizeRTCP {
      let clock = configuration.wallClock
      let report = channels.lazy.compactMap { $0.send?.senderReport(clock: clock, at: now) }.first
      let source = report?.ssrc ?? reportingSource
      let first = report.map(RTCPPacket.senderReport) ?? .receiverReport(ReceiverReport(ssrc: source))
      let name = Array(configuration.cname.utf8.prefix(255))
      guard first.write(into: &buffer),
        RTCPPacket.sourceDescription([SourceDescription(ssrc: source, canonicalName: name)]).write(into: &buffer)
      else { return false }
    }
    return RTCPPacket.genericNACK(nack).write(into: &buffer)
  }

  private var roundTrip: Interval? { channels.lazy.compactMap { $0.send?.roundTrip }.first }

  /// A track's source, for that is what the far side knows us by.
  private var reportingSource: UInt32 { channels.lazy.compactMap { $0.track?.sender.ssrc }.first ?? reporter }

  // MARK: Reports

  /// What a report may take of a datagram, before protection.
  private static let reportSize = 1_100

  /// Writes a compound of all our senders under one name, with a block for each source heard, and a BYE for those that
  /// ended. What does not fit has its turn in the next.
  private mutating func writeReport(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Outgoing? {
    let order = channels.indices.map { channels[($0 + reportTurn) % channels.count] }
    var blocks: [ReportBlock] = []
    for channel in order { channel.receive?.takeReportBlocks(into: &blocks, at: now) }
    var reports = order.compactMap { $0.send?.senderReport(clock: configuration.wallClock, at: now) }
    let name = Array(configuration.cname.utf8.prefix(255))
    let room = max(1, (Self.reportSize - 24 * blocks.count) / (28 + 12 + name.count))
    let isFull = reports.count > room || blocks.count == RTCPPacket.maximumCount
    reports.removeLast(max(0, reports.count - room))
    reportTurn = isFull ? reportTurn + 1 : 0

    let reporters = reports.isEmpty ? [reportingSource] : reports.map(\.ssrc)
    if reports.isEmpty {
      guard RTCPPacket.receiverReport(ReceiverReport(ssrc: reporters[0], blocks: blocks)).write(into: &buffer) else {
        return nil
      }
    } else {
      reports[0].blocks = blocks
    }
    for report in reports { guard RTCPPacket.senderReport(report).write(into: &buffer) else { return nil } }
    let names = reporters.map { SourceDescription(ssrc: $0, canonicalName: name) }
    guard RTCPPacket.sourceDescription(names).write(into: &buffer) else { return nil }
    let gone = Array(departed.prefix(RTCPPacket.maximumCount))
    guard gone.isEmpty || RTCPPacket.goodbye(Goodbye(sources: gone)).write(into: &buffer) else { return nil }
    departed.removeFirst(gone.count)
    return .control(departed: gone)
  }

  // MARK: In

  /// - Returns: why the packet is of no use; nil when it was taken.
  mutating func receiveRTP(
    _ packet: RawSpan, ecn: ECN, at now: Instant, events: inout FIFO<SessionEvent>
  ) -> StaticString? {
    guard let parsed = RTPPacket(parsing: packet) else { return "rtp-malformed" }
    guard !owners.isEmpty else { return "rtp-unexpected" }
    guard let section = demultiplexer.section(of: parsed, in: packet) else { return "rtp-unknown-source" }
    let channel = owners[section]
    guard let stream = channel.receive else { return "rtp-unexpected" }
    if !stream.knows(parsed.header.ssrc) { bring(parsed.header.ssrc, to: stream) }
    guard let isNews = stream.receive(parsed, in: packet, ecn: ecn, at: now) else {
      return "rtp-unknown-payload-type"
    }
    events.append(.mediaReceived(ssrc: parsed.header.ssrc, byteCount: packet.byteCount))
    // Between a hold's offer and its answer packets still come, of a track that is over.
    if channel.isMuted, channel.isAnnounced, isNews, let mid = channel.mid {
      channel.isMuted = false
      events.append(.unmute(mid: mid))
    }
    return nil
  }

  /// A source that its MID has moved to another section takes its numbers and counts along.
  private func bring(_ ssrc: UInt32, to stream: AudioReceiveStream) {
    for channel in channels {
      guard let other = channel.receive, other !== stream, let source = other.release(ssrc) else { continue }
      stream.adopt(source)
      return
    }
  }

  /// - Returns: why the packet, or a part of it, is of no use; nil when it was taken.
  mutating func receiveRTCP(
    _ compound: RawSpan, at now: Instant, events: inout FIFO<SessionEvent>
  ) -> StaticString? {
    var reader = RTCPReader()
    scheduler.note(byteCount: compound.byteCount)
    while let packet = reader.next(in: compound) {
      switch packet {
      case .senderReport(let report):
        for channel in channels { channel.receive?.receive(report, at: now) }
        take(report.blocks, at: now)
      case .receiverReport(let report): take(report.blocks, at: now)
      case .genericNACK(let nack):
        for channel in channels { channel.send?.receive(nack) }
      case .goodbye(let goodbye):
        for source in goodbye.sources { depart(source, events: &events) }
      case .sourceDescription, .pictureLossIndication, .fullIntraRequest, .extendedReport, .unknown: break
      }
    }
    malformedControl += reader.malformedCount
    return reader.malformedCount > 0 ? "rtcp-malformed" : nil
  }

  private func take(_ blocks: [ReportBlock], at now: Instant) {
    for block in blocks {
      for channel in channels { channel.send?.receive(block, clock: configuration.wallClock, at: now) }
    }
  }

  private func depart(_ source: UInt32, events: inout FIFO<SessionEvent>) {
    events.append(.remoteBye(ssrc: source))
    for channel in channels where channel.receive?.depart(source) ?? false {
      if !channel.isMuted, let mid = channel.mid {
        channel.isMuted = true
        events.append(.mute(mid: mid))
      }
      channel.forgetWhatIsOver()
    }
  }

  // MARK: Time

  var wake: Wake {
    guard isRunning else { return .never }
    var earliest = Wake.never
    if let deadline = scheduler.deadline {
      earliest = .at(deadline, reason: SessionWakeReason.rtcp.rawValue)
    }
    for channel in channels {
      guard let deadline = channel.receive?.nackDeadline else { continue }
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.nack.rawValue))
    }
    return earliest
  }
}
