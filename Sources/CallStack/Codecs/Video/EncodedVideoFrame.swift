package import CallCore
package import Pictures

/// A coded frame, with all that packetisation and forwarding need to know about it.
package struct EncodedVideoFrame: Hashable, Sendable {
  package let bytes: [UInt8]
  package let isKeyFrame: Bool
  package let size: PictureSize
  /// The capture time of the picture.
  package let timestamp: Instant
  package let contentID: UInt32?
  /// The quantizer index of the bitstream: VP8 0 to 127, VP9 0 to 255; nil without one.
  package let quantizer: Int?
  /// The number of the frame in the stream. Frames that the encoder drops are not counted.
  package let number: UInt32
  package let layer: TemporalLayer
}

/// The place of a frame among the temporal layers.
package struct TemporalLayer: Hashable, Sendable {
  /// The layer, 0 for the lowest.
  package let id: Int
  /// Whether a receiver of lower layers can begin with this layer here: the frame depends only on layer 0.
  package let isSync: Bool
  /// The number of the latest frame of layer 0, modulo 256 (TL0PICIDX of RFC 7741).
  package let baseIndex: UInt8
  /// Whether no other frame depends on this one.
  package let isDiscardable: Bool
  /// How many frames before this one in the stream those are that it depends on, ascending; none for a key frame.
  package let dependencies: [UInt32]
}
