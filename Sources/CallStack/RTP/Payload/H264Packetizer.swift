internal import Bitstreams
import CallCore

/// Cuts an H.264 access unit into payloads (RFC 6184 sections 5.6 to 5.8).
///
/// The non-interleaved mode puts small NAL units together into an STAP-A and cuts large ones into FU-As of about equal
/// size; the single NAL unit mode does neither.
package struct H264Packetizer: Sendable {
  /// The values of `packetization-mode` (RFC 6184 section 8.1). The interleaved mode is not supported.
  package enum Mode: UInt8, Sendable { case singleUnit = 0, nonInterleaved = 1 }

  private struct Chunk: Sendable {
    var range: Range<Int>
    /// The header of the NAL unit that the chunk is or is a part of.
    var header: UInt8
    /// The number of the NAL units that share this one's packet, for the first of them.
    var aggregated = 1
    var fragment: (isFirst: Bool, isLast: Bool)?
  }

  package let mode: Mode
  private var chunks: [Chunk] = []
  private var units: [H264NALUnit] = []
  private var next = 0
  /// The number of packets of the prepared frame.
  package private(set) var packetCount = 0

  package init(mode: Mode = .nonInterleaved) { self.mode = mode }

  /// Prepares a frame, a byte stream with start codes. Returns false when it has no NAL unit, or one that does not fit.
  package mutating func begin(_ frame: RawSpan, limits: PayloadLimits) -> Bool {
    chunks.removeAll(keepingCapacity: true)
    units.removeAll(keepingCapacity: true)
    (next, packetCount) = (0, 0)
    var stream = H264ByteStream(frame)
    while let unit = stream.next(in: frame) { units.append(unit) }
    var index = 0
    while index < units.count {
      let room = room(from: index, through: index, limits)
      if units[index].range.count > room {
        guard mode == .nonInterleaved, cut(index, limits) else { return fail() }
        index += 1
      } else {
        let end = mode == .nonInterleaved ? aggregate(from: index, limits) : index + 1
        for place in index..<end {
          chunks.append(
            Chunk(range: units[place].range, header: units[place].header, aggregated: place == index ? end - index : 0))
        }
        packetCount += 1
        index = end
      }
    }
    return packetCount > 0
  }

  private mutating func fail() -> Bool {
    chunks.removeAll(keepingCapacity: true)
    packetCount = 0
    return false
  }

  /// The room of a packet with these NAL units.
  private func room(from first: Int, through last: Int, _ limits: PayloadLimits) -> Int {
    let (isFirst, isLast) = (first == 0, last == units.count - 1)
    if isFirst, isLast { return limits.maximum - limits.singleReduction }
    return limits.maximum - (isFirst ? limits.firstReduction : 0) - (isLast ? limits.lastReduction : 0)
  }

  /// Returns the end of the NAL units that fit one packet with the one at `start`.
  private func aggregate(from start: Int, _ limits: PayloadLimits) -> Int {
    var size = 1
    var end = start
    while end < units.count {
      let grown = size + 2 + units[end].range.count
      guard units[end].range.count <= 0xFFFF, grown <= room(from: start, through: end, limits) else { break }
      size = grown
      end += 1
    }
    // A NAL unit alone needs no aggregation, and no room for it.
    return max(end, start + 1)
  }

  private mutating func cut(_ index: Int, _ limits: PayloadLimits) -> Bool {
    let unit = units[index]
    var limits = limits.reduced(by: 2)
    if index > 0 { limits.firstReduction = 0 }
    if index < units.count - 1 { limits.lastReduction = 0 }
    // One part would be a whole NAL unit, which a fragment may not be (RFC 6184 section 5.8).
    limits.singleReduction = limits.maximum
    guard var split = PayloadSplit(byteCount: unit.range.count - 1, limits: limits) else { return false }
    var offset = unit.range.lowerBound + 1
    while let size = split.next() {
      let place = (offset == unit.range.lowerBound + 1, offset + size == unit.range.upperBound)
      chunks.append(Chunk(range: offset..<offset + size, header: unit.header, fragment: place))
      offset += size
      packetCount += 1
    }
    return true
  }

  /// Writes the next payload of the prepared frame.
  ///
  /// - Returns: its place in the frame; nil after the last, or, with nothing written, when it does not fit or the frame
  ///   is another one.
  package mutating func next(of frame: RawSpan, into output: inout OutputSpan<UInt8>) -> PayloadPlace? {
    guard next < chunks.count else { return nil }
    let group = next..<next + max(1, chunks[next].aggregated)
    let overhead = chunks[next].fragment != nil ? 2 : group.count > 1 ? 1 + 2 * group.count : 0
    guard group.allSatisfy({ chunks[$0].range.upperBound <= frame.byteCount }),
      output.freeCapacity >= group.reduce(overhead, { $0 + chunks[$1].range.count })
    else { return nil }
    let first = chunks[next]
    if let fragment = first.fragment {
      output.append(first.header & H264NALUnit.referenceMask | H264NALUnit.Kind.fragment.rawValue)
      output.append((fragment.isFirst ? 0x80 : 0) | (fragment.isLast ? 0x40 : 0) | first.header & 0x1F)
      output.append(contentsOf: frame.extracting(first.range))
    } else if group.count == 1 {
      output.append(contentsOf: frame.extracting(first.range))
    } else {
      // F if any unit has it, and the highest NRI (RFC 6184 section 5.7).
      let errors = group.reduce(UInt8(0)) { $0 | chunks[$1].header & 0x80 }
      let importance = group.reduce(UInt8(0)) { max($0, chunks[$1].header & 0x60) }
      output.append(errors | importance | H264NALUnit.Kind.aggregation.rawValue)
      for place in group {
        output.append(bigEndian: UInt16(chunks[place].range.count))
        output.append(contentsOf: frame.extracting(chunks[place].range))
      }
    }
    next = group.upperBound
    return PayloadPlace(isFirst: group.lowerBound == 0, isLast: next == chunks.count)
  }
}
