package import CallCore
package import Pictures

/// Capture times of a peer's camera pictures, and the picture that its screen shows. Only a simulator knows both.
package final class VideoRecord {
  /// A picture on the screen.
  package struct Shown: Hashable, Sendable {
    package var ssrc: UInt32
    package var timestamp: UInt32
    package let contentID: UInt32
    package let at: Instant
  }

  /// Thirty seconds of pictures at 30 Hz: more than any delay of a picture.
  private static let capacity = 1_024
  /// Half a second of shown pictures at 60 Hz.
  private static let shownCapacity = 30
  /// The capture times, each at its number modulo the capacity.
  private var captured: [(id: UInt32, at: Instant)?] = Array(repeating: nil, count: capacity)
  /// The sources of video that this peer sends.
  private var sources: [UInt32] = []
  /// What is shown of one received source.
  private struct Screen {
    /// The pictures shown last, the newest at the end.
    var shown: [Shown]
    /// The newest; nil from a modelled codec.
    var picture: VideoFrame?
  }
  /// What is shown for each connection, by source.
  private var screens: [String: [UInt32: Screen]] = [:]
  /// The painters of this peer's pictures, each from a number on; nil for modelled ones.
  private var painters: [(first: UInt32, video: GeneratedVideo?)] = []

  /// The sizes of the pictures that the camera took, in order.
  package private(set) var takenSizes: [PictureSize] = []
  /// The size of the pictures that it takes now.
  private var size: PictureSize?

  /// Called with the number of every picture that the camera takes.
  package var onCapture: ((UInt32) -> Void)?
  /// Called with every picture that is shown, modelled ones too.
  package var onShown: ((Shown) -> Void)?
  /// Called with every picture that is shown for a connection, by its trace subject; not with modelled ones.
  package var onShow: ((Shown, VideoFrame, _ connection: String) -> Void)?

  init() {}

  /// Says how large the pictures are from a number on, and what paints them.
  func paint(from first: UInt32, _ size: PictureSize, with video: GeneratedVideo?) {
    self.size = size
    painters.append((first, video))
  }

  private func painter(of contentID: UInt32) -> GeneratedVideo? {
    painters.last { $0.first <= contentID }.flatMap(\.video)
  }

  func record(_ contentID: UInt32, at now: Instant) {
    onCapture?(contentID)
    if let size, takenSizes.last != size { takenSizes.append(size) }
    captured[Int(contentID) % Self.capacity] = (contentID, now)
  }

  func send(_ source: UInt32) {
    if !sources.contains(source) { sources.append(source) }
  }

  /// Returns whether a stream is one of this peer's camera.
  package func sends(_ ssrc: UInt32) -> Bool { sources.contains(ssrc) }

  func show(_ shown: Shown, _ picture: VideoFrame?, over connection: String) {
    var screen = screens[connection, default: [:]].removeValue(forKey: shown.ssrc) ?? Screen(shown: [])
    if screen.shown.count == Self.shownCapacity { screen.shown.removeFirst() }
    screen.shown.append(shown)
    screen.picture = picture
    screens[connection, default: [:]][shown.ssrc] = screen
    onShown?(shown)
    if let picture { onShow?(shown, picture, connection) }
  }

  /// Returns the picture that was shown last of a source; nil from a modelled codec.
  package func picture(of source: UInt32, over connection: String) -> VideoFrame? {
    screens[connection]?[source]?.picture
  }

  /// Returns the camera picture of a number; nil for modelled ones.
  package func original(_ contentID: UInt32) -> VideoFrame? { painter(of: contentID)?.frame(contentID) }

  /// Returns a camera picture as it was taken; nil for one of another peer, and for modelled ones.
  package func original(of picture: Shown) -> VideoFrame? {
    captureTime(of: picture) == nil ? nil : original(picture.contentID)
  }

  /// Returns the sources of which pictures were shown for a connection, by its trace subject.
  package func shownSources(over connection: String) -> [UInt32] { (screens[connection] ?? [:]).keys.sorted() }

  /// Returns the picture that was shown last of a source.
  package func shown(of source: UInt32, over connection: String) -> Shown? {
    screens[connection]?[source]?.shown.last
  }

  /// Returns the picture that was shown of a source at a moment of the last half second.
  package func shown(of source: UInt32, over connection: String, at moment: Instant) -> Shown? {
    screens[connection]?[source]?.shown.last { $0.at <= moment }
  }

  /// Returns the capture time of a picture; nil for one of another peer, and for one older than the record.
  package func captureTime(of picture: Shown) -> Instant? {
    guard sources.contains(picture.ssrc), let entry = captured[Int(picture.contentID) % Self.capacity],
      entry.id == picture.contentID
    else { return nil }
    return entry.at
  }
}
