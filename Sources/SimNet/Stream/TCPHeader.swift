import CallCore

/// A TCP header (RFC 9293 section 3.1) with the one option the streams use, maximum segment size.
///
/// Segments have a zero checksum: virtual links protect TCP from bit errors, and a capture fills the checksum in. Ports
/// are informative; a NAT rewrites the packet's path, and receivers use that.
package struct TCPHeader: Hashable, Sendable {
  package var sourcePort: UInt16
  package var destinationPort: UInt16
  package var sequence: SequenceNumber
  package var acknowledgment: SequenceNumber
  package var flags: TCPFlags
  package var window: UInt16
  package var maximumSegmentSize: UInt16?

  /// The size of a header without options.
  package static let minimumSize = 20

  init(
    path: Path, sequence: SequenceNumber, acknowledgment: SequenceNumber, flags: TCPFlags, window: UInt16,
    maximumSegmentSize: UInt16? = nil
  ) {
    sourcePort = path.local.port
    destinationPort = path.remote.port
    self.sequence = sequence
    self.acknowledgment = acknowledgment
    self.flags = flags
    self.window = window
    self.maximumSegmentSize = maximumSegmentSize
  }

  /// Parses the header of a segment; returns nil if it is malformed.
  package init?(parsing segment: RawSpan) {
    guard let size = Self.size(of: segment),
      let sourcePort = segment.bigEndian(UInt16.self, at: 0),
      let destinationPort = segment.bigEndian(UInt16.self, at: 2),
      let sequence = segment.bigEndian(UInt32.self, at: 4),
      let acknowledgment = segment.bigEndian(UInt32.self, at: 8),
      let flags = Self.flags(of: segment),
      let window = segment.bigEndian(UInt16.self, at: 14)
    else { return nil }
    self.sourcePort = sourcePort
    self.destinationPort = destinationPort
    self.sequence = SequenceNumber(sequence)
    self.acknowledgment = SequenceNumber(acknowledgment)
    self.flags = flags
    self.window = window
    maximumSegmentSize = Self.maximumSegmentSize(in: segment, headerSize: size)
  }

  /// Returns the header's size in bytes with options, or nil if the segment is too short for it.
  package static func size(of segment: RawSpan) -> Int? {
    guard let word = segment.byte(at: 12) else { return nil }
    let size = Int(word >> 4) * 4
    return size >= minimumSize && size <= segment.byteCount ? size : nil
  }

  /// Returns the control bits of a segment, for middleboxes that need nothing else.
  package static func flags(of segment: RawSpan) -> TCPFlags? { segment.byte(at: 13).map(TCPFlags.init(rawValue:)) }

  private static func maximumSegmentSize(in segment: RawSpan, headerSize: Int) -> UInt16? {
    maximumSegmentSizeOffset(in: segment, headerSize: headerSize).flatMap { segment.bigEndian(UInt16.self, at: $0) }
  }

  /// Limits the maximum segment size that a segment offers to `limit`.
  ///
  /// - Returns: whether the segment was changed.
  static func lowerMaximumSegmentSize(in segment: inout [UInt8], to limit: UInt16) -> Bool {
    guard let offset = offsetOfSegmentSize(in: segment.span.bytes, above: limit) else { return false }
    segment[offset] = UInt8(limit >> 8)
    segment[offset + 1] = UInt8(truncatingIfNeeded: limit)
    return true
  }

  private static func offsetOfSegmentSize(in segment: RawSpan, above limit: UInt16) -> Int? {
    guard let size = size(of: segment), let offset = maximumSegmentSizeOffset(in: segment, headerSize: size),
      let offered = segment.bigEndian(UInt16.self, at: offset), offered > limit
    else { return nil }
    return offset
  }

  private static func maximumSegmentSizeOffset(in segment: RawSpan, headerSize: Int) -> Int? {
    var offset = minimumSize
    while offset < headerSize, let kind = segment.byte(at: offset), kind != 0 {
      if kind == 1 {
        offset += 1
        continue
      }
      guard let length = segment.byte(at: offset + 1), length >= 2 else { return nil }
      if kind == 2, length == 4, offset + 4 <= headerSize { return offset + 2 }
      offset += Int(length)
    }
    return nil
  }

  func encode(into buffer: inout OutputSpan<UInt8>) {
    buffer.append(bigEndian: sourcePort)
    buffer.append(bigEndian: destinationPort)
    buffer.append(bigEndian: sequence.rawValue)
    buffer.append(bigEndian: acknowledgment.rawValue)
    buffer.append(maximumSegmentSize == nil ? 0x50 : 0x60)
    buffer.append(flags.rawValue)
    buffer.append(bigEndian: window)
    buffer.append(bigEndian: UInt32(0))
    guard let maximumSegmentSize else { return }
    buffer.append(bigEndian: UInt16(0x0204))
    buffer.append(bigEndian: maximumSegmentSize)
  }
}
