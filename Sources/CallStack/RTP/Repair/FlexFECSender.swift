package import CallCore

/// The stream of repair packets of FlexFEC, which has its own SSRC and numbers.
package struct FlexFECSender: Sendable {
  package let ssrc: UInt32
  /// The SSRC of the protected stream.
  package let mediaSSRC: UInt32
  package private(set) var payloadType: UInt8
  /// ``RepairFormat/flexFEC`` or ``RepairFormat/flexFECDraft``.
  package let format: RepairFormat
  private var nextSequenceNumber: UInt16
  private let timestampOffset: UInt32
  private let clockRate: UInt32

  /// Makes a sender.
  ///
  /// - Parameter random: the source of the initial sequence number and timestamp. The number is below 2¹⁵ for SRTP's
  ///   sake, see ``RTPSender``.
  package init(
    ssrc: UInt32, mediaSSRC: UInt32, payloadType: UInt8, format: RepairFormat, clockRate: UInt32 = 90_000,
    random: consuming RandomStream
  ) {
    precondition(format != .ulpfec, "ULPFEC is sent on the stream of the media")
    (self.ssrc, self.mediaSSRC, self.format, self.clockRate) = (ssrc, mediaSSRC, format, clockRate)
    self.payloadType = payloadType & 0x7F
    nextSequenceNumber = UInt16(random.uniform(below: 1 << 15))
    timestampOffset = UInt32(truncatingIfNeeded: random.next())
  }

  /// Changes the payload type, after renegotiation.
  package mutating func setPayloadType(_ payloadType: UInt8) { self.payloadType = payloadType & 0x7F }

  /// Writes a repair packet and uses its sequence number. Its timestamp is the time of sending (RFC 8627 section
  /// 4.2.1).
  ///
  /// - Returns: the packet, or nil, with nothing written or used, when it does not fit.
  package mutating func packetize(
    _ repair: RepairPayload, extensions: RTPHeaderExtensions = RTPHeaderExtensions(),
    into output: inout OutputSpan<UInt8>, at now: Instant
  ) -> OutgoingPacket? {
    // The draft names the stream in its own header.
    let sources = format == .flexFEC ? [mediaSSRC] : []
    let size = RTPHeader.fixedSize + 4 * sources.count + extensions.encodedSize
    guard output.freeCapacity >= size + repair.encodedSize(format: format), let last = repair.mask.last,
      last < format.maximumSpan, format == .flexFEC || repair.ssrc != nil
    else { return nil }
    let header = RTPHeader(
      payloadType: payloadType, sequenceNumber: nextSequenceNumber,
      timestamp: timestampOffset &+ mediaClock(clockRate, at: now), ssrc: ssrc)
    guard header.write(into: &output, contributingSources: sources, extensions: extensions) != nil else { return nil }
    guard repair.write(format: format, into: &output) != nil else { return nil }
    nextSequenceNumber &+= 1
    return OutgoingPacket(header: header, headerSize: size, isRepair: true, captured: now)
  }
}
