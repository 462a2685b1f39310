package import CallCore

/// The sending end of one RTP stream: numbering, counting, sender reports, retransmission, and what the other side
/// reports back.
package struct RTPSender: ~Copyable {
  package struct Settings: Hashable, Sendable {
    package var payloadType: UInt8
    package var clockRate: UInt32
    /// Whether packets are kept for NACKs: generic NACK was negotiated.
    package var keepsHistory = false
    /// NACKed packets waiting to leave at most; further ones are ignored.
    package var retransmissionQueueLimit = 64
    /// Fixed starting points, for provoking wrap-around; nil draws them.
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
  private var nextSequenceNumber: UInt16
  private let timestampOffset: UInt32
  private var lastPacket: (timestamp: UInt32, captured: Instant)?
  private var history = PacketHistory()
  /// Numbers that were asked for and are not on their way yet.
  private var requested: [UInt16] = []
  /// Packets sent when the last report and the one before it left.
  private var packetsAtReports: (last: Int64, before: Int64) = (0, 0)

  /// The RTP timestamp of a position on the media clock.
  package func timestamp(of mediaTime: UInt32) -> UInt32 { timestampOffset &+ mediaTime }

  /// - Parameter random: draws the starting sequence number and timestamp (RFC 3550 section 5.1). The number is below
  ///   2¹⁵, so that a loss of the first packets cannot make SRTP guess the wrong rollover counter.
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

  /// Keeps packets for NACKs from now on, or none, after renegotiation.
  package mutating func setKeepsHistory(_ keeps: Bool) {
    guard keeps != settings.keepsHistory else { return }
    settings.keepsHistory = keeps
    history = PacketHistory()
    requested = []
  }

  /// Whether a packet left since the report before the last: who sends nothing reports as a receiver (RFC 3550
  /// section 6.4).
  package var hasSentLately: Bool { outbound.packetsSent > packetsAtReports.before }

  /// Notes that a regular report left.
  package mutating func endReportInterval() { packetsAtReports = (outbound.packetsSent, packetsAtReports.last) }

  /// Writes the next packet and uses up its number. It is counted when it leaves, see ``departed(_:_:at:)``.
  ///
  /// - Parameters:
  ///   - mediaTime: the position of the payload's first sample on the media clock, counted from zero.
  /// - Returns: the packet's header, or nil, with nothing written or used up, when it does not fit.
  package mutating func packetize(
    payload: RawSpan, mediaTime: UInt32, marker: Bool = false,
    extensions: RTPHeaderExtensions = RTPHeaderExtensions(), into output: inout OutputSpan<UInt8>
  ) -> RTPHeader? {
    let size = RTPHeader.fixedSize + extensions.encodedSize
    guard output.freeCapacity >= size + payload.byteCount else { return nil }
    let header = RTPHeader(
      payloadType: settings.payloadType, marker: marker, sequenceNumber: nextSequenceNumber,
      timestamp: timestampOffset &+ mediaTime, ssrc: ssrc)
    guard header.write(into: &output, extensions: extensions) != nil else { return nil }
    output.append(contentsOf: payload)
    nextSequenceNumber &+= 1
    return header
  }

  /// Counts a packet that leaves, and keeps it when it may be asked for again.
  ///
  /// - Parameter bytes: the packet as it leaves, before protection.
  package mutating func departed(_ packet: OutgoingPacket, _ bytes: RawSpan, at now: Instant) {
    let (headerSize, payloadSize) = (Int64(packet.headerSize), Int64(bytes.byteCount - packet.headerSize))
    outbound.packetsSent += 1
    outbound.bytesSent += payloadSize
    outbound.headerBytesSent += headerSize
    if packet.isRetransmission {
      outbound.retransmittedPacketsSent += 1
      outbound.retransmittedBytesSent += payloadSize
      dropped(packet)
      return
    }
    lastPacket = (packet.header.timestamp, packet.captured)
    guard settings.keepsHistory else { return }
    history.insert(
      bytes, header: packet.header, headerSize: packet.headerSize, captured: packet.captured,
      roundTrip: remoteInbound.roundTripTime, at: now)
  }

  /// The next report on this stream, with the blocks about streams received; nil before the first packet, when the
  /// participant reports as a receiver (RFC 3550 section 6.4).
  package func senderReport(blocks: [ReportBlock] = [], clock: WallClock, at now: Instant) -> SenderReport? {
    guard let lastPacket else { return nil }
    let elapsed = mediaClock(settings.clockRate, at: .zero + (now - lastPacket.captured))
    return SenderReport(
      ssrc: ssrc, ntpTime: NTPTime(clock, at: now), rtpTimestamp: lastPacket.timestamp &+ elapsed,
      packetCount: UInt32(truncatingIfNeeded: outbound.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: outbound.bytesSent), blocks: blocks)
  }

  /// Takes a report block about this stream. Blocks about others are ignored.
  package mutating func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
    guard block.ssrc == ssrc else { return }
    remoteInbound.reportsReceived += 1
    remoteInbound.packetsLost = Int64(block.cumulativeLost)
    remoteInbound.fractionLost = Double(block.fractionLost) / 256
    remoteInbound.jitter = Double(block.jitter) / Double(settings.clockRate)
    guard block.lastSenderReport != 0 else { return }
    let elapsed = NTPTime(clock, at: now).middle &- block.lastSenderReport
    let span = elapsed &- block.delaySinceLastSenderReport
    // Rounding can make a short trip a hair negative; anything else negative is a lie or a stepped clock.
    guard span < 1 << 31 || 0 &- span <= 66 else { return }
    let roundTrip = max(ShortNTPInterval(rawValue: span < 1 << 31 ? span : 0).interval, .microseconds(1))
    remoteInbound.roundTripTime = roundTrip
    remoteInbound.totalRoundTripTime += roundTrip
    remoteInbound.roundTripTimeMeasurements += 1
  }

  /// Takes a NACK: its packets wait until ``takeRetransmission(into:at:)`` writes them.
  package mutating func receive(_ nack: GenericNACK) {
    guard nack.mediaSSRC == ssrc else { return }
    outbound.nackCount += 1
    guard settings.keepsHistory else { return }
    for number in nack.sequenceNumbers where requested.count < settings.retransmissionQueueLimit {
      if !requested.contains(number) { requested.append(number) }
    }
  }

  /// Writes the next packet asked for again, or returns nil when there is none.
  ///
  /// It is the packet as it first left, extensions and all: SRTP has one keystream and one nonce for a number (RFC 3711
  /// section 9.1), and two different packets under one nonce of AES-GCM reveal the key that authenticates. A stream of its
  /// own has numbers of its own, see ``RetransmissionSender``.
  package mutating func takeRetransmission(into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket? {
    guard let packet = takeRequested(fitting: output.freeCapacity, at: now) else { return nil }
    history.copy(packet, into: &output)
    return OutgoingPacket(
      header: packet.header, headerSize: packet.headerSize, isRetransmission: true, captured: packet.captured)
  }

  /// Writes the next packet asked for again as one of a retransmission stream (RFC 4588), with the extensions that it is to
  /// have there, or returns nil when there is none.
  package mutating func takeRetransmission(
    on stream: inout RetransmissionSender, extensions: RTPHeaderExtensions, into output: inout OutputSpan<UInt8>,
    at now: Instant
  ) -> OutgoingPacket? {
    let size = RTPHeader.fixedSize + extensions.encodedSize + RTPPacket.originalNumberSize
    guard let packet = takeRequested(fitting: output.freeCapacity - size, at: now) else { return nil }
    // What was asked for leaves under another number; this one may be asked for again.
    history.release(packet.header.sequenceNumber)
    guard let header = stream.begin(packet.header, extensions: extensions, into: &output) else { return nil }
    history.copy(packet, from: packet.headerSize, into: &output)
    return OutgoingPacket(header: header, headerSize: size, isRetransmission: true, captured: packet.captured)
  }

  /// Whether packets were asked for that are not on their way yet.
  package var isAskedAgain: Bool { !requested.isEmpty }

  /// Takes note of a packet that was written and never leaves.
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
