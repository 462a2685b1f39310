internal import CallCore
package import Pictures

/// The pictures that a camera, or a shared screen, gives. Each carries its number.
public enum CameraSource: String, Hashable, Sendable, CaseIterable {
  /// A head that sways and speaks, with sensor noise.
  case talkingHead = "talking-head"
  /// Bars in eight colours that move.
  case movingBars = "moving-bars"
  /// Lines of letters that scroll: a shared screen.
  case screen
  /// Black: a covered lens.
  case black

  /// Returns the seed of the pictures of a device's camera.
  static func seed(_ random: RandomSource) -> UInt64 {
    var seeds = random.stream("camera")
    return seeds.next()
  }

  package var kind: GeneratedVideo.Kind {
    switch self {
    case .talkingHead: .talkingHead
    case .movingBars: .movingBars
    case .screen: .screenText
    case .black: .black
    }
  }
}
