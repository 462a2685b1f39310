internal import CallCore
public import Pictures

/// The pictures that a camera, or a shared screen, gives. Each carries its number.
public enum CameraSource: Hashable, Sendable {
  /// A head that sways and speaks, with sensor noise.
  case talkingHead
  /// Bars in eight colours that move.
  case movingBars
  /// Lines of letters that scroll: a shared screen.
  case screen
  /// Black: a covered lens.
  case black
  /// What was filmed before.
  case recording(RecordedVideo)

  /// Returns the seed of the pictures of a device's camera.
  private static func seed(_ random: RandomSource) -> UInt64 {
    var seeds = random.stream("camera")
    return seeds.next()
  }

  /// Returns what paints the pictures.
  func painter(_ size: PictureSize, frameRate: Int, random: RandomSource) -> CameraPainter {
    let kind: GeneratedVideo.Kind
    switch self {
    case .talkingHead: kind = .talkingHead
    case .movingBars: kind = .movingBars
    case .screen: kind = .screenText
    case .black: kind = .black
    case .recording(let video): return .recorded(video, size, frameRate: frameRate)
    }
    return .generated(GeneratedVideo(kind, size: size, seed: Self.seed(random), frameRate: frameRate))
  }
}
