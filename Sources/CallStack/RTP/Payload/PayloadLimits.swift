/// The room for a frame's bytes in the payloads of its packets.
///
/// Header extensions that only some packets carry make those packets' room smaller.
package struct PayloadLimits: Hashable, Sendable {
  /// The largest payload in bytes, with the payload descriptor.
  package var maximum: Int
  /// The bytes that a frame's first packet has less than ``maximum``.
  package var firstReduction: Int
  /// The bytes that a frame's last packet has less than ``maximum``.
  package var lastReduction: Int
  /// The bytes that the only packet of a frame has less than ``maximum``.
  package var singleReduction: Int

  package init(maximum: Int, firstReduction: Int = 0, lastReduction: Int = 0, singleReduction: Int? = nil) {
    self.maximum = maximum
    self.firstReduction = max(0, firstReduction)
    self.lastReduction = max(0, lastReduction)
    self.singleReduction = singleReduction ?? max(0, firstReduction) + max(0, lastReduction)
  }

  /// The limits for what follows a descriptor of `size` bytes.
  package func reduced(by size: Int) -> PayloadLimits {
    var limits = self
    limits.maximum -= size
    return limits
  }
}

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
}
