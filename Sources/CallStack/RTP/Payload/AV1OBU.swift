import CallCore

/// The header and the place of one open bitstream unit of AV1 (AV1 specification section 5.3).
package struct AV1OBU: Hashable, Sendable {
  package enum Kind: UInt8, Sendable {
    case sequenceHeader = 1
    case temporalDelimiter = 2
    case frameHeader = 3
    case tileGroup = 4
    case metadata = 5
    case frame = 6
    case redundantFrameHeader = 7
    case tileList = 8
    case padding = 15
  }

  /// The header's first byte.
  package var header: UInt8
  /// The second byte, of a unit that gives its layers.
  package var extensionHeader: UInt8?
  /// The bytes after the header and the size field.
  package var payload: Range<Int>

  /// The kind; nil for a reserved one.
  package var kind: Kind? { Kind(rawValue: header >> 3 & 0xF) }

  static let extensionFlag: UInt8 = 0x04
  static let sizeFlag: UInt8 = 0x02

  /// The size in RTP in bytes, without a size field (AV1 RTP specification section 4.5).
  var transportSize: Int { (extensionHeader == nil ? 1 : 2) + payload.count }

  /// Reads the unit of a temporal unit at `offset`, and moves `offset` behind it.
  ///
  /// - Returns: nil at the end and for a malformed unit; then `offset` is before the end.
  package init?(parsing bytes: RawSpan, at offset: inout Int) {
    guard let first = bytes.byte(at: offset), first & 0x80 == 0 else { return nil }
    var position = offset + 1
    if first & Self.extensionFlag != 0 {
      guard let second = bytes.byte(at: position) else { return nil }
      extensionHeader = second
      position += 1
    }
    if first & Self.sizeFlag != 0 {
      guard let size = LEB128.read(bytes, at: &position), size <= bytes.byteCount - position else { return nil }
      payload = position..<position + size
    } else {
      // A unit without a size is the last one.
      payload = position..<bytes.byteCount
    }
    header = first
    offset = payload.upperBound
  }

  /// Whether a sender leaves the unit out (AV1 RTP specification section 5).
  var isLeftOut: Bool { [.temporalDelimiter, .tileList, .padding].contains(kind) }
}
