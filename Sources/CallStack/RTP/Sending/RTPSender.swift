public import CallCore

/// The sending end of one RTP stream: numbering, counting, sender reports, retransmission, and what the other side
/// reports back.
public struct RTPSender: ~Copyable {
  public struct Settings: Hashable, Sendable {
    public var payloadType: UInt8
    public var clockRate: UInt32
    /// Packets kept for NACKs; 0 when generic NACK was not negotiated.
    public var historyCapacity = 0
    public var historyAge = Interval.seconds(1)
    /// NACKed packets waiting to leave at most; further ones are ignored.
    public var retransmissionQueueLimit = 64
    /// Fixed starting points, for provoking wrap-around; nil draws them.
    public var initialSequenceNumber: UInt16?
    public var initialTimestamp: UInt32?

    public init(payloadType: UInt8, clockRate: UInt32) {
      self.payloadType = payloadType
      self.clockRate = clockRate
    }
  }

  public let ssrc: UInt32
  public private(set) var settings: Settings
  public private(set) var outbound = OutboundRTPStatistics()
  public private(set) var remoteInbound = RemoteInboundRTPStatistics()
  private var nextSequenceNumber: UInt16
  private let timestampOffset: UInt32
  private var lastPacket: (timestamp: UInt32, sent: Instant)?
  private var history: PacketHistory
  private var retransmissions: [UInt16] = []
  /// Packets sent when the last report and the one before it left.
  private var packetsAtReports: (last: Int64, before: Int64) = (0, 0)

  /// The RTP timestamp of a position on the media clock.
  public func timestamp(of mediaTime: UInt32) -> UInt32 { timestampOffset &+ mediaTime }

  /// - Parameter random: draws the starting sequence number and timestamp (RFC 3550 section 5.1). The number is below
  ///   2¹⁵, so that a loss of the first packets cannot make SRTP guess the wrong rollover counter.
  public init(ssrc: UInt32, settings: Settings, random: consuming RandomStream) {
    self.ssrc = ssrc
    self.settings = settings
    let sequence = UInt16(random.uniform(below: Defect.firstSequenceAnywhere.isPlanted ? 1 << 16 : 1 << 15))
    let timestamp = UInt32(truncatingIfNeeded: random.next())
    nextSequenceNumber = settings.initialSequenceNumber ?? sequence
    timestampOffset = settings.initialTimestamp ?? timestamp
    history = PacketHistory(capacity: settings.historyCapacity, maximumAge: settings.historyAge)
  }

  /// Changes the payload type, after renegotiation.
  public mutating func setPayloadType(_ payloadType: UInt8) { settings.payloadType = payloadType & 0x7F }

  /// Keeps packets for NACKs from now on, or none with a capacity of zero, after renegotiation.
  public mutating func setHistoryCapacity(_ capacity: Int) {
    guard capacity != settings.historyCapacity else { return }
    settings.historyCapacity = capacity
    history = PacketHistory(capacity: capacity, maximumAge: settings.historyAge)
    retransmissions = []
  }

  /// Whether a packet left since the report before the last: who sends nothing reports as a receiver (RFC 3550
  /// section 6.4).
  public var hasSentLately: Bool { outbound.packetsSent > packetsAtReports.before }

  /// Notes that a regular report left.
  public mutating func endReportInterval() { packetsAtReports = (outbound.packetsSent, packetsAtReports.last) }

  /// Writes one packet and counts it.
  ///
  /// - Parameters:
  ///   - mediaTime: the position of the payload's first sample on the media clock, counted from zero.
  /// - Returns: the packet's header, or nil, with nothing written or counted, when it does not fit.
  public mutating func packetize(
    payload: RawSpan, mediaTime: UInt32, marker: Bool = false,
    extensions: RTPHeaderExtensions = RTPHeaderExtensions(), into output: inout OutputSpan<UInt8>, at now: Instant
  ) -> RTPHeader? {
    let size = RTPHeader.fixedSize + extensions.encodedSize
    guard output.freeCapacity >= size + payload.byteCount else { return nil }
    let header = RTPHeader(
      payloadType: settings.payloadType, marker: marker, sequenceNumber: nextSequenceNumber,
      timestamp: timestampOffset &+ mediaTime, ssrc: ssrc)
    let start = output.count
    guard header.write(into: &output, extensions: extensions) != nil else { return nil }
    output.append(contentsOf: payload)
    nextSequenceNumber &+= 1
    lastPacket = (header.timestamp, now)
    outbound.packetsSent += 1
    outbound.bytesSent += Int64(payload.byteCount)
    outbound.headerBytesSent += Int64(size)
    if history.isEnabled {
      history.insert(
        output.span.bytes.extracting(start..<output.count), headerSize: size, sequence: header.sequenceNumber, at: now)
    }
    return header
  }

  /// The next report on this stream, with the blocks about streams received; nil before the first packet, when the
  /// participant reports as a receiver (RFC 3550 section 6.4).
  public func senderReport(blocks: [ReportBlock] = [], clock: WallClock, at now: Instant) -> SenderReport? {
    guard let lastPacket else { return nil }
    let elapsed = mediaClock(settings.clockRate, at: .zero + (now - lastPacket.sent))
    return SenderReport(
      ssrc: ssrc, ntpTime: NTPTime(clock, at: now), rtpTimestamp: lastPacket.timestamp &+ elapsed,
      packetCount: UInt32(truncatingIfNeeded: outbound.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: outbound.bytesSent), blocks: blocks)
  }

  /// Takes a report block about this stream. Blocks about others are ignored.
  public mutating func receive(_ block: ReportBlock, clock: WallClock, at now: Instant) {
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

  /// Takes a NACK: its packets wait until ``retransmit(into:at:)`` sends them, so that the owner can pace them.
  public mutating func receive(_ nack: GenericNACK) {
    guard nack.mediaSSRC == ssrc else { return }
    outbound.nackCount += 1
    guard history.isEnabled else { return }
    for number in nack.sequenceNumbers where retransmissions.count < settings.retransmissionQueueLimit {
      if !retransmissions.contains(number) { retransmissions.append(number) }
    }
  }

  /// Writes the next packet asked for again, as it was first sent, or returns nil when there is none.
  public mutating func retransmit(into output: inout OutputSpan<UInt8>, at now: Instant) -> Int? {
    let roundTrip = remoteInbound.roundTripTime ?? .zero
    while !retransmissions.isEmpty {
      let sequence = retransmissions.removeFirst()
      guard let sent = history.retransmit(sequence, roundTrip: roundTrip, into: &output, at: now) else { continue }
      outbound.packetsSent += 1
      outbound.retransmittedPacketsSent += 1
      outbound.bytesSent += Int64(sent.payload)
      outbound.headerBytesSent += Int64(sent.header)
      outbound.retransmittedBytesSent += Int64(sent.payload)
      return sent.header + sent.payload
    }
    return nil
  }
}
