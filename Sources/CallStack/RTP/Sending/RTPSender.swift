package import CallCore

/// The sender of one RTP stream: numbering, counters, sender reports, retransmission, and the remote side's reports.
package struct RTPSender: ~Copyable {
  package struct Settings: Hashable, Sendable {
    package var payloadType: UInt8
    package var clockRate: UInt32
    /// Whether packets are kept for NACKs, because generic NACK was negotiated.
    package var keepsHistory = false
    /// The maximum number of requested packets in the queue; further ones are ignored.
    package var retransmissionQueueLimit = 64
    /// The initial sequence number and timestamp, to provoke wrap-around; nil for random ones.
    package var initialSequenceNumber: UInt16?
    package var initialTimestamp: UInt32?

    package init(payloadType: UInt8, clockRate: UInt32) {
      self.payloadType = payloadType
      self.clockRate = clockRate
    }
  }

  package let ssrc: UInt32
  package private(set) var settings: Settings
  package private(set) var outbound = OutboundRTPStatistics()
  package private(set) var remoteInbound = RemoteInboundRTPStatistics()
  /// The number of the next packet.
  package private(set) var nextSequenceNumber: UInt16
  private let timestampOffset: UInt32
  private var lastPacket: (timestamp: UInt32, captured: Instant)?
  private var history = PacketHistory()
  /// The requested sequence numbers that are not yet being sent.
  private var requested: [UInt16] = []
  /// The number of packets sent at the time of the last report and of the one before it.
  private var packetsAtReports: (last: Int64, before: Int64) = (0, 0)

  /// Returns the RTP timestamp of a position on the media clock.
  package func timestamp(of mediaTime: UInt32) -> UInt32 { timestampOffset &+ mediaTime }

  /// Makes a sender.
  ///
  /// - Parameter random: the source of the initial sequence number and timestamp (RFC 3550 section 5.1). The number is
  ///   below 2¹⁵, so that a loss of the first packets cannot make SRTP guess the wrong rollover counter.
  package init(ssrc: UInt32, settings: Settings, random: consuming RandomStream) {
    self.ssrc = ssrc
    self.settings = settings
    let sequence = UInt16(random.uniform(below: Defect.firstSequenceAnywhere.isPlanted ? 1 << 16 : 1 << 15))
    let timestamp = UInt32(truncatingIfNeeded: random.next())
    nextSequenceNumber = settings.initialSequenceNumber ?? sequence
    timestampOffset = settings.initialTimestamp ?? timestamp
  }

  /// Changes the payload type, after renegotiation.
  package mutating func setPayloadType(_ payloadType: UInt8) { settings.payloadType = payloadType & 0x7F }

  /// Changes the rate of the media clock, after renegotiation. The owner keeps positions on it continuous (RFC 7160).
  package mutating func setClockRate(_ clockRate: UInt32) { settings.clockRate = clockRate }

  /// Enables or disables keeping packets for NACKs, after renegotiation.
  package mutating func setKeepsHistory(_ keeps: Bool) {
    guard keeps != settings.keepsHistory else { return }
    settings.keepsHistory = keeps
    history = PacketHistory()
    requested = []
  }

  /// Whether a packet was sent since the report before the last; without one, a participant reports as a receiver (RFC
  /// 3550 section 6.4).
  package var hasSentLately: Bool { outbound.packetsSent > packetsAtReports.before }

  /// Notes that a regular report was sent.
  package mutating func endReportInterval() { packetsAtReports = (outbound.packetsSent, packetsAtReports.last) }

  /// Writes the next packet and uses its sequence number. It is counted when it is sent, see ``departed(_:_:at:)``.
  ///
  /// - Parameters:
  ///   - mediaTime: the position of the payload's first sample on the media clock, counted from zero.
  ///   - payloadType: the payload type of a helper format; nil for the stream's own.
  /// - Returns: the packet's header, or nil, with nothing written or used, when it does not fit.
  package mutating func packetize(
    payload: RawSpan, mediaTime: UInt32, payloadType: UInt8? = nil, marker: Bool = false,
    extensions: RTPHeaderExtensions = RTPHeaderExtensions(), into output: inout OutputSpan<UInt8>
  ) -> RTPHeader? {
    let size = RTPHeader.fixedSize + extensions.encodedSize
    guard output.freeCapacity >= size + payload.byteCount else { return nil }
    let header = RTPHeader(
      payloadType: payloadType ?? settings.payloadType, marker: marker, sequenceNumber: nextSequenceNumber,
      timestamp: timestampOffset &+ mediaTime, ssrc: ssrc)
    guard header.write(into: &output, extensions: extensions) != nil else { return nil }
    output.append(contentsOf: payload)
    nextSequenceNumber &+= 1
    return header
  }

  /// Writes a packet of a forwarded stream with a number and a timestamp of the caller's, who gives no number to two
  /// packets.
  ///
  /// - Returns: the packet's header, or nil, with nothing written, when it does not fit.
  package mutating func packetize(
    payload: RawSpan, sequenceNumber: UInt16, timestamp: UInt32, payloadType: UInt8, marker: Bool,
    extensions: RTPHeaderExtensions, into output: inout OutputSpan<UInt8>
  ) -> RTPHeader? {
    guard output.freeCapacity >= RTPHeader.fixedSize + extensions.encodedSize + payload.byteCount else { return nil }
    let header = RTPHeader(
      payloadType: payloadType, marker: marker, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: ssrc)
    guard header.write(into: &output, extensions: extensions) != nil else { return nil }
    output.append(contentsOf: payload)
    if Int16(bitPattern: sequenceNumber &- nextSequenceNumber) >= 0 { nextSequenceNumber = sequenceNumber &+ 1 }
    return header
  }

  /// Counts a sent packet, and keeps it if it may be requested again.
  ///
  /// - Parameter bytes: the packet as sent, before protection.
  package mutating func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) {
    let (headerSize, payloadSize) = (Int64(packet.headerSize), Int64(bytes.byteCount - packet.headerSize))
    outbound.packetsSent += 1
    // W3C counts padding with the headers.
    guard !packet.isPadding else {
      outbound.headerBytesSent += headerSize + payloadSize
      return
    }
    outbound.bytesSent += payloadSize
    outbound.headerBytesSent += headerSize
    if packet.isRetransmission {
      outbound.retransmittedPacketsSent += 1
      outbound.retransmittedBytesSent += payloadSize
      dropped(packet)
      return
    }
    lastPacket = (packet.header.timestamp, packet.captured)
    guard settings.keepsHistory, !packet.isRepair else { return }
    history.insert(
      bytes, header: packet.header, headerSize: packet.headerSize, captured: packet.captured,
      roundTrip: remoteInbound.roundTripTime, at: now)
  }

  /// Returns a sender report with the given blocks about received streams; nil before the first packet, when the
  /// participant reports as a receiver (RFC 3550 section 6.4).
  package func senderReport(blocks: [ReportBlock] = [], clock: WallClock, at now: Instant) -> SenderReport? {
    guard let lastPacket else { return nil }
    let elapsed = mediaClock(settings.clockRate, at: .zero + (now - lastPacket.captured))
    return SenderReport(
      ssrc: ssrc, ntpTime: NTPTime(clock, at: now), rtpTimestamp: lastPacket.timestamp &+ elapsed,
      packetCount: UInt32(truncatingIfNeeded: outbound.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: outbound.bytesSent), blocks: blocks)
  }

  /// Takes a report block about this stream; blocks about others are ignored.
  package mutating func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
    guard block.ssrc == ssrc else { return }
    remoteInbound.reportsReceived += 1
    remoteInbound.packetsLost = Int64(block.cumulativeLost)
    remoteInbound.fractionLost = Double(block.fractionLost) / 256
    remoteInbound.jitter = Double(block.jitter) / Double(settings.clockRate)
    guard block.lastSenderReport != 0 else { return }
    let elapsed = NTPTime(clock, at: now).middle &- block.lastSenderReport
    let span = elapsed &- block.delaySinceLastSenderReport
    // Rounding can make a short round trip slightly negative; any other negative value is forged or due to a stepped
    // clock.
    guard span < 1 << 31 || 0 &- span <= 66 else { return }
    let roundTrip = max(ShortNTPInterval(rawValue: span < 1 << 31 ? span : 0).interval, .microseconds(1))
    remoteInbound.roundTripTime = roundTrip
    remoteInbound.totalRoundTripTime += roundTrip
    remoteInbound.roundTripTimeMeasurements += 1
  }

  /// Takes a NACK: its packets are queued for ``takeRetransmission(into:at:)``.
  package mutating func receive(_ nack: GenericNACK) {
    guard nack.mediaSSRC == ssrc else { return }
    outbound.nackCount += 1
    guard settings.keepsHistory else { return }
    for number in nack.sequenceNumbers where requested.count < settings.retransmissionQueueLimit {
      if !requested.contains(number) { requested.append(number) }
    }
  }

  /// Writes the next requested packet, or returns nil when there is none.
  ///
  /// It is identical to the original, extensions included: SRTP has one keystream and one nonce for a number (RFC 3711
  /// section 9.1), and two different packets under one nonce of AES-GCM reveal the authentication key. A separate
  /// stream has its own numbers, see ``RetransmissionSender``.
  package mutating func takeRetransmission(into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    guard let packet = takeRequested(fitting: output.freeCapacity, at: now) else { return nil }
    history.copy(packet, into: &output)
    return OutgoingPacket(
      header: packet.header, headerSize: packet.headerSize, isRetransmission: true, captured: packet.captured)
  }

  /// Writes the next requested packet as one of a retransmission stream (RFC 4588) with the given extensions, or
  /// returns nil when there is none.
  package mutating func takeRetransmission(
    on stream: inout RetransmissionSender, extensions: RTPHeaderExtensions, into output: inout OutputSpan<UInt8>,
    at now: Instant
  ) -> OutgoingPacket? {
    let size = RTPHeader.fixedSize + extensions.encodedSize + RTPPacket.originalNumberSize
    guard let packet = takeRequested(fitting: output.freeCapacity - size, at: now) else { return nil }
    // The packet is sent under another number, so this one may be requested again.
    history.release(packet.header.sequenceNumber)
    guard let header = stream.begin(packet.header, extensions: extensions, into: &output) else { return nil }
    history.copy(packet, from: packet.headerSize, into: &output)
    return OutgoingPacket(header: header, headerSize: size, isRetransmission: true, captured: packet.captured)
  }

  /// Forgets the next requested packet; it may be requested again.
  package mutating func refuseRetransmission() {
    if !requested.isEmpty { requested.removeFirst() }
  }

  /// Whether requested packets are not yet being sent.
  package var isAskedAgain: Bool { !requested.isEmpty }

  /// Notes that a written packet will not be sent.
  package mutating func dropped(_ packet: OutgoingPacket) {
    if packet.isRetransmission, packet.header.ssrc == ssrc { history.release(packet.header.sequenceNumber) }
  }

  private mutating func takeRequested(fitting size: Int, at now: Instant) -> PacketHistory.Packet? {
    while !requested.isEmpty {
      let packet = history.take(requested.removeFirst(), roundTrip: remoteInbound.roundTripTime, at: now)
      guard let packet else { continue }
      if packet.byteCount <= size { return packet }
      history.release(packet.header.sequenceNumber)
    }
    return nil
  }
}
