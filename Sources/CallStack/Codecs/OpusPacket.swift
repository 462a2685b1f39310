import CallCore

/// The properties of an Opus packet that are known without decoding (RFC 6716 section 3).
package struct OpusPacket: Hashable, Sendable {
  package enum Mode: Hashable, Sendable { case silk, hybrid, celt }
  package enum Bandwidth: Int, Comparable, Hashable, Sendable {
    case narrow, medium, wide, superWide, full
    package static func < (a: Bandwidth, b: Bandwidth) -> Bool { a.rawValue < b.rawValue }
  }

  package let mode: Mode
  package let bandwidth: Bandwidth
  package let isStereo: Bool
  package let frameCount: Int
  /// The number of samples per channel in one frame, at 48 kHz.
  package let frameSamples: Int
  package let byteCount: Int
  /// Whether the first frame carries low-bitrate redundancy of the previous packet (section 4.2.4).
  package let hasRedundancy: Bool

  /// Whether the encoder found speech in the first frame (section 4.2.3); nil in CELT, which does not say.
  package let isVoiced: Bool?

  /// The number of samples per channel in the packet, at 48 kHz.
  package var samplesPerChannel: Int { frameCount * frameSamples }
  /// Whether the packet only marks silence: with DTX it has at most two bytes.
  package var isDTX: Bool { byteCount <= 2 }

  /// Parses a payload, or returns nil when it violates section 3.4.
  package init?(parsing payload: RawSpan) {
    guard let toc = payload.byte(at: 0) else { return nil }
    byteCount = payload.byteCount
    let configuration = Int(toc >> 3)
    switch configuration {
    case ..<12:
      mode = .silk
      bandwidth = [.narrow, .medium, .wide][configuration / 4]
      frameSamples = [480, 960, 1_920, 2_880][configuration % 4]
    case ..<16:
      mode = .hybrid
      bandwidth = configuration < 14 ? .superWide : .full
      frameSamples = [480, 960][configuration % 2]
    default:
      mode = .celt
      bandwidth = [.narrow, .wide, .superWide, .full][(configuration - 16) / 4]
      frameSamples = 120 << (configuration % 4)
    }
    isStereo = toc & 4 != 0
    guard let (count, firstFrame) = Self.frames(code: toc & 3, payload),
      count > 0, count * frameSamples <= 5_760
    else { return nil }
    frameCount = count
    hasRedundancy = Self.hasRedundancy(
      mode: mode, frameSamples: frameSamples, isStereo: isStereo, payload, firstFrame: firstFrame)
    isVoiced = Self.isVoiced(mode: mode, frameSamples: frameSamples, payload, firstFrame: firstFrame)
  }

  /// The maximum size of one frame in bytes (section 3.4, rule R2), also the limit of explicit lengths.
  private static let longestFrame = 1_275

  /// Returns the number of frames and the range of the first one (section 3.2).
  private static func frames(code: UInt8, _ payload: RawSpan) -> (count: Int, first: Range<Int>)? {
    let end = payload.byteCount
    switch code {
    case 0:
      guard end - 1 <= longestFrame else { return nil }
      return (1, 1..<end)
    case 1:
      guard (end - 1) % 2 == 0, (end - 1) / 2 <= longestFrame else { return nil }
      return (2, 1..<1 + (end - 1) / 2)
    case 2:
      guard let (length, start) = frameLength(payload, at: 1), (0...longestFrame).contains(end - start - length) else {
        return nil
      }
      return (2, start..<start + length)
    default: return codeThreeFrames(payload)
    }
  }

  private static func codeThreeFrames(_ payload: RawSpan) -> (count: Int, first: Range<Int>)? {
    guard let counts = payload.byte(at: 1) else { return nil }
    let count = Int(counts & 0x3F)
    guard count > 0 else { return nil }
    var offset = 2
    var padding = 0
    if counts & 0x40 != 0 {
      while true {
        guard let byte = payload.byte(at: offset) else { return nil }
        offset += 1
        padding += byte == 255 ? 254 : Int(byte)
        if byte != 255 { break }
      }
    }
    let end = payload.byteCount - padding
    guard offset <= end else { return nil }
    guard counts & 0x80 != 0 else {
      guard (end - offset) % count == 0, (end - offset) / count <= longestFrame else { return nil }
      return (count, offset..<offset + (end - offset) / count)
    }
    var firstLength: Int?
    var total = 0
    for _ in 0..<count - 1 {
      guard let (length, next) = frameLength(payload, at: offset) else { return nil }
      firstLength = firstLength ?? length
      total += length
      offset = next
    }
    guard (0...longestFrame).contains(end - offset - total) else { return nil }
    return (count, offset..<offset + (firstLength ?? end - offset))
  }

  /// Returns a one- or two-byte frame length and the offset after it (section 3.2.1).
  private static func frameLength(_ payload: RawSpan, at offset: Int) -> (length: Int, next: Int)? {
    guard let first = payload.byte(at: offset) else { return nil }
    guard first >= 252 else { return (Int(first), offset + 1) }
    guard let second = payload.byte(at: offset + 1) else { return nil }
    return (4 * Int(second) + Int(first), offset + 2)
  }

  /// Returns whether a voice activity bit of the first channel is set; they are the first bits of the SILK header.
  private static func isVoiced(
    mode: Mode, frameSamples: Int, _ payload: RawSpan, firstFrame: Range<Int>
  ) -> Bool? {
    guard mode != .celt else { return nil }
    guard !firstFrame.isEmpty, let header = payload.byte(at: firstFrame.lowerBound) else { return false }
    return header >> (8 - max(1, frameSamples / 960)) != 0
  }

  /// Returns the redundancy bit. The SILK header of each channel begins with one voice activity bit per 20 ms frame,
  /// followed by the redundancy bit (sections 4.2.3 and 4.2.4). Each bit has even odds, so it is readable in the
  /// range-coded data.
  private static func hasRedundancy(
    mode: Mode, frameSamples: Int, isStereo: Bool, _ payload: RawSpan, firstFrame: Range<Int>
  ) -> Bool {
    guard mode != .celt, !firstFrame.isEmpty, let header = payload.byte(at: firstFrame.lowerBound) else { return false }
    let silkFrames = max(1, frameSamples / 960)
    let middle = (header >> (7 - silkFrames)) & 1
    let side = isStereo ? (header >> (6 - 2 * silkFrames)) & 1 : 0
    return middle | side != 0
  }
}
