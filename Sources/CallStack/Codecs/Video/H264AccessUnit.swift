internal import Bitstreams
internal import CallCore

/// An access unit of H.264 as files store it (ISO/IEC 14496-15): parameter sets apart, and every other NAL unit after its
/// length in four bytes.
package struct H264AccessUnit: Hashable, Sendable {
  package private(set) var sequenceParameterSets: [[UInt8]] = []
  package private(set) var pictureParameterSets: [[UInt8]] = []
  package private(set) var sample: [UInt8] = []

  /// Takes an access unit of a byte stream (ITU-T H.264 annex B) apart.
  package init(byteStream bytes: [UInt8]) {
    for unit in H264ByteStream.units(of: bytes.span.bytes) {
      let content = Array(bytes[unit.range])
      switch unit.kind {
      case .sequenceParameterSet: sequenceParameterSets.append(content)
      case .pictureParameterSet: pictureParameterSets.append(content)
      // Files have no delimiters: the table of samples says where one begins.
      case .accessUnitDelimiter: break
      default:
        sample.append(bigEndian: UInt32(clamping: content.count))
        sample += content
      }
    }
  }
}
