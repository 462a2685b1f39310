import CallCore
import SCTP

/// A packet of chunks with its checksum.
func packet(tag: UInt32, _ chunks: [SCTPChunk], sourcePort: UInt16 = 5_000, destinationPort: UInt16 = 5_000) -> [UInt8]
{
  let body = chunks.flatMap(\.encoded)
  return [UInt8](unsafeUninitializedCapacity: body.count + 12) { buffer, count in
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    SCTPPacketHeader(sourcePort: sourcePort, destinationPort: destinationPort, verificationTag: tag).write(
      into: &output)
    for byte in body { output.append(byte) }
    SCTPPacketHeader.sealChecksum(of: &output, from: 0)
    count = output.finalize(for: buffer)
  }
}

/// The chunks of a packet.
func chunks(of packet: [UInt8]) -> [SCTPChunk] {
  var reader = SCTPChunkReader()
  var chunks: [SCTPChunk] = []
  while let chunk = reader.next(in: packet.span.bytes) { chunks.append(chunk) }
  return chunks
}

/// The verification tag of a packet.
func tag(of packet: [UInt8]) -> UInt32 { packet.span.bytes.bigEndian(UInt32.self, at: 4) ?? 0 }
