import CallCore

/// The FEC header of draft-ietf-payload-flexible-fec-scheme-03 section 4.2.2, which names the protected stream. Its k
/// bits mean the reverse of RFC 8627's: a set one marks the last part of the mask.
extension RepairPayload {
  /// The number of parts of the mask: 15 bits, then 31, then 63.
  private var draftPartCount: Int {
    switch mask.last ?? 0 {
    case ..<15: 1
    case ..<46: 2
    default: 3
    }
  }

  var flexFECDraftHeaderSize: Int { [20, 24, 32][draftPartCount - 1] }

  static func parseFlexFECDraft(_ payload: RawSpan) -> RepairPayload? {
    guard let first = payload.byte(at: 0), let second = payload.byte(at: 1),
      let length = payload.bigEndian(UInt16.self, at: 2), let timestamp = payload.bigEndian(UInt32.self, at: 4),
      let streamCount = payload.byte(at: 8), let ssrc = payload.bigEndian(UInt32.self, at: 12),
      let base = payload.bigEndian(UInt16.self, at: 16), let head = payload.bigEndian(UInt16.self, at: 18)
    else { return nil }
    // R marks a retransmission, F a fixed mask of rows and columns.
    guard first & 0xC0 == 0, streamCount == 1 else { return nil }
    var mask = PacketMask()
    var offset = 20
    mask.insert(field: UInt64(head & 0x7FFF), from: 0, width: 15)
    if head & 0x8000 == 0 {
      guard let middle = payload.bigEndian(UInt32.self, at: offset) else { return nil }
      mask.insert(field: UInt64(middle & 0x7FFF_FFFF), from: 15, width: 31)
      offset += 4
      if middle & 0x8000_0000 == 0 {
        guard let tail = payload.bigEndian(UInt64.self, at: offset), tail & 1 << 63 != 0 else { return nil }
        mask.insert(field: tail & (1 << 63 - 1), from: 46, width: 63)
        offset += 8
      }
    }
    guard let bytes = payload.bytes(in: offset..<payload.byteCount) else { return nil }
    return RepairPayload(
      base: base, mask: mask,
      parity: PacketParity(flags: first, type: second, length: length, timestamp: timestamp, bytes: bytes), ssrc: ssrc)
  }

  func writeFlexFECDraftHeader(ssrc: UInt32, into output: inout OutputSpan<UInt8>) {
    output.append(parity.flags)
    output.append(parity.type)
    output.append(bigEndian: parity.length)
    output.append(bigEndian: parity.timestamp)
    // The count of streams, and three reserved bytes.
    output.append(bigEndian: 1 << 24 as UInt32)
    output.append(bigEndian: ssrc)
    output.append(bigEndian: base)
    let count = draftPartCount
    output.append(bigEndian: (count == 1 ? 0x8000 : 0) | UInt16(mask.field(from: 0, width: 15)))
    if count > 1 {
      output.append(bigEndian: (count == 2 ? 0x8000_0000 : 0) | UInt32(mask.field(from: 15, width: 31)))
    }
    if count > 2 { output.append(bigEndian: 1 << 63 | mask.field(from: 46, width: 63)) }
  }
}
