/// The place of a payload in its frame.
package struct PayloadPlace: Hashable, Sendable, BitwiseCopyable {
  package var isFirst: Bool
  /// Whether the payload ends the frame. The RTP marker is set when the frame also ends its picture.
  package var isLast: Bool

  package init(isFirst: Bool, isLast: Bool) {
    self.isFirst = isFirst
    self.isLast = isLast
  }
}
