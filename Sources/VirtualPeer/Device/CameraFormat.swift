/// A format in which a camera gives pictures (`AVCaptureDevice.Format`).
public struct CameraFormat: Hashable, Sendable {
  /// The width of a picture in pixels.
  public let width: Int
  /// The height of a picture in pixels.
  public let height: Int
  /// The most pictures in a second.
  public let frameRate: Int

  /// Makes a format.
  public init(width: Int, height: Int, frameRate: Int) {
    (self.width, self.height, self.frameRate) = (width, height, frameRate)
  }

  /// The format as scenarios write it: `640x480@30`.
  public var text: String { "\(width)x\(height)@\(frameRate)" }

  /// Returns the format that an app takes for the one it wants, with no more pictures than it wants: the first of those whose
  /// sides differ least in sum, as libwebrtc's example app for iOS chooses.
  public func nearest(among formats: [CameraFormat]) -> CameraFormat {
    func distance(_ format: CameraFormat) -> Int { abs(format.width - width) + abs(format.height - height) }
    guard let best = formats.min(by: { distance($0) < distance($1) }) else { return self }
    return CameraFormat(width: best.width, height: best.height, frameRate: min(best.frameRate, frameRate))
  }
}
