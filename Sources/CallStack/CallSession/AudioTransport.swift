internal import CallCore
internal import Codecs
internal import JitterBuffer
internal import RTP
internal import SDP

/// One audio stream each way: microphone samples to RTP packets, RTP packets to playout, and the RTCP about both.
struct AudioTransport: ~Copyable {
  enum Outgoing {
    case media(ssrc: UInt32, prefix: UInt64)
    case control
  }

  enum Incoming {
    case media(ssrc: UInt32)
    case control
    case goodbye(ssrc: UInt32)
    case discarded(StaticString)
  }

  private let configuration: SessionConfiguration
  private let ssrc: UInt32
  private let random: RandomSource
  var isAdded = false
  var isEnabled = true

  private(set) var send: AudioSendStream?
  private(set) var receive: AudioReceiveStream?
  private var scheduler: RTCPScheduler
  private var isRunning = false
  private var saysGoodbye = false
  private var isEnded = false
  private(set) var malformedControl = 0

  init(configuration: SessionConfiguration, ssrc: UInt32, random: RandomSource) {
    self.configuration = configuration
    self.ssrc = ssrc
    self.random = random
    scheduler = RTCPScheduler(random: random.stream("rtcp"))
  }

  static func capabilities(_ audio: AudioSettings) -> MediaCapabilities {
    var parameters: FormatParameters = ["minptime": "10"]
    if audio.inBandFEC { parameters["useinbandfec"] = "1" }
    if audio.dtx { parameters["usedtx"] = "1" }
    if audio.constantBitrate { parameters["cbr"] = "1" }
    let opus = CodecCapability(
      "opus", clockRate: 48_000, channels: 2, parameters: parameters, feedback: audio.nack ? [.nack] : [],
      preferredPayloadType: 111)
    return MediaCapabilities(codecs: [opus])
  }

  /// What our offers and answers announce.
  var sender: Transceiver.Sender {
    Transceiver.Sender(
      trackID: "\(configuration.cname)-audio", streamIDs: [configuration.cname], cname: configuration.cname, ssrc: ssrc)
  }

  // MARK: Negotiation

  /// Takes what a negotiation came to; nil when audio was rejected. Streams outlive a hold, with their numbers and counts.
  mutating func apply(_ media: NegotiatedMedia?) {
    let codec = media.flatMap { $0.direction.sends ? $0.sendCodecs.first : nil }
    send?.isActive = codec != nil
    if let codec {
      if send == nil {
        send = AudioSendStream(
          settings: configuration.audio, media: configuration.media, codec: codec, ssrc: ssrc,
          random: random.stream("rtp"))
      } else {
        send?.update(codec: codec)
      }
    }
    let types = media.flatMap { $0.direction.receives ? $0.receiveCodecs : nil } ?? []
    if receive == nil, let first = types.first {
      receive = AudioReceiveStream(
        media: configuration.media, settings: configuration.audio, usesNACK: first.feedback.contains(.nack))
    }
    receive?.payloadTypes = types.map(\.payloadType)
  }

  /// The transport is up: reports begin.
  mutating func start(at now: Instant) {
    guard !isRunning, isAdded || send != nil || receive != nil else { return }
    isRunning = true
    scheduler.start(at: now)
  }

  /// Nothing more is sent but, when it makes sense, a BYE.
  mutating func end(saysGoodbye: Bool) {
    isEnded = true
    self.saysGoodbye = saysGoodbye && send?.hasSent == true
    send?.dropPending()
  }

  var hasSent: Bool { send?.hasSent ?? false }

  // MARK: Samples

  mutating func record(_ samples: Span<Int16>) {
    guard isRunning, !isEnded else { return }
    send?.append(samples, isEnabled: isEnabled)
  }

  mutating func record(_ level: AudioLevel, duration: Interval) {
    guard isRunning, !isEnded else { return }
    send?.append(isEnabled ? level : .silence, duration: duration)
  }

  mutating func play(_ count: Int, into output: inout OutputSpan<Int16>, at now: Instant) -> AudioLevel? {
    receive?.play(count, into: &output, at: now)
  }

  /// Throws away what is due while nothing can be sent, so that it is never waited for.
  mutating func dropPending(at now: Instant) {
    send?.dropPending()
    if scheduler.isDue(at: now) { scheduler.sentReport(byteCount: 0, at: now) }
    _ = receive?.takeNACK(from: ssrc, roundTrip: send?.roundTrip, at: now)
  }

  // MARK: Out

  /// Writes the next packet: RTCP when due, audio, then retransmissions.
  mutating func next(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Outgoing? {
    if isEnded {
      guard saysGoodbye else { return nil }
      saysGoodbye = false
      return writeReport(into: &buffer, goodbye: true, at: now) ? .control : nil
    }
    if isRunning, scheduler.isDue(at: now) {
      let isWritten = writeReport(into: &buffer, goodbye: false, at: now)
      scheduler.sentReport(byteCount: buffer.count, at: now)
      if isWritten { return .control }
      buffer.removeAll()
    }
    if let nack = receive?.takeNACK(from: ssrc, roundTrip: send?.roundTrip, at: now),
      RTCPPacket.genericNACK(nack).write(into: &buffer)
    {
      scheduler.note(byteCount: buffer.count)
      return .control
    }
    if let send, !send.isActive {
      send.dropPending()
      return nil
    }
    if let prefix = send?.next(into: &buffer, at: now) { return .media(ssrc: ssrc, prefix: prefix) }
    return nil
  }

  private mutating func writeReport(into buffer: inout OutputSpan<UInt8>, goodbye: Bool, at now: Instant) -> Bool {
    let blocks = receive?.takeReportBlock(at: now).map { [$0] } ?? []
    let report =
      send?.senderReport(blocks: blocks, clock: configuration.wallClock, at: now).map(RTCPPacket.senderReport)
      ?? .receiverReport(ReceiverReport(ssrc: ssrc, blocks: blocks))
    let name = SourceDescription(ssrc: ssrc, canonicalName: Array(configuration.cname.utf8))
    guard report.write(into: &buffer), RTCPPacket.sourceDescription([name]).write(into: &buffer) else { return false }
    return !goodbye || RTCPPacket.goodbye(Goodbye(sources: [ssrc])).write(into: &buffer)
  }

  // MARK: In

  mutating func receiveRTP(_ packet: RawSpan, ecn: ECN, at now: Instant) -> Incoming {
    guard let parsed = RTPPacket(parsing: packet) else { return .discarded("rtp-malformed") }
    guard let receive, !receive.payloadTypes.isEmpty else { return .discarded("rtp-unexpected") }
    guard receive.receive(parsed, in: packet, ecn: ecn, at: now) else {
      return .discarded("rtp-unknown-payload-type")
    }
    return .media(ssrc: parsed.header.ssrc)
  }

  mutating func receiveRTCP(_ compound: RawSpan, at now: Instant) -> Incoming {
    var reader = RTCPReader()
    var result = Incoming.control
    scheduler.note(byteCount: compound.byteCount)
    while let packet = reader.next(in: compound) {
      switch packet {
      case .senderReport(let report):
        receive?.receive(report, at: now)
        for block in report.blocks { send?.receive(block, clock: configuration.wallClock, at: now) }
      case .receiverReport(let report):
        for block in report.blocks { send?.receive(block, clock: configuration.wallClock, at: now) }
      case .genericNACK(let nack): send?.receive(nack)
      case .goodbye(let goodbye):
        if let source = goodbye.sources.first { result = .goodbye(ssrc: source) }
      case .sourceDescription, .pictureLossIndication, .fullIntraRequest, .extendedReport, .unknown: break
      }
    }
    malformedControl += reader.malformedCount
    return reader.malformedCount > 0 ? .discarded("rtcp-malformed") : result
  }

  var wake: Wake {
    guard isRunning, !isEnded else { return .never }
    var earliest = Wake.never
    if let deadline = scheduler.deadline {
      earliest = .at(deadline, reason: SessionWakeReason.rtcp.rawValue)
    }
    if let deadline = receive?.nackDeadline {
      earliest = .earliest(earliest, .at(deadline, reason: SessionWakeReason.nack.rawValue))
    }
    return earliest
  }
}

/// What the sending side counts.
struct AudioSendStatistics {
  let ssrc: UInt32
  let outbound: OutboundRTPStatistics
  let remoteInbound: RemoteInboundRTPStatistics
}

/// What the receiving side counts, once something has come.
struct AudioReceiveStatistics {
  let ssrc: UInt32
  let inbound: InboundRTPStatistics
  let remoteOutbound: RemoteOutboundRTPStatistics
  let playout: AudioJitterBufferStatistics
}

extension AudioTransport {
  var sendStatistics: AudioSendStatistics? {
    guard let outbound = send?.rtp.outbound, let remote = send?.rtp.remoteInbound else { return nil }
    return AudioSendStatistics(ssrc: ssrc, outbound: outbound, remoteInbound: remote)
  }

  var receiveStatistics: AudioReceiveStatistics? {
    guard let receiver = receive?.rtp, let playout = receive?.jitterBuffer.statistics else { return nil }
    return AudioReceiveStatistics(
      ssrc: receiver.ssrc, inbound: receiver.inbound, remoteOutbound: receiver.remoteOutbound, playout: playout)
  }
}
