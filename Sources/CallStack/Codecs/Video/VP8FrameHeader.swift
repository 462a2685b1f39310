import CallCore

/// The part of a VP8 frame header that is not entropy-coded (RFC 6386 section 9.1).
package struct VP8FrameHeader: Hashable, Sendable {
  package let isKeyFrame: Bool
  package let isShown: Bool
  /// The size in pixels; zero in frames that are not key frames.
  package let width: Int
  package let height: Int

  /// Parses the header, or returns nil if the bytes are too few or violate the format.
  package init?(parsing bytes: RawSpan) {
    guard bytes.byteCount >= 3, let tag = bytes.byte(at: 0) else { return nil }
    isKeyFrame = tag & 1 == 0
    isShown = tag & 0x10 != 0
    guard isKeyFrame else {
      (width, height) = (0, 0)
      return
    }
    guard bytes.byte(at: 3) == 0x9D, bytes.byte(at: 4) == 0x01, bytes.byte(at: 5) == 0x2A,
      let w = bytes.bigEndian(UInt16.self, at: 6), let h = bytes.bigEndian(UInt16.self, at: 8)
    else { return nil }
    // The upper two bits ask the player to scale.
    width = Int(w.byteSwapped & 0x3FFF)
    height = Int(h.byteSwapped & 0x3FFF)
    guard width > 0, height > 0 else { return nil }
  }
}
