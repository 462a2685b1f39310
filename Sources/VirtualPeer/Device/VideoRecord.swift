package import CallCore

/// Capture times of a peer's camera pictures, and the picture that its screen shows. Only a simulator knows both.
package final class VideoRecord {
  /// A picture on the screen.
  package struct Shown: Hashable, Sendable {
    package let ssrc: UInt32
    package let contentID: UInt32
    package let at: Instant
  }

  /// Thirty seconds of pictures at 30 Hz: more than any delay of a picture.
  private static let capacity = 1_024
  /// The capture times, each at its number modulo the capacity.
  private var captured: [(id: UInt32, at: Instant)?] = Array(repeating: nil, count: capacity)
  /// The sources of video that this peer sends.
  private var sources: [UInt32] = []
  private var shown: [String: Shown] = [:]

  init() {}

  func record(_ contentID: UInt32, at now: Instant) {
    captured[Int(contentID) % Self.capacity] = (contentID, now)
  }

  func send(_ source: UInt32) {
    if !sources.contains(source) { sources.append(source) }
  }

  func show(_ picture: Shown, over connection: String) { shown[connection] = picture }

  /// Returns the picture that was shown last for a connection, by its trace subject.
  package func shown(over connection: String) -> Shown? { shown[connection] }

  /// Returns the capture time of a picture; nil for one of another peer, and for one older than the record.
  package func captureTime(of picture: Shown) -> Instant? {
    guard sources.contains(picture.ssrc), let entry = captured[Int(picture.contentID) % Self.capacity],
      entry.id == picture.contentID
    else { return nil }
    return entry.at
  }
}
