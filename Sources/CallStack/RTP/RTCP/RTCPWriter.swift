import CallCore

extension RTCPPacket {
  /// Appends the packet to a compound.
  ///
  /// - Returns: false, with nothing written, when it does not fit, a count exceeds five bits, or the packet is
  ///   ``unknown(packetType:format:)``.
  package func write(into output: inout OutputSpan<UInt8>) -> Bool {
    guard let (type, count, size) = layout, count <= Self.maximumCount, output.freeCapacity >= 4 + size else {
      return false
    }
    output.append(0x80 | (isFilled ? 0x20 : 0) | UInt8(count))
    output.append(type)
    output.append(bigEndian: UInt16(size / 4))
    switch self {
    case .senderReport(let report):
      output.append(bigEndian: report.ssrc)
      output.append(bigEndian: report.ntpTime.rawValue)
      output.append(bigEndian: report.rtpTimestamp)
      output.append(bigEndian: report.packetCount)
      output.append(bigEndian: report.octetCount)
      for block in report.blocks { block.write(into: &output) }
    case .receiverReport(let report):
      output.append(bigEndian: report.ssrc)
      for block in report.blocks { block.write(into: &output) }
    case .sourceDescription(let chunks):
      for chunk in chunks { chunk.write(into: &output) }
    case .goodbye(let goodbye): goodbye.write(into: &output)
    case .genericNACK(let nack): nack.write(into: &output)
    case .pictureLossIndication(let indication):
      output.append(bigEndian: indication.senderSSRC)
      output.append(bigEndian: indication.mediaSSRC)
    case .fullIntraRequest(let request): request.write(into: &output)
    case .extendedReport(let report): report.write(into: &output)
    case .transportFeedback(let feedback): feedback.write(into: &output)
    case .receiverEstimate(let estimate): estimate.write(into: &output)
    case .congestionFeedback(let feedback): feedback.write(into: &output)
    case .lossNotification(let notification): notification.write(into: &output)
    case .unknown: break
    }
    return true
  }

  /// Whether padding completes the last word.
  private var isFilled: Bool {
    if case .transportFeedback(let feedback) = self { feedback.size > feedback.contentSize } else { false }
  }

  /// The packet type, the count or format field, and the size of the body in bytes.
  private var layout: (type: UInt8, count: Int, size: Int)? {
    switch self {
    case .senderReport(let report):
      (RTCPPacketType.senderReport, report.blocks.count, 24 + ReportBlock.size * report.blocks.count)
    case .receiverReport(let report):
      (RTCPPacketType.receiverReport, report.blocks.count, 4 + ReportBlock.size * report.blocks.count)
    case .sourceDescription(let chunks):
      (RTCPPacketType.sourceDescription, chunks.count, chunks.reduce(0) { $0 + $1.size })
    case .goodbye(let goodbye): (RTCPPacketType.goodbye, goodbye.sources.count, goodbye.size)
    case .genericNACK(let nack): (RTCPPacketType.transportFeedback, 1, 8 + 4 * nack.entryCount)
    case .pictureLossIndication: (RTCPPacketType.payloadFeedback, 1, 8)
    case .fullIntraRequest(let request): (RTCPPacketType.payloadFeedback, 4, 8 + 8 * request.entries.count)
    case .extendedReport(let report):
      (RTCPPacketType.extendedReport, 0, 4 + (report.receiverReferenceTime == nil ? 0 : 12))
    case .transportFeedback(let feedback):
      (RTCPPacketType.transportFeedback, Int(TransportFeedback.format), feedback.size)
    case .receiverEstimate(let estimate):
      (RTCPPacketType.payloadFeedback, Int(ReceiverEstimate.format), estimate.size)
    case .congestionFeedback(let feedback) where feedback.isValid:
      (RTCPPacketType.transportFeedback, Int(CongestionFeedback.format), feedback.size)
    case .lossNotification(let notification) where notification.isValid:
      (RTCPPacketType.payloadFeedback, Int(LossNotification.format), LossNotification.size)
    case .congestionFeedback, .lossNotification: nil
    case .unknown: nil
    }
  }
}

extension SourceDescription {
  /// The part of the name that fits the one-byte length.
  private var name: ArraySlice<UInt8> { (canonicalName ?? []).prefix(255) }

  fileprivate var size: Int {
    let items = canonicalName == nil ? 0 : 2 + name.count
    return 4 + (items / 4 + 1) * 4
  }

  fileprivate func write(into output: inout OutputSpan<UInt8>) {
    output.append(bigEndian: ssrc)
    var written = 4
    if canonicalName != nil {
      output.append(1)
      output.append(UInt8(name.count))
      for byte in name { output.append(byte) }
      written += 2 + name.count
    }
    for _ in written..<size { output.append(0) }
  }
}

extension Goodbye {
  fileprivate var size: Int { 4 * sources.count + (reason.isEmpty ? 0 : (1 + min(reason.count, 255) + 3) / 4 * 4) }

  fileprivate func write(into output: inout OutputSpan<UInt8>) {
    for source in sources { output.append(bigEndian: source) }
    guard !reason.isEmpty else { return }
    let text = reason.prefix(255)
    output.append(UInt8(text.count))
    for byte in text { output.append(byte) }
    for _ in (4 * sources.count + 1 + text.count)..<size { output.append(0) }
  }
}

extension GenericNACK {
  /// The packet identifiers, each with a mask of the sixteen following numbers.
  private var entries: [(first: UInt16, mask: UInt16)] {
    var result: [(first: UInt16, mask: UInt16)] = []
    for number in sequenceNumbers {
      if let last = result.last, (1...16).contains(number &- last.first) {
        result[result.count - 1].mask |= 1 << (number &- last.first &- 1)
      } else {
        result.append((number, 0))
      }
    }
    return result
  }

  fileprivate var entryCount: Int { entries.count }

  fileprivate func write(into output: inout OutputSpan<UInt8>) {
    output.append(bigEndian: senderSSRC)
    output.append(bigEndian: mediaSSRC)
    for entry in entries {
      output.append(bigEndian: entry.first)
      output.append(bigEndian: entry.mask)
    }
  }
}

extension FullIntraRequest {
  fileprivate func write(into output: inout OutputSpan<UInt8>) {
    output.append(bigEndian: senderSSRC)
    output.append(bigEndian: UInt32(0))
    for entry in entries {
      output.append(bigEndian: entry.ssrc)
      output.append(bigEndian: UInt32(entry.sequenceNumber) << 24)
    }
  }
}

extension ExtendedReport {
  fileprivate func write(into output: inout OutputSpan<UInt8>) {
    output.append(bigEndian: ssrc)
    guard let receiverReferenceTime else { return }
    output.append(bigEndian: UInt32(4) << 24 | 2)
    output.append(bigEndian: receiverReferenceTime.rawValue)
  }
}
