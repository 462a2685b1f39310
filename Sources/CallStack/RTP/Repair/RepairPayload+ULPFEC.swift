import CallCore

/// The FEC header of RFC 5109 section 7.3, and the header of level 0 of section 7.4.
extension RepairPayload {
  /// The masks of level 0 in bits, without and with the L bit.
  private static let maskWidths = (short: 16, long: 48)

  private var isLong: Bool { (mask.last ?? 0) >= Self.maskWidths.short }

  var ulpfecHeaderSize: Int { isLong ? 18 : 14 }

  /// Level 0 extends to the end of the payload in libwebrtc; here it may end before it, if further levels follow.
  static func parseULPFEC(_ payload: RawSpan) -> RepairPayload? {
    guard let first = payload.byte(at: 0), let second = payload.byte(at: 1),
      let base = payload.bigEndian(UInt16.self, at: 2), let timestamp = payload.bigEndian(UInt32.self, at: 4),
      let length = payload.bigEndian(UInt16.self, at: 8), let protection = payload.bigEndian(UInt16.self, at: 10),
      let head = payload.bigEndian(UInt16.self, at: 12)
    else { return nil }
    // The E bit marks an extension that RFC 5109 leaves to others.
    guard first & 0x80 == 0 else { return nil }
    var mask = PacketMask()
    mask.insert(field: UInt64(head), from: 0, width: maskWidths.short)
    var offset = 14
    if first & 0x40 != 0 {
      guard let tail = payload.bigEndian(UInt32.self, at: offset) else { return nil }
      mask.insert(field: UInt64(tail), from: maskWidths.short, width: 32)
      offset += 4
    }
    guard let bytes = payload.bytes(in: offset..<offset + Int(protection)) else { return nil }
    return RepairPayload(
      base: base, mask: mask,
      parity: PacketParity(flags: first, type: second, length: length, timestamp: timestamp, bytes: bytes))
  }

  func writeULPFECHeader(into output: inout OutputSpan<UInt8>) {
    output.append((isLong ? 0x40 : 0) | parity.flags)
    output.append(parity.type)
    output.append(bigEndian: base)
    output.append(bigEndian: parity.timestamp)
    output.append(bigEndian: parity.length)
    output.append(bigEndian: UInt16(parity.bytes.count))
    output.append(bigEndian: UInt16(mask.field(from: 0, width: Self.maskWidths.short)))
    if isLong { output.append(bigEndian: UInt32(mask.field(from: Self.maskWidths.short, width: 32))) }
  }
}
