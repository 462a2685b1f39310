package import Pictures

/// The result of decoding one frame.
package struct DecodedVideoFrame: Sendable {
  /// The picture; nil from a codec without pictures.
  package let picture: VideoFrame?
  package let size: PictureSize
  /// The number of the picture in its source, from a codec without pictures. Otherwise ``FrameNumberCode`` reads it.
  package let contentID: UInt32?
  package let isKeyFrame: Bool
  /// Whether the decoder knows that the picture, or one that it depends on, is damaged. A VP8 or VP9 decoder does not
  /// notice that a frame is missing.
  package let isCorrupted: Bool
  /// Whether the size differs from that of the frame before, or this is the first.
  package let hasNewSize: Bool
  /// The quantizer index of the bitstream: VP8 0 to 127, VP9 and AV1 0 to 255; nil without one.
  package let quantizer: Int?
}
