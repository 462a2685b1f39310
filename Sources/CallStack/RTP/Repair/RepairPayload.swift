import CallCore

/// The payload of a repair packet: the FEC header with the mask, and the parity.
package struct RepairPayload: Hashable, Sendable {
  /// The sequence number to which the mask's offsets are added.
  package var base: UInt16
  package var mask: PacketMask
  package var parity: PacketParity
  /// The SSRC of the protected stream if the header names it, as that of the draft of FlexFEC does.
  package var ssrc: UInt32?

  package init(base: UInt16, mask: PacketMask, parity: PacketParity, ssrc: UInt32? = nil) {
    (self.base, self.mask, self.parity, self.ssrc) = (base, mask, parity, ssrc)
  }

  /// Parses a payload; nil when it is malformed, protects nothing, or is of a kind that is not supported: fixed masks,
  /// retransmissions, and several protected streams.
  package init?(parsing payload: RawSpan, format: RepairFormat) {
    let parsed =
      switch format {
      case .ulpfec: Self.parseULPFEC(payload)
      case .flexFEC: Self.parseFlexFEC(payload)
      case .flexFECDraft: Self.parseFlexFECDraft(payload)
      }
    guard let parsed, !parsed.mask.isEmpty else { return nil }
    self = parsed
  }

  /// The number of bytes that ``write(format:into:)`` writes.
  package func encodedSize(format: RepairFormat) -> Int {
    let header =
      switch format {
      case .ulpfec: ulpfecHeaderSize
      case .flexFEC: flexFECHeaderSize
      case .flexFECDraft: flexFECDraftHeaderSize
      }
    return header + parity.bytes.count
  }

  /// Writes the payload.
  ///
  /// - Returns: the number of bytes; nil, with nothing written, when they do not fit, the mask spans too much, or the
  ///   SSRC that the header names is absent.
  package func write(format: RepairFormat, into output: inout OutputSpan<UInt8>) -> Int? {
    let size = encodedSize(format: format)
    guard let last = mask.last, last < format.maximumSpan, parity.bytes.count <= Int(UInt16.max),
      output.freeCapacity >= size
    else { return nil }
    switch format {
    case .ulpfec: writeULPFECHeader(into: &output)
    case .flexFEC: writeFlexFECHeader(into: &output)
    case .flexFECDraft:
      guard let ssrc else { return nil }
      writeFlexFECDraftHeader(ssrc: ssrc, into: &output)
    }
    for byte in parity.bytes { output.append(byte) }
    return size
  }
}
