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
  /// The pictures shown last for each connection, the newest at the end.
  private var shown: [String: [Shown]] = [:]
  private var pictures: [String: VideoFrame] = [:]
  /// The painters of this peer's pictures, each from a number on; nil for modelled ones.
  private var painters: [(first: UInt32, video: GeneratedVideo?)] = []

  /// Called with the number of every picture that the camera takes.
  package var onCapture: ((UInt32) -> Void)?
  /// Called with every picture that is shown for a connection, by its trace subject; not with modelled ones.
  package var onShow: ((Shown, VideoFrame, _ connection: String) -> Void)?

  init() {}

  /// Says what paints the pictures from a number on.
  func paint(from first: UInt32, with video: GeneratedVideo?) { painters.append((first, video)) }

  private func painter(of contentID: UInt32) -> GeneratedVideo? {
    painters.last { $0.first <= contentID }.flatMap(\.video)
  }

  func record(_ contentID: UInt32, at now: Instant) {
    onCapture?(contentID)
    captured[Int(contentID) % Self.capacity] = (contentID, now)
  }

  func send(_ source: UInt32) {
    if !sources.contains(source) { sources.append(source) }
  }

  func show(_ shown: Shown, _ picture: VideoFrame?, over connection: String) {
    self.shown[connection, default: []].append(shown)
    if self.shown[connection, default: []].count > Self.shownCapacity { self.shown[connection]?.removeFirst() }
    pictures[connection] = picture
    if let picture { onShow?(shown, picture, connection) }
  }

  /// When the last picture was shown; nil before the first.
  package var lastShown: Instant? { shown.values.compactMap(\.last?.at).max() }

  /// Returns the picture that was shown last for a connection; nil from a modelled codec.
  package func picture(over connection: String) -> VideoFrame? { pictures[connection] }

  /// Returns the camera picture of a number; nil for modelled ones.
  package func original(_ contentID: UInt32) -> VideoFrame? { painter(of: contentID)?.frame(contentID) }

  /// Returns a camera picture as it was taken; nil for one of another peer, and for modelled ones.
  package func original(of picture: Shown) -> VideoFrame? {
    captureTime(of: picture) == nil ? nil : original(picture.contentID)
  }

  /// Returns the picture that was shown last for a connection, by its trace subject.
  package func shown(over connection: String) -> Shown? { shown[connection]?.last }

  /// Returns the picture that a connection showed at a moment of the last half second.
  package func shown(over connection: String, at moment: Instant) -> Shown? {
    shown[connection]?.last { $0.at <= moment }
  }

  /// Returns the capture time of a picture; nil for one of another peer, and for one older than the record.
  package func captureTime(of picture: Shown) -> Instant? {
    guard sources.contains(picture.ssrc), let entry = captured[Int(picture.contentID) % Self.capacity],
      entry.id == picture.contentID
    else { return nil }
    return entry.at
  }
}
