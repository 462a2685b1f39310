package import CallCore
package import Pictures

/// A picture that a camera or a screen gives. It is painted only if an encoder needs it.
package struct VideoInput {
  /// The number of the picture in its source.
  package let contentID: UInt32
  package let size: PictureSize
  package let captured: Instant
  /// The pictures that its source gives in a second, whose size is then the full one; nil for as many, and of the size, as
  /// the settings of the session say.
  package let frameRate: Int?
  /// Whether it is a black picture in place of the source's.
  private(set) var isBlack = false
  private let paint: () -> VideoFrame
  private var painted: VideoFrame?

  /// Makes an input.
  ///
  /// - Parameter paint: returns the picture, of the given size.
  package init(
    contentID: UInt32, size: PictureSize, captured: Instant, frameRate: Int? = nil, paint: @escaping () -> VideoFrame
  ) {
    self.contentID = contentID
    self.size = size
    self.captured = captured
    self.frameRate = frameRate
    self.paint = paint
  }

  /// Makes an input of a picture that exists.
  package init(_ frame: VideoFrame, captured: Instant) {
    self.init(contentID: frame.contentID ?? 0, size: frame.size, captured: captured) { frame }
  }

  /// A black picture in its place, as a disabled track sends (W3C `track.enabled`).
  var blackened: VideoInput {
    let (size, contentID) = (size, contentID)
    var black = VideoInput(contentID: contentID, size: size, captured: captured, frameRate: frameRate) {
      VideoFrame(filled: size)
    }
    black.isBlack = true
    return black
  }

  /// Returns the picture at a size.
  mutating func picture(_ wanted: PictureSize) -> VideoFrame {
    var frame = painted ?? paint()
    painted = frame
    frame.timestamp = captured
    frame.contentID = contentID
    return frame.scaled(to: wanted)
  }
}
