public import CallCore
package import Codecs
package import Pictures

/// A picture of a remote track at the time at which it is shown.
public struct RenderedVideoFrame: Sendable {
  /// The MID of its section; empty before it is known.
  public package(set) var mid = ""
  /// The source of the picture.
  public let ssrc: UInt32
  /// The RTP timestamp at 90 kHz.
  public let timestamp: UInt32
  /// The time at which it is shown.
  public let rendered: Instant
  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int
  /// Whether it was coded without reference to others.
  public let isKeyFrame: Bool
  /// The number of the picture in its source: told by a modelled codec, otherwise read from the picture when there is
  /// one; see ``contentID``.
  private let modelledID: UInt32?
  /// The picture; nil from a modelled codec.
  package let picture: VideoFrame?
  /// The codec, and the frames of which it made the picture; none of a modelled codec.
  package let coded: (codec: VideoCodec, frames: [[UInt8]])

  package init(
    ssrc: UInt32, timestamp: UInt32, rendered: Instant, width: Int, height: Int, isKeyFrame: Bool,
    modelledID: UInt32?, picture: VideoFrame?, coded: (codec: VideoCodec, frames: [[UInt8]])
  ) {
    self.ssrc = ssrc
    self.timestamp = timestamp
    self.rendered = rendered
    self.width = width
    self.height = height
    self.isKeyFrame = isKeyFrame
    self.modelledID = modelledID
    self.picture = picture
    self.coded = coded
  }

  /// The number of the picture in its source; nil when the picture carries none.
  public var contentID: UInt32? { modelledID ?? picture.flatMap(FrameNumberCode.read) }
}
