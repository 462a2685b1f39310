internal import CallCore

/// The start of a VP8 frame (RFC 6386 section 9.1).
package struct VP8FrameHeader: Hashable, Sendable {
  package var isKeyFrame: Bool
  /// Whether the frame is meant to be shown.
  package var isShown: Bool
  /// The picture's width in pixels; only a key frame gives it.
  package var width: UInt16?
  /// The picture's height in pixels; only a key frame gives it.
  package var height: UInt16?

  /// Reads the header from the first bytes of a frame: three, or ten of a key frame. Returns nil when they are missing
  /// or a key frame lacks its start code.
  package init?(parsing frame: RawSpan) {
    guard let tag = frame.byte(at: 0), frame.byteCount >= 3 else { return nil }
    isKeyFrame = tag & 1 == 0
    isShown = tag & 0x10 != 0
    guard isKeyFrame else { return }
    guard frame.byte(at: 3) == 0x9D, frame.byte(at: 4) == 0x01, frame.byte(at: 5) == 0x2A,
      let width = frame.bigEndian(UInt16.self, at: 6), let height = frame.bigEndian(UInt16.self, at: 8)
    else { return nil }
    // Little-endian; the two highest bits scale the picture for display.
    self.width = width.byteSwapped & 0x3FFF
    self.height = height.byteSwapped & 0x3FFF
  }
}
