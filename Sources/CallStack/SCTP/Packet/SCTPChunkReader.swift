internal import CallCore

/// Reads the chunks of a packet in order. A malformed chunk ends the packet.
package struct SCTPChunkReader: Sendable {
  private var offset = SCTPPacketHeader.size
  /// Whether the packet ended at a malformed chunk.
  package private(set) var isMalformed = false

  package init() {}

  /// Returns the next chunk of `packet`, or nil at its end. Always pass the same packet.
  package mutating func next(in packet: RawSpan) -> SCTPChunk? {
    guard offset < packet.byteCount, !isMalformed else { return nil }
    guard let type = packet.byte(at: offset), let flags = packet.byte(at: offset + 1),
      let length = packet.bigEndian(UInt16.self, at: offset + 2), length >= 4,
      offset + Int(length) <= packet.byteCount
    else {
      isMalformed = true
      return nil
    }
    let range = offset..<offset + Int(length)
    offset += (Int(length) + 3) & ~3
    guard let known = SCTPChunkType(rawValue: type) else {
      return .unknown(type: type, bytes: packet.extracting(range).copied)
    }
    let chunk = Self.parse(known, flags: flags, packet.extracting(range.lowerBound + 4..<range.upperBound))
    isMalformed = chunk == nil
    return chunk
  }

  private static func parse(_ type: SCTPChunkType, flags: UInt8, _ body: RawSpan) -> SCTPChunk? {
    switch type {
    case .data: data(flags: flags, body)
    case .initiation: initiation(body).map { .initiation($0) }
    case .initiationAck: initiation(body).map { .initiationAck($0) }
    case .sack: sack(body)
    case .heartbeat: heartbeatInformation(body).map { .heartbeat($0) }
    case .heartbeatAck: heartbeatInformation(body).map { .heartbeatAck($0) }
    case .abort: causes(body).map { .abort($0, isTagReflected: flags & 1 == 1) }
    case .shutdown: body.bigEndian(UInt32.self, at: 0).map { .shutdown(cumulativeTSN: $0) }
    case .shutdownAck: .shutdownAck
    case .error: causes(body).map { .error($0) }
    case .cookieEcho: .cookieEcho(body.copied)
    case .cookieAck: .cookieAck
    case .shutdownComplete: .shutdownComplete(isTagReflected: flags & 1 == 1)
    case .reconfiguration: reconfiguration(body)
    case .forwardTSN: forwardTSN(body)
    }
  }

  private static func data(flags: UInt8, _ body: RawSpan) -> SCTPChunk? {
    guard let tsn = body.bigEndian(UInt32.self, at: 0), let stream = body.bigEndian(UInt16.self, at: 4),
      let ssn = body.bigEndian(UInt16.self, at: 6), let ppid = body.bigEndian(UInt32.self, at: 8)
    else { return nil }
    return .data(
      DataChunk(
        flags: DataChunk.Flags(rawValue: flags & 0xF), tsn: tsn, stream: stream, ssn: ssn, ppid: ppid,
        payload: body.extracting(droppingFirst: 12).copied[...]))
  }

  private static func initiation(_ body: RawSpan) -> InitChunk? {
    guard let tag = body.bigEndian(UInt32.self, at: 0), let window = body.bigEndian(UInt32.self, at: 4),
      let outbound = body.bigEndian(UInt16.self, at: 8), let inbound = body.bigEndian(UInt16.self, at: 10),
      let tsn = body.bigEndian(UInt32.self, at: 12),
      let parameters = InitParameters(parsing: body.extracting(droppingFirst: 16))
    else { return nil }
    return InitChunk(
      initiateTag: tag, receiverWindow: window, outboundStreams: outbound, inboundStreams: inbound, initialTSN: tsn,
      parameters: parameters)
  }

  private static func sack(_ body: RawSpan) -> SCTPChunk? {
    guard let tsn = body.bigEndian(UInt32.self, at: 0), let window = body.bigEndian(UInt32.self, at: 4),
      let blocks = body.bigEndian(UInt16.self, at: 8), let duplicates = body.bigEndian(UInt16.self, at: 10),
      body.byteCount >= 12 + 4 * (Int(blocks) + Int(duplicates))
    else { return nil }
    var sack = SACKChunk(cumulativeTSN: tsn, receiverWindow: window)
    var offset = 12
    for _ in 0..<blocks {
      guard let start = body.bigEndian(UInt16.self, at: offset), let end = body.bigEndian(UInt16.self, at: offset + 2)
      else { return nil }
      sack.gapBlocks.append(SACKChunk.GapBlock(start: start, end: end))
      offset += 4
    }
    for _ in 0..<duplicates {
      guard let duplicate = body.bigEndian(UInt32.self, at: offset) else { return nil }
      sack.duplicates.append(duplicate)
      offset += 4
    }
    return .sack(sack)
  }

  /// The parameters of a HEARTBEAT, the first of which must be well formed.
  private static func heartbeatInformation(_ body: RawSpan) -> [UInt8]? {
    var reader = TLVReader(body.byteCount)
    return reader.next(in: body) == nil ? nil : body.copied
  }

  private static func causes(_ body: RawSpan) -> [SCTPErrorCause]? {
    var reader = TLVReader(body.byteCount)
    var causes: [SCTPErrorCause] = []
    while let (code, range) = reader.next(in: body) {
      causes.append(SCTPErrorCause(.init(rawValue: code), information: body.extracting(range).copied))
    }
    return reader.isMalformed ? nil : causes
  }

  private static func reconfiguration(_ body: RawSpan) -> SCTPChunk? {
    var reader = TLVReader(body.byteCount)
    var parameters: [ReconfigurationParameter] = []
    while let (type, range) = reader.next(in: body) {
      guard let parameter = ReconfigurationParameter.parse(type: type, body.extracting(range)) else { return nil }
      parameters.append(parameter)
    }
    // One or two parameters (RFC 6525 section 3.1).
    return reader.isMalformed || !(1...2).contains(parameters.count) ? nil : .reconfiguration(parameters)
  }

  private static func forwardTSN(_ body: RawSpan) -> SCTPChunk? {
    guard let tsn = body.bigEndian(UInt32.self, at: 0), body.byteCount % 4 == 0 else { return nil }
    var chunk = ForwardTSNChunk(newCumulativeTSN: tsn)
    for offset in stride(from: 4, to: body.byteCount, by: 4) {
      guard let stream = body.bigEndian(UInt16.self, at: offset), let ssn = body.bigEndian(UInt16.self, at: offset + 2)
      else { return nil }
      chunk.skipped.append(ForwardTSNChunk.SkippedStream(stream: stream, ssn: ssn))
    }
    return .forwardTSN(chunk)
  }
}
