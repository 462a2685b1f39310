internal import CallCore

/// A frame cut into parts of about equal size, as in libwebrtc: the fewest packets, of sizes that differ by one byte.
///
/// Equal packets keep a small last one from wasting headers, and make the loss of any packet equally likely.
package struct PayloadSplit: Hashable, Sendable {
  /// The number of parts.
  package let count: Int
  private let limits: PayloadLimits
  private var remaining: Int
  private var left: Int
  private var size: Int
  /// The place of the next part in the frame.
  private var offset = 0
  private let larger: Int

  /// Cuts `byteCount` bytes. Returns nil when there are none, or a packet has no room for one.
  package init?(byteCount: Int, limits: PayloadLimits) {
    guard byteCount > 0 else { return nil }
    self.limits = limits
    remaining = byteCount
    if byteCount <= limits.maximum - limits.singleReduction {
      (count, left, size, larger) = (1, 1, byteCount, 0)
      return
    }
    guard limits.maximum - limits.firstReduction >= 1, limits.maximum - limits.lastReduction >= 1 else { return nil }
    // The first and the last packet are counted as if they were full, and get less.
    let total = byteCount + limits.firstReduction + limits.lastReduction
    let packets = max(2, (total - 1) / limits.maximum + 1)
    guard byteCount >= packets else { return nil }
    count = packets
    left = packets
    size = total / packets
    larger = total % packets
  }

  /// Returns the size of the next part in bytes, or nil after the last.
  package mutating func next() -> Int? {
    guard left > 0 else { return nil }
    if left == 1 {
      left = 0
      return remaining
    }
    // The last parts take the rest of the division, one byte each.
    if left == larger { size += 1 }
    var part = size
    if left == count { part = max(1, part - limits.firstReduction) }
    // Every part after this one has at least one byte.
    part = min(part, remaining - (left - 1))
    remaining -= part
    left -= 1
    return part
  }

  /// Writes the next payload of a frame: a descriptor and a part.
  ///
  /// - Parameters:
  ///   - frame: The frame that was cut.
  ///   - describe: Returns the descriptor of a part at a place.
  /// - Returns: the place; nil after the last, or, with nothing written, when it does not fit or the frame is another one.
  mutating func writeNext(
    of frame: RawSpan, into output: inout OutputSpan<UInt8>,
    describedBy describe: (PayloadPlace) -> some PayloadDescriptor
  ) -> PayloadPlace? {
    var following = self
    guard let size = following.next(), offset + size <= frame.byteCount else { return nil }
    let place = PayloadPlace(isFirst: offset == 0, isLast: offset + size == frame.byteCount)
    let descriptor = describe(place)
    guard output.freeCapacity >= descriptor.encodedSize + size, descriptor.write(into: &output) else { return nil }
    output.append(contentsOf: frame.extracting(offset..<offset + size))
    following.offset = offset + size
    self = following
    return place
  }
}

/// What a payload format puts in front of each part of a frame.
protocol PayloadDescriptor {
  /// The size on the wire in bytes.
  var encodedSize: Int { get }

  /// - Returns: false, with nothing written, when it does not fit.
  func write(into output: inout OutputSpan<UInt8>) -> Bool
}
