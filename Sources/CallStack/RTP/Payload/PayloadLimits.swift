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
