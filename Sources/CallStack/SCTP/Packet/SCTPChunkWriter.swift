internal import CallCore

extension SCTPChunk {
  /// The chunk as it is in a packet, with padding.
  package var encoded: [UInt8] {
    switch self {
    case .data(let chunk):
      return Self.encode(.data, flags: chunk.flags.rawValue) { bytes in
        bytes.append(bigEndian: chunk.tsn)
        bytes.append(bigEndian: chunk.stream)
        bytes.append(bigEndian: chunk.ssn)
        bytes.append(bigEndian: chunk.ppid)
        bytes += chunk.payload
      }
    case .initiation(let chunk): return Self.encode(.initiation) { chunk.write(to: &$0) }
    case .initiationAck(let chunk): return Self.encode(.initiationAck) { chunk.write(to: &$0) }
    case .sack(let chunk): return Self.encode(.sack) { chunk.write(to: &$0) }
    case .heartbeat(let information): return Self.encode(.heartbeat) { $0 += information }
    case .heartbeatAck(let information): return Self.encode(.heartbeatAck) { $0 += information }
    case .abort(let causes, let isTagReflected):
      return Self.encode(.abort, flags: isTagReflected ? 1 : 0) { Self.write(causes, to: &$0) }
    case .shutdown(let tsn): return Self.encode(.shutdown) { $0.append(bigEndian: tsn) }
    case .shutdownAck: return Self.encode(.shutdownAck) { _ in }
    case .error(let causes): return Self.encode(.error) { Self.write(causes, to: &$0) }
    case .cookieEcho(let cookie): return Self.encode(.cookieEcho) { $0 += cookie }
    case .cookieAck: return Self.encode(.cookieAck) { _ in }
    case .shutdownComplete(let isTagReflected):
      return Self.encode(.shutdownComplete, flags: isTagReflected ? 1 : 0) { _ in }
    case .reconfiguration(let parameters):
      return Self.encode(.reconfiguration) { for parameter in parameters { parameter.write(to: &$0) } }
    case .forwardTSN(let chunk):
      return Self.encode(.forwardTSN) { bytes in
        bytes.append(bigEndian: chunk.newCumulativeTSN)
        for skipped in chunk.skipped {
          bytes.append(bigEndian: skipped.stream)
          bytes.append(bigEndian: skipped.ssn)
        }
      }
    case .unknown(_, var bytes):
      bytes.pad()
      return bytes
    }
  }

  private static func encode(
    _ type: SCTPChunkType, flags: UInt8 = 0, _ body: (inout [UInt8]) -> Void
  ) -> [UInt8] {
    var bytes = [type.rawValue, flags, 0, 0]
    body(&bytes)
    bytes.setLength(from: 0)
    bytes.pad()
    return bytes
  }

  private static func write(_ causes: [SCTPErrorCause], to bytes: inout [UInt8]) {
    for cause in causes { bytes.appendTLV(cause.code.rawValue) { $0 += cause.information } }
  }
}

extension InitChunk {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.append(bigEndian: initiateTag)
    bytes.append(bigEndian: receiverWindow)
    bytes.append(bigEndian: outboundStreams)
    bytes.append(bigEndian: inboundStreams)
    bytes.append(bigEndian: initialTSN)
    parameters.write(to: &bytes)
  }
}

extension SACKChunk {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.append(bigEndian: cumulativeTSN)
    bytes.append(bigEndian: receiverWindow)
    bytes.append(bigEndian: UInt16(gapBlocks.count))
    bytes.append(bigEndian: UInt16(duplicates.count))
    for block in gapBlocks {
      bytes.append(bigEndian: block.start)
      bytes.append(bigEndian: block.end)
    }
    for duplicate in duplicates { bytes.append(bigEndian: duplicate) }
  }
}

extension DataChunk {
  /// Appends the chunk with its padding.
  ///
  /// - Precondition: there is room for ``encodedSize`` bytes.
  package func write(into output: inout OutputSpan<UInt8>) {
    output.append(SCTPChunkType.data.rawValue)
    output.append(flags.rawValue)
    output.append(bigEndian: UInt16(Self.headerSize + payload.count))
    output.append(bigEndian: tsn)
    output.append(bigEndian: stream)
    output.append(bigEndian: ssn)
    output.append(bigEndian: ppid)
    output.append(copying: payload)
    for _ in Self.headerSize + payload.count..<encodedSize { output.append(0) }
  }
}

extension OutputSpan<UInt8> {
  /// Appends bytes in one copy.
  ///
  /// - Precondition: the span has room for them.
  mutating func append(copying bytes: ArraySlice<UInt8>) {
    precondition(freeCapacity >= bytes.count, "the output has no room for the bytes")
    bytes.withUnsafeBytes { source in
      withUnsafeMutableBufferPointer { buffer, count in
        guard !source.isEmpty else { return }
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]).copyMemory(
          from: source)
        count += source.count
      }
    }
  }
}
