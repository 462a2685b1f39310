package import CallCore

/// The receiver of one RTP stream: reception statistics, report blocks and NACKs of one SSRC.
package struct RTPReceiver: Sendable {
  package struct Settings: Hashable, Sendable {
    package var clockRate: UInt32
    /// The number of packets in sequence before the source is valid; 0 when it is known from signalling or MID.
    package var minimumSequential = 0
    /// The NACK settings; nil when generic NACK was not negotiated.
    package var nack: NACKGenerator.Settings?

    package init(clockRate: UInt32) { self.clockRate = clockRate }
  }

  package let ssrc: UInt32
  package private(set) var settings: Settings
  package private(set) var reception: ReceptionStatistics
  package private(set) var nack: NACKGenerator?
  package private(set) var inbound = InboundRTPStatistics()
  package private(set) var remoteOutbound = RemoteOutboundRTPStatistics()
  /// The payload type of the newest media, and not of what assists it: comfort noise, telephone events, RED and FEC. Streams
  /// note it.
  package var mediaPayloadType: UInt8?
  private var lastReport: (report: SenderReport, arrival: Instant)?
  /// The newest packet whose timestamp is that of its recording.
  private var newest: (timestamp: UInt32, arrival: Instant)?
  /// The number of ignored sender reports that were older than one already received.
  package private(set) var staleSenderReportCount = 0

  package init(ssrc: UInt32, settings: Settings) {
    self.ssrc = ssrc
    self.settings = settings
    reception = ReceptionStatistics(clockRate: settings.clockRate, minimumSequential: settings.minimumSequential)
    nack = settings.nack.map { NACKGenerator(settings: $0) }
  }

  /// Changes the rate of the media clock, with the payload type (RFC 7160). The jitter is kept in seconds.
  package mutating func setClockRate(_ clockRate: UInt32) {
    guard clockRate != settings.clockRate else { return }
    settings.clockRate = clockRate
    reception.setClockRate(clockRate)
  }

  /// Takes one authenticated packet of this source.
  ///
  /// - Parameter isTimed: whether the timestamp is that of its recording, and not of the beginning of an event.
  package mutating func receive(
    _ packet: RTPPacket, isTimed: Bool = true, ecn: ECN = .notECT, at now: Instant
  ) -> ReceptionStatistics.Verdict {
    let sequence = packet.header.sequenceNumber
    let verdict = reception.receive(sequenceNumber: sequence)
    switch verdict {
    case .probation: return verdict
    case .jumped: break
    case .restarted:
      // The packet that jumped has been received too.
      nack?.restart(at: sequence &- 1, now: now)
      nack?.receive(sequenceNumber: sequence, at: now)
      if isTimed { receive(timestamp: packet.header.timestamp, at: now) }
    case .advanced:
      nack?.receive(sequenceNumber: sequence, at: now)
      if isTimed { receive(timestamp: packet.header.timestamp, at: now) }
    case .old: nack?.receive(sequenceNumber: sequence, at: now)
    }
    inbound.packetsReceived += 1
    inbound.bytesReceived += Int64(packet.payloadRange.count)
    inbound.headerBytesReceived += Int64(packet.overhead)
    inbound.lastPacketReceivedTimestamp = now
    if ecn == .ect1 { inbound.packetsReceivedWithEct1 += 1 }
    if ecn == .ce { inbound.packetsReceivedWithCe += 1 }
    inbound.packetsLost = reception.cumulativeLost
    inbound.jitter = Double(reception.jitter) / Double(settings.clockRate)
    return verdict
  }

  private mutating func receive(timestamp: UInt32, at now: Instant) {
    reception.receive(timestamp: timestamp, at: now)
    newest = (timestamp, now)
  }

  /// Takes a sender report.
  ///
  /// A report older than the last in both clocks was reordered and is ignored, because it would corrupt LSR and lip
  /// sync. A wall clock that went back while the media clock advanced is accepted.
  package mutating func receive(_ report: SenderReport, at now: Instant) {
    guard report.ssrc == ssrc else { return }
    if let last = lastReport?.report {
      let isNewerMedia = Int32(bitPattern: report.rtpTimestamp &- last.rtpTimestamp) > 0
      guard report.ntpTime > last.ntpTime || isNewerMedia || Defect.staleSenderReportBelieved.isPlanted else {
        staleSenderReportCount += 1
        return
      }
    }
    lastReport = (report, now)
    remoteOutbound.packetsSent = report.packetCount
    remoteOutbound.bytesSent = report.octetCount
    remoteOutbound.remoteTimestamp = report.ntpTime
    remoteOutbound.reportsSent += 1
  }

  /// The time of silence after which a source is no longer reported, as in libwebrtc.
  private static let reportTimeout = Interval.seconds(8)

  /// Returns the block for the next SR or RR, or nil before the source is valid and once it is silent. Call it once per
  /// report: it ends the interval.
  package mutating func takeReportBlock(at now: Instant) -> ReportBlock? {
    guard reception.isValid, let last = inbound.lastPacketReceivedTimestamp, now - last < Self.reportTimeout else {
      return nil
    }
    let lsr = lastReport?.report.ntpTime.middle ?? 0
    let dlsr = lastReport.map { ShortNTPInterval(now - $0.arrival).rawValue } ?? 0
    let lost = Int32(min(max(reception.cumulativeLost, -0x80_0000), 0x7F_FFFF))
    return ReportBlock(
      ssrc: ssrc, fractionLost: reception.takeFractionLost(), cumulativeLost: lost,
      highestSequenceNumber: reception.highestSequenceNumber, jitter: reception.jitter, lastSenderReport: lsr,
      delaySinceLastSenderReport: dlsr)
  }

  /// Returns the NACK to send now, or nil when nothing is due.
  package mutating func takeNACK(from senderSSRC: UInt32, roundTrip: Interval?, at now: Instant) -> GenericNACK? {
    guard let deadline = nack?.deadline, now >= deadline else { return nil }
    nack?.roundTrip = roundTrip
    var numbers: [UInt16] = []
    nack?.takeDue(at: now, into: &numbers)
    guard !numbers.isEmpty else { return nil }
    inbound.nackCount += 1
    return GenericNACK(senderSSRC: senderSSRC, mediaSSRC: ssrc, sequenceNumbers: numbers)
  }

  /// Enables or disables requests for lost packets.
  package mutating func setNACK(_ settings: NACKGenerator.Settings?) {
    if (nack == nil) != (settings == nil) { nack = settings.map { NACKGenerator(settings: $0) } }
  }

  /// Postpones a due NACK while nothing can be sent.
  package mutating func postponeNACK(at now: Instant) { nack?.postponeDue(at: now) }

  /// The time at which ``takeNACK(from:roundTrip:at:)`` next returns a NACK, or nil.
  package var nackDeadline: Instant? { nack?.deadline }

  /// The newest packet by both clocks; nil while its capture time is unknown.
  package var newestCapture: (captured: NTPTime, arrival: Instant)? {
    guard let newest, let captured = captureTime(of: newest.timestamp) else { return nil }
    return (captured, newest.arrival)
  }

  /// Returns the sender's wall clock now for media that was played at a time, in milliseconds since 1970 (W3C
  /// `estimatedPlayoutTimestamp`); nil while that is unknown.
  package func playoutTime(of played: (timestamp: UInt32, at: Instant)?, at now: Instant) -> Double? {
    guard let played, let captured = captureTime(of: played.timestamp)?.unixMilliseconds else { return nil }
    return captured + (now - played.at).seconds * 1_000
  }

  /// Returns the sender's wall clock at a media timestamp, by its last report; nil before one, or when it has no wall
  /// clock.
  package func captureTime(of timestamp: UInt32) -> NTPTime? {
    guard let report = lastReport?.report, report.ntpTime.isSet else { return nil }
    let ticks = Int64(Int32(bitPattern: timestamp &- report.rtpTimestamp))
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(settings.clockRate))
    let offset = (seconds << 32) &+ (rest << 32) / Int64(settings.clockRate)
    return NTPTime(rawValue: report.ntpTime.rawValue &+ UInt64(bitPattern: offset))
  }
}
