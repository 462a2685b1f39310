import CallCore

/// The FEC header with a flexible mask of RFC 8627 section 4.2.2.1. The CSRC list of the packet's RTP header names the
/// protected stream.
extension RepairPayload {
  /// The number of parts of the mask: 15 bits, then 31, then 64.
  private var partCount: Int {
    switch mask.last ?? 0 {
    case ..<15: 1
    case ..<46: 2
    default: 3
    }
  }

  var flexFECHeaderSize: Int { [12, 16, 24][partCount - 1] }

  static func parseFlexFEC(_ payload: RawSpan) -> RepairPayload? {
    guard let first = payload.byte(at: 0), let second = payload.byte(at: 1),
      let length = payload.bigEndian(UInt16.self, at: 2), let timestamp = payload.bigEndian(UInt32.self, at: 4),
      let base = payload.bigEndian(UInt16.self, at: 8), let head = payload.bigEndian(UInt16.self, at: 10)
    else { return nil }
    // R marks a retransmission, F a fixed mask of rows and columns.
    guard first & 0xC0 == 0 else { return nil }
    var mask = PacketMask()
    var offset = 12
    mask.insert(field: UInt64(head & 0x7FFF), from: 0, width: 15)
    if head & 0x8000 != 0 {
      guard let middle = payload.bigEndian(UInt32.self, at: offset) else { return nil }
      mask.insert(field: UInt64(middle & 0x7FFF_FFFF), from: 15, width: 31)
      offset += 4
      if middle & 0x8000_0000 != 0 {
        guard let tail = payload.bigEndian(UInt64.self, at: offset) else { return nil }
        mask.insert(field: tail, from: 46, width: 64)
        offset += 8
      }
    }
    guard let bytes = payload.bytes(in: offset..<payload.byteCount) else { return nil }
    return RepairPayload(
      base: base, mask: mask,
      parity: PacketParity(flags: first, type: second, length: length, timestamp: timestamp, bytes: bytes))
  }

  func writeFlexFECHeader(into output: inout OutputSpan<UInt8>) {
    output.append(parity.flags)
    output.append(parity.type)
    output.append(bigEndian: parity.length)
    output.append(bigEndian: parity.timestamp)
    output.append(bigEndian: base)
    output.append(bigEndian: (partCount > 1 ? 0x8000 : 0) | UInt16(mask.field(from: 0, width: 15)))
    if partCount > 1 {
      output.append(bigEndian: (partCount > 2 ? 0x8000_0000 : 0) | UInt32(mask.field(from: 15, width: 31)))
    }
    if partCount > 2 { output.append(bigEndian: mask.field(from: 46, width: 64)) }
  }
}
