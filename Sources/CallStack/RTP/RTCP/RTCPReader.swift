import CallCore

/// Reads the packets of an RTCP datagram in order.
///
/// Reduced-size datagrams (RFC 5506) are accepted, so the first packet need not be an SR or RR. A packet with a
/// malformed header ends the datagram; one with a malformed body is counted and skipped.
package struct RTCPReader: Sendable {
  private var offset = 0
  /// The number of packets, or rests of a datagram, that could not be read.
  package private(set) var malformedCount = 0

  package init() {}

  /// Returns the next packet of `datagram`, or nil at its end. Always pass the same datagram.
  package mutating func next(in datagram: RawSpan) -> RTCPPacket? {
    while offset < datagram.byteCount {
      guard let first = datagram.byte(at: offset), first >> 6 == 2,
        let type = datagram.byte(at: offset + 1),
        let words = datagram.bigEndian(UInt16.self, at: offset + 2),
        let end = Optional(offset + 4 + 4 * Int(words)), end <= datagram.byteCount
      else {
        malformedCount += 1
        offset = datagram.byteCount
        return nil
      }
      let start = offset + 4
      offset = end
      var bodyEnd = end
      if first & 0x20 != 0 {
        // Only the last packet of a compound may be padded, and by whole words (RFC 3550 section 6.4.1). Transport-wide
        // feedback pads its last word at any place.
        let isFilled = type == RTCPPacketType.transportFeedback && first & 0x1F == TransportFeedback.format
        guard let padding = datagram.byte(at: end - 1), padding > 0, Int(padding) <= end - start,
          isFilled || (end == datagram.byteCount && padding % 4 == 0)
        else {
          malformedCount += 1
          continue
        }
        bodyEnd -= Int(padding)
      }
      let body = datagram.extracting(start..<bodyEnd)
      if let packet = Self.parse(type: type, count: first & 0x1F, body) { return packet }
      malformedCount += 1
    }
    return nil
  }

  private static func parse(type: UInt8, count: UInt8, _ body: RawSpan) -> RTCPPacket? {
    switch type {
    case RTCPPacketType.senderReport: senderReport(count: Int(count), body)
    case RTCPPacketType.receiverReport: receiverReport(count: Int(count), body)
    case RTCPPacketType.sourceDescription: sourceDescription(count: Int(count), body)
    case RTCPPacketType.goodbye: goodbye(count: Int(count), body)
    case RTCPPacketType.transportFeedback where count == 1: genericNACK(body)
    case RTCPPacketType.transportFeedback where count == TransportFeedback.format:
      TransportFeedback(parsing: body).map { .transportFeedback($0) }
    case RTCPPacketType.transportFeedback where count == CongestionFeedback.format:
      CongestionFeedback(parsing: body).map { .congestionFeedback($0) }
    case RTCPPacketType.payloadFeedback where count == ReceiverEstimate.format && ReceiverEstimate.isHeld(by: body):
      ReceiverEstimate(parsing: body).map { .receiverEstimate($0) }
    case RTCPPacketType.payloadFeedback where count == LossNotification.format && LossNotification.isHeld(by: body):
      LossNotification(parsing: body).map { .lossNotification($0) }
    case RTCPPacketType.payloadFeedback where count == 1: pictureLossIndication(body)
    case RTCPPacketType.payloadFeedback where count == 4: fullIntraRequest(body)
    case RTCPPacketType.extendedReport: extendedReport(body)
    default: .unknown(packetType: type, format: count)
    }
  }

  private static func blocks(count: Int, _ body: RawSpan, at start: Int) -> [ReportBlock]? {
    // Bytes after the blocks are profile-specific extensions, which are ignored.
    guard body.byteCount >= start + count * ReportBlock.size else { return nil }
    return (0..<count).compactMap { ReportBlock(parsing: body, at: start + $0 * ReportBlock.size) }
  }

  private static func senderReport(count: Int, _ body: RawSpan) -> RTCPPacket? {
    guard let ssrc = body.bigEndian(UInt32.self, at: 0), let ntp = body.bigEndian(UInt64.self, at: 4),
      let rtp = body.bigEndian(UInt32.self, at: 12), let packets = body.bigEndian(UInt32.self, at: 16),
      let octets = body.bigEndian(UInt32.self, at: 20), let blocks = blocks(count: count, body, at: 24)
    else { return nil }
    return .senderReport(
      SenderReport(
        ssrc: ssrc, ntpTime: NTPTime(rawValue: ntp), rtpTimestamp: rtp, packetCount: packets, octetCount: octets,
        blocks: blocks))
  }

  private static func receiverReport(count: Int, _ body: RawSpan) -> RTCPPacket? {
    guard let ssrc = body.bigEndian(UInt32.self, at: 0), let blocks = blocks(count: count, body, at: 4) else {
      return nil
    }
    return .receiverReport(ReceiverReport(ssrc: ssrc, blocks: blocks))
  }

  private static func sourceDescription(count: Int, _ body: RawSpan) -> RTCPPacket? {
    var chunks: [SourceDescription] = []
    var offset = 0
    for _ in 0..<count {
      guard let ssrc = body.bigEndian(UInt32.self, at: offset) else { return nil }
      offset += 4
      var chunk = SourceDescription(ssrc: ssrc, canonicalName: nil)
      while true {
        guard let item = body.byte(at: offset) else { return nil }
        if item == 0 { break }
        guard let length = body.byte(at: offset + 1),
          let text = body.bytes(in: offset + 2..<offset + 2 + Int(length))
        else { return nil }
        if item == 1 { chunk.canonicalName = text }
        offset += 2 + Int(length)
      }
      // The terminating zero and the padding up to the next word.
      offset = (offset / 4 + 1) * 4
      chunks.append(chunk)
    }
    return offset <= body.byteCount ? .sourceDescription(chunks) : nil
  }

  private static func goodbye(count: Int, _ body: RawSpan) -> RTCPPacket? {
    var sources: [UInt32] = []
    for index in 0..<count {
      guard let source = body.bigEndian(UInt32.self, at: 4 * index) else { return nil }
      sources.append(source)
    }
    var reason: [UInt8] = []
    if let length = body.byte(at: 4 * count) {
      guard let text = body.bytes(in: 4 * count + 1..<4 * count + 1 + Int(length)) else { return nil }
      reason = text
    }
    return .goodbye(Goodbye(sources: sources, reason: reason))
  }

  private static func genericNACK(_ body: RawSpan) -> RTCPPacket? {
    guard let (sender, media) = feedbackSources(body), body.byteCount >= 12 else { return nil }
    var numbers: [UInt16] = []
    var offset = 8
    while let first = body.bigEndian(UInt16.self, at: offset), let mask = body.bigEndian(UInt16.self, at: offset + 2) {
      numbers.append(first)
      for bit in 0..<UInt16(16) where mask & (1 << bit) != 0 { numbers.append(first &+ bit &+ 1) }
      offset += 4
    }
    return .genericNACK(GenericNACK(senderSSRC: sender, mediaSSRC: media, sequenceNumbers: numbers))
  }

  private static func pictureLossIndication(_ body: RawSpan) -> RTCPPacket? {
    guard let (sender, media) = feedbackSources(body) else { return nil }
    return .pictureLossIndication(PictureLossIndication(senderSSRC: sender, mediaSSRC: media))
  }

  private static func fullIntraRequest(_ body: RawSpan) -> RTCPPacket? {
    // The media source of the common header is unused; each entry names its own.
    guard let (sender, _) = feedbackSources(body), body.byteCount >= 16 else { return nil }
    var entries: [FullIntraRequest.Entry] = []
    var offset = 8
    while let ssrc = body.bigEndian(UInt32.self, at: offset), let number = body.byte(at: offset + 4),
      offset + 8 <= body.byteCount
    {
      entries.append(FullIntraRequest.Entry(ssrc: ssrc, sequenceNumber: number))
      offset += 8
    }
    return .fullIntraRequest(FullIntraRequest(senderSSRC: sender, entries: entries))
  }

  private static func feedbackSources(_ body: RawSpan) -> (sender: UInt32, media: UInt32)? {
    guard let sender = body.bigEndian(UInt32.self, at: 0), let media = body.bigEndian(UInt32.self, at: 4) else {
      return nil
    }
    return (sender, media)
  }

  private static func extendedReport(_ body: RawSpan) -> RTCPPacket? {
    guard let ssrc = body.bigEndian(UInt32.self, at: 0) else { return nil }
    var report = ExtendedReport(ssrc: ssrc, receiverReferenceTime: nil)
    var offset = 4
    while offset < body.byteCount {
      guard let type = body.byte(at: offset), let words = body.bigEndian(UInt16.self, at: offset + 2) else {
        return nil
      }
      let end = offset + 4 + 4 * Int(words)
      guard end <= body.byteCount else { return nil }
      if type == 4, words == 2, let time = body.bigEndian(UInt64.self, at: offset + 4) {
        report.receiverReferenceTime = NTPTime(rawValue: time)
      } else {
        report.otherBlockCount += 1
      }
      offset = end
    }
    return .extendedReport(report)
  }
}
