internal import Bitstreams
import CallCore
import RTP

/// The parameter sets that an H.264 decoder has, by which a receiver knows whether it can decode a key frame.
package struct H264ParameterSets: Sendable {
  /// The sequence parameter sets by their numbers.
  private var sequences = InlineArray<32, H264SequenceParameterSet?>(repeating: nil)
  /// The number of the sequence parameter set that each picture parameter set refers to.
  private var pictures: [UInt8?] = Array(repeating: nil, count: 256)

  package init() {}

  /// Takes a NAL unit from signalling (`sprop-parameter-sets`, RFC 6184 section 8.1). Others are ignored.
  package mutating func insert(_ unit: RawSpan) {
    switch (unit.byte(at: 0) ?? 0) & 0x1F {
    case H264NALUnit.Kind.sequenceParameterSet.rawValue:
      if let set = H264SequenceParameterSet(parsing: unit) { sequences[Int(set.id)] = set }
    case H264NALUnit.Kind.pictureParameterSet.rawValue:
      if let set = H264PictureParameterSet(parsing: unit) { pictures[Int(set.id)] = set.sequenceParameterSet }
    default: break
    }
  }

  /// Takes the parameter sets of a frame and returns whether all sets that its IDR slices need are known.
  ///
  /// - Parameter frame: a byte stream; its size is set by the sets it uses.
  package mutating func accept(_ frame: inout EncodedFrame) -> Bool {
    var size: (width: UInt16, height: UInt16)?
    guard check(frame.data, &size) else { return false }
    if let size, frame.width == 0 { (frame.width, frame.height) = size }
    return true
  }

  private mutating func check(_ data: [UInt8], _ size: inout (width: UInt16, height: UInt16)?) -> Bool {
    let bytes = data.span.bytes
    var units = H264ByteStream(bytes)
    while let unit = units.next(in: bytes) {
      let content = bytes.extracting(unit.range)
      guard unit.kind == .instantaneousRefresh else {
        insert(content)
        continue
      }
      guard let slice = H264SliceHeader(parsing: content), let number = pictures[Int(slice.pictureParameterSet)],
        let set = sequences[Int(number)]
      else { return false }
      size = (set.width, set.height)
    }
    return true
  }

  /// Forgets all sets.
  package mutating func reset() { self = H264ParameterSets() }
}
