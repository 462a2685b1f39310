package import CallCore
package import Pictures

/// Paints the pictures of a camera by their numbers: any of them at any time, so that what is shown can be compared with
/// what was taken.
package enum CameraPainter: Sendable {
  case generated(GeneratedVideo)
  /// A recording from its beginning, brought to the size of the camera's pictures.
  case recorded(RecordedVideo, PictureSize, frameRate: Int)

  /// Returns a picture, with its number in it.
  package func frame(_ number: UInt32, at timestamp: Instant = .zero) -> VideoFrame {
    switch self {
    case .generated(let video): return video.frame(number, at: timestamp)
    case .recorded(let video, let size, let frameRate):
      let time = Interval(nanoseconds: Int64(number) * 1_000_000_000 / Int64(frameRate))
      var frame = video.picture(at: time).scaled(to: size)
      frame.timestamp = timestamp
      frame.contentID = number
      FrameNumberCode.write(number, into: &frame)
      return frame
    }
  }
}
