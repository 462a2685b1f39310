package import CallCore

/// A video that is computed: every frame depends only on kind, size, seed, frame rate and its number, and carries that
/// number as a ``FrameNumberCode``. A receiver that reads the number can compute the reference picture to compare with.
package struct GeneratedVideo: Sendable {
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// Black.
    case black
    /// Vertical bars in eight colours that move by sixty pixels a second.
    case movingBars
    /// A head that sways and speaks in front of a textured wall, with sensor noise: camera video.
    case talkingHead
    /// Lines of letters that scroll by one line a second: screen sharing.
    case screenText
  }

  package let kind: Kind
  package let size: PictureSize
  package let seed: UInt64
  /// The frames in a second: what moves does so as fast at any rate.
  private let frameRate: Int
  /// The parts that do not move.
  private let background: VideoFrame

  package init(_ kind: Kind, size: PictureSize, seed: UInt64 = 1, frameRate: Int = 30) {
    self.kind = kind
    self.frameRate = max(1, frameRate)
    self.size = size
    self.seed = seed
    background =
      switch kind {
      case .talkingHead: TalkingHeadPainter.background(size, seed: seed)
      case .black, .movingBars, .screenText: VideoFrame(filled: size)
      }
  }

  /// Returns a frame. Its `contentID` is the number.
  package func frame(_ number: UInt32, at timestamp: Instant = .zero) -> VideoFrame {
    var frame = background
    frame.timestamp = timestamp
    frame.contentID = number
    // The time in thirtieths of a second.
    let step = UInt32(truncatingIfNeeded: Int(number) * 30 / frameRate)
    switch kind {
    case .black: break
    case .movingBars: MovingBarsPainter.paint(&frame, shift: Int(number) * 60 / frameRate)
    case .talkingHead: TalkingHeadPainter.paint(&frame, step: step, noise: number, seed: seed)
    case .screenText: ScreenTextPainter.paint(&frame, step: step, seed: seed)
    }
    FrameNumberCode.write(number, into: &frame)
    return frame
  }
}
