package import CallCore
package import PeerSession
package import Pictures

/// Capture times of a peer's camera pictures, and the picture that its screen shows. Only a simulator knows both.
package final class VideoRecord {
  /// A picture on the screen.
  package struct Shown: Hashable, Sendable {
    package var ssrc: UInt32
    package var timestamp: UInt32
    /// The number that the picture itself shows; nil for black ones, and for those too small for one.
    package let contentID: UInt32?
    package let at: Instant
  }

  /// A minute of pictures at 60 Hz: more than any delay of a picture.
  private static let capacity = 4_096
  /// Half a second of shown pictures at 60 Hz.
  private static let shownCapacity = 30
  /// A picture that the camera took.
  package struct Capture {
    /// Its number, which no other picture of the camera has.
    package let id: UInt32
    package let at: Instant
    /// Whether no track sends it, but black in its place.
    package let isBlack: Bool
  }
  /// The captures, each at its number modulo the capacity.
  private var captured: [Capture?] = []
  private var last: Capture?
  /// The RTP timestamps of pictures, each at its number modulo the capacity, for each source of video that this peer sends.
  private var sources: [UInt32: [(id: UInt32, timestamp: UInt32)?]] = [:]
  /// What is shown of one received source.
  private struct Screen {
    /// The pictures shown last, the newest at the end.
    var shown: [Shown] = []
    /// Those of the last quarter of a second, and the one before it; nil from a modelled codec.
    var pictures: [(at: Instant, frame: VideoFrame?)] = []

    mutating func show(_ next: Shown, _ frame: VideoFrame?) {
      if shown.count == VideoRecord.shownCapacity { shown.removeFirst() }
      shown.append(next)
      pictures.append((next.at, frame))
      while pictures.count > 1, next.at - pictures[1].at >= .milliseconds(250) { pictures.removeFirst() }
    }
  }
  /// What is shown for each connection, by source.
  private var screens: [String: [UInt32: Screen]] = [:]
  /// The painters of this peer's pictures, each from a number on; nil for modelled ones.
  private var painters: [(first: UInt32, video: CameraPainter?)] = []

  /// The sizes of the pictures that the camera took, in order.
  package private(set) var takenSizes: [PictureSize] = []
  /// The size of the pictures that it takes now.
  private var size: PictureSize?

  /// Called with the number of every picture that the camera takes and a track sends, and the time until the next.
  package var onCapture: ((_ number: UInt32, _ duration: Interval) -> Void)?
  /// Called when the camera begins to film for a call.
  package var onBegin: (() -> Void)?
  /// Called with every picture that is shown, modelled ones too.
  package var onShown: ((Shown) -> Void)?
  /// Called with every picture that is shown for a connection, by its trace subject; not with modelled ones.
  package var onShow: ((Shown, VideoFrame, _ connection: String) -> Void)?
  /// Called with every picture that is shown for a connection, by its trace subject, and that was coded; not with modelled
  /// ones.
  package var onRendered: ((RenderedVideoFrame, _ connection: String) -> Void)?

  init() {}

  /// Notes that the camera begins to film for a call.
  ///
  /// - Returns: the number of its first picture: no two pictures of a camera have the same.
  func begin() -> UInt32 {
    onBegin?()
    return last.map { $0.id &+ 1 } ?? 0
  }

  /// Says how large the pictures are from a number on, and what paints them.
  func paint(from first: UInt32, _ size: PictureSize, with video: CameraPainter?) {
    self.size = size
    painters.append((first, video))
  }

  private func painter(of contentID: UInt32) -> CameraPainter? {
    painters.last { $0.first <= contentID }.flatMap(\.video)
  }

  /// Notes a picture of the camera.
  ///
  /// - Parameters:
  ///   - duration: The time until the next.
  ///   - sends: Whether a track sends it; false if all send black in its place, and nil without a track.
  func record(_ contentID: UInt32, at now: Instant, for duration: Interval = .zero, sends: Bool?) {
    if sends == true { onCapture?(contentID, duration) }
    if let size, takenSizes.last != size { takenSizes.append(size) }
    let capture = Capture(id: contentID, at: now, isBlack: sends == false)
    if captured.isEmpty { captured = Array(repeating: nil, count: Self.capacity) }
    captured[Int(contentID) % Self.capacity] = capture
    last = capture
  }

  /// Notes the last picture of a source, which may be older than that of the camera.
  func send(_ sent: SentPicture) {
    if sources[sent.ssrc] == nil { sources[sent.ssrc] = Array(repeating: nil, count: Self.capacity) }
    guard let last, last.at == sent.captured else { return }
    sources[sent.ssrc]?[Int(last.id) % Self.capacity] = (last.id, sent.timestamp)
  }

  /// Returns whether a stream is one of this peer's camera.
  package func sends(_ ssrc: UInt32) -> Bool { sources[ssrc] != nil }

  func show(_ frame: RenderedVideoFrame, over connection: String) {
    let shown = Shown(ssrc: frame.ssrc, timestamp: frame.timestamp, contentID: frame.contentID, at: frame.rendered)
    let picture = frame.picture
    screens[connection, default: [:]][shown.ssrc, default: Screen()].show(shown, picture)
    onShown?(shown)
    guard let picture else { return }
    onShow?(shown, picture, connection)
    onRendered?(frame, connection)
  }

  /// Returns the picture that was shown of a source at a moment of the last quarter of a second; nil from a modelled codec.
  package func picture(of source: UInt32, over connection: String, at moment: Instant) -> VideoFrame? {
    screens[connection]?[source]?.pictures.last { $0.at <= moment }?.frame
  }

  /// Returns the camera picture of a number; nil for modelled ones.
  package func original(_ contentID: UInt32) -> VideoFrame? { painter(of: contentID)?.frame(contentID) }

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

  /// Returns which picture of the camera a shown one is, by the number that it shows or else by its RTP timestamp; nil for
  /// one of another peer, and for one older than the record.
  package func capture(of picture: Shown) -> Capture? {
    guard let sent = sources[picture.ssrc], !captured.isEmpty else { return nil }
    let number = picture.contentID ?? sent.lazy.compactMap(\.self).first { $0.timestamp == picture.timestamp }?.id
    guard let number, let capture = captured[Int(number) % Self.capacity], capture.id == number else { return nil }
    return capture
  }
}
