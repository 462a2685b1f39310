internal import Bitstreams
import CallCore

/// The contents of an H.264 payload: one NAL unit, several (STAP-A), or a part of one (FU-A) (RFC 6184 section 5.4).
package struct H264Payload: Hashable, Sendable, BitwiseCopyable {
  package enum Structure: Hashable, Sendable, BitwiseCopyable {
    case single
    case aggregation
    /// A part of a NAL unit; the first part begins it.
    case fragment(isFirst: Bool, isLast: Bool)
  }

  package var structure: Structure
  /// Whether it begins a slice of an IDR picture.
  package var hasInstantaneousRefresh = false
  package var hasSequenceParameterSet = false
  package var hasPictureParameterSet = false
  /// Whether it contains a NAL unit with which access units begin: a delimiter or a sequence parameter set.
  package var canBeginFrame = false
  /// The resolution by a sequence parameter set in it; zero without one.
  package var width: UInt16 = 0
  package var height: UInt16 = 0

  /// Reads a payload. Returns nil when it is empty, malformed or of a structure that modes 0 and 1 do not have.
  package init?(parsing payload: RawSpan) {
    guard let header = payload.byte(at: 0) else { return nil }
    switch header & 0x1F {
    case 1...23:
      structure = .single
      note(header, payload)
    case H264NALUnit.Kind.aggregation.rawValue:
      structure = .aggregation
      var (offset, count) = (1, 0)
      while let range = Self.aggregated(payload, at: &offset) {
        count += 1
        note(payload.byte(at: range.lowerBound) ?? 0, payload.extracting(range))
      }
      guard offset == payload.byteCount, count > 0 else { return nil }
    case H264NALUnit.Kind.fragment.rawValue:
      guard let fragment = payload.byte(at: 1), payload.byteCount > 2 else { return nil }
      let (isFirst, isLast) = (fragment & 0x80 != 0, fragment & 0x40 != 0)
      guard !isFirst || !isLast else { return nil }
      structure = .fragment(isFirst: isFirst, isLast: isLast)
      // A parameter set that is cut is not read, and does not occur.
      if isFirst { note(fragment & 0x1F, nil) }
    default: return nil
    }
  }

  /// Returns the place of the NAL unit at `offset` of an STAP-A, and moves `offset` behind it; nil at the end, or, with
  /// `offset` before the end, when the unit is empty or too long.
  static func aggregated(_ payload: RawSpan, at offset: inout Int) -> Range<Int>? {
    guard let size = payload.bigEndian(UInt16.self, at: offset), size > 0,
      offset + 2 + Int(size) <= payload.byteCount
    else { return nil }
    let start = offset + 2
    offset = start + Int(size)
    return start..<offset
  }

  private mutating func note(_ header: UInt8, _ unit: RawSpan?) {
    switch H264NALUnit.Kind(rawValue: header & 0x1F) {
    case .instantaneousRefresh: hasInstantaneousRefresh = true
    case .sequenceParameterSet:
      hasSequenceParameterSet = true
      canBeginFrame = true
      guard let unit, let set = H264SequenceParameterSet(parsing: unit) else { return }
      (width, height) = (set.width, set.height)
    case .pictureParameterSet:
      hasPictureParameterSet = true
    case .accessUnitDelimiter: canBeginFrame = true
    default: break
    }
  }

  /// Appends a payload's NAL units to a byte stream, each after a start code (ITU-T H.264 annex B).
  ///
  /// Give the payloads of a frame in order. A part of a NAL unit continues the one before it.
  package static func append(_ payload: RawSpan, toByteStream stream: inout [UInt8]) {
    guard let header = payload.byte(at: 0) else { return }
    switch header & 0x1F {
    case H264NALUnit.Kind.aggregation.rawValue:
      var offset = 1
      while let range = aggregated(payload, at: &offset) {
        stream += H264NALUnit.startCode
        stream.append(payload, range)
      }
    case H264NALUnit.Kind.fragment.rawValue:
      guard let fragment = payload.byte(at: 1) else { return }
      if fragment & 0x80 != 0 {
        stream += H264NALUnit.startCode
        stream.append(header & H264NALUnit.referenceMask | fragment & 0x1F)
      }
      stream.append(payload, 2..<max(2, payload.byteCount))
    default:
      stream += H264NALUnit.startCode
      stream.append(payload, 0..<payload.byteCount)
    }
  }
}

extension [UInt8] {
  /// Appends the bytes in a range that lies inside.
  package mutating func append(_ bytes: RawSpan, _ range: Range<Int>) {
    bytes.extracting(range).withUnsafeBytes { append(contentsOf: $0) }
  }
}
