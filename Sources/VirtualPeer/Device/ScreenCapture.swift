/// A capture of the app's own screen (ReplayKit, in the app), as a source of video.
public struct ScreenCapture: Hashable, Sendable {
  /// The pictures that the system gives in a second.
  public let frameRate: Int
  /// The pictures in a second to which the app adapts the output of the source (libwebrtc's
  /// `adaptOutputFormatToWidth:height:fps:`); nil for all.
  public let adaptedFrameRate: Int?

  /// The frame rates that a system gives.
  public static let frameRates = 1...60

  /// - Precondition: the frame rate is one of ``frameRates``, and the adapted one at least 1.
  public init(frameRate: Int, adaptedFrameRate: Int? = nil) {
    precondition(
      Self.frameRates.contains(frameRate), "a system gives \(Self.frameRates) pictures of a screen in a second")
    precondition(adaptedFrameRate ?? 1 > 0, "a source that gives no picture is none")
    self.frameRate = frameRate
    self.adaptedFrameRate = adaptedFrameRate
  }
}
