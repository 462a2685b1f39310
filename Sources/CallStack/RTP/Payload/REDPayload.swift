import CallCore

/// The blocks of a redundant audio payload (RFC 2198), the oldest first and the primary last.
package struct REDPayload: Sendable {
  package struct Block: Hashable, Sendable {
    package var payloadType: UInt8
    /// The time before the packet's timestamp, in fourteen bits; 0 for the primary block.
    package var timestampOffset: UInt16
    package var range: Range<Int>
    package var isPrimary: Bool
  }

  /// The number of blocks, with the primary.
  package let count: Int
  private var header = 0
  private var data: Int

  /// The largest number of redundant blocks that is read; libwebrtc allows as many.
  package static let maximumRedundantBlocks = 32

  /// Reads the headers of a payload. Returns nil when it ends inside a header or a redundant block, or has too many.
  package init?(parsing payload: RawSpan) {
    var (offset, blocks, size) = (0, 1, 0)
    while true {
      guard let first = payload.byte(at: offset) else { return nil }
      if first & 0x80 == 0 { break }
      guard let word = payload.bigEndian(UInt32.self, at: offset), blocks <= Self.maximumRedundantBlocks else {
        return nil
      }
      size += Int(word & 0x3FF)
      offset += 4
      blocks += 1
    }
    guard offset + 1 + size <= payload.byteCount else { return nil }
    count = blocks
    data = offset + 1
  }

  /// Returns the next block, or nil after the primary. Always pass the same payload.
  package mutating func next(in payload: RawSpan) -> Block? {
    guard header >= 0, let first = payload.byte(at: header) else { return nil }
    guard first & 0x80 != 0 else {
      header = -1
      return Block(
        payloadType: first, timestampOffset: 0, range: min(data, payload.byteCount)..<payload.byteCount,
        isPrimary: true)
    }
    guard let word = payload.bigEndian(UInt32.self, at: header) else { return nil }
    let end = data + Int(word & 0x3FF)
    guard end <= payload.byteCount else { return nil }
    defer { data = end }
    header += 4
    return Block(
      payloadType: first & 0x7F, timestampOffset: UInt16(word >> 10 & 0x3FFF), range: data..<end, isPrimary: false)
  }
}

extension REDPayload {
  /// A block to write.
  package struct Source: Hashable, Sendable {
    package var payloadType: UInt8
    /// The time before the packet's timestamp.
    package var timestampOffset: UInt32
    package var bytes: [UInt8]

    package init(payloadType: UInt8, timestampOffset: UInt32, bytes: [UInt8]) {
      self.payloadType = payloadType & 0x7F
      self.timestampOffset = timestampOffset
      self.bytes = bytes
    }

    /// Whether the header can express the block.
    var fits: Bool { timestampOffset < 1 << 14 && bytes.count < 1 << 10 }
  }

  /// Writes a payload. A redundant block for which there is no room, or that is too old or too long for its header, is left
  /// out with all older ones: readers take the blocks for those of consecutive packets.
  ///
  /// - Parameter redundant: earlier payloads, the oldest first.
  /// - Returns: the number of redundant blocks; nil, with nothing written, when the primary does not fit.
  package static func write(
    primary: RawSpan, payloadType: UInt8, redundant: [Source], into output: inout OutputSpan<UInt8>
  ) -> Int? {
    var room = output.freeCapacity - 1 - primary.byteCount
    guard room >= 0 else { return nil }
    var first = redundant.count
    while first > 0, redundant[first - 1].fits, redundant[first - 1].bytes.count + 4 <= room {
      first -= 1
      room -= redundant[first].bytes.count + 4
    }
    for block in redundant[first...] {
      let head = UInt32(0x80 | block.payloadType) << 24
      output.append(bigEndian: head | block.timestampOffset << 10 | UInt32(block.bytes.count))
    }
    output.append(payloadType & 0x7F)
    for block in redundant[first...] {
      for byte in block.bytes { output.append(byte) }
    }
    output.append(contentsOf: primary)
    return redundant.count - first
  }
}
