import Pictures

/// The decoder of the modelled video codec. Unlike a real one it notices when a frame that it depends on is missing.
package final class SyntheticVideoDecoder {
  /// The number of frames that are remembered; the patterns reach back by 8 at most.
  private static let memory = 32

  private var hasKeyFrame = false
  private var lastSize: PictureSize?
  /// The numbers of the latest undamaged frames.
  private var decoded: [UInt32] = []

  package init() {}

  /// Decodes the payload of one frame. A frame with a missing or damaged dependency is marked as corrupted.
  package func decode(_ payload: RawSpan) throws(VideoCodecError) -> DecodedVideoFrame {
    guard let content = SyntheticVideo.Payload(parsing: payload) else { throw .malformed("no synthetic frame") }
    guard hasKeyFrame || content.isKeyFrame else { throw .keyFrameRequired }
    hasKeyFrame = true
    let isSound = content.dependencies.allSatisfy { decoded.contains(content.number &- $0) }
    if isSound {
      decoded.append(content.number)
      if decoded.count > Self.memory { decoded.removeFirst() }
    }
    defer { lastSize = content.size }
    return DecodedVideoFrame(
      picture: nil, size: content.size, contentID: content.contentID, isKeyFrame: content.isKeyFrame,
      isCorrupted: !isSound, hasNewSize: lastSize != content.size, quantizer: nil)
  }
}
