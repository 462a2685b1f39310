/// The header and the place of one NAL unit of H.264 (RFC 6184 section 1.3).
package struct H264NALUnit: Hashable, Sendable {
  /// The kinds of NAL units that packetization and key frames depend on (ITU-T H.264 table 7-1, RFC 6184 section 5.2).
  package enum Kind: UInt8, Sendable {
    case slice = 1
    case instantaneousRefresh = 5
    case supplementalInformation = 6
    case sequenceParameterSet = 7
    case pictureParameterSet = 8
    case accessUnitDelimiter = 9
    /// Several NAL units of the same time in one packet (STAP-A).
    case aggregation = 24
    /// A part of a NAL unit (FU-A).
    case fragment = 28
  }

  /// The bytes with the header, without a start code.
  package var range: Range<Int>
  package var header: UInt8

  init(range: Range<Int>, header: UInt8) {
    self.range = range
    self.header = header
  }

  /// The kind; nil when nothing here depends on it.
  package var kind: Kind? { Kind(rawValue: header & 0x1F) }

  /// The F bit and the NRI of a header.
  package static let referenceMask: UInt8 = 0xE0
  /// The start code that precedes each NAL unit in a byte stream (ITU-T H.264 annex B).
  package static let startCode: [UInt8] = [0, 0, 0, 1]
}
