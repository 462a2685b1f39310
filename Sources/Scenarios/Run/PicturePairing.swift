package import CallCore
package import Pictures
package import VirtualPeer

/// A picture that a camera took, and what was seen in its place.
package struct PicturePair {
  package let taken: VideoFrame
  package let seen: VideoFrame
  /// The time until the camera's next picture.
  package let duration: Interval
  /// The size of all pictures that a peer sees: what a camera takes, or of several the largest that one is asked for.
  package let size: PictureSize
}

/// Pairs every picture that other peers' cameras take with the one that a peer sees in its place: the same one, or an
/// older one that still stands where it never comes, and black before the first of each call. While a camera is off, there
/// is nothing to see in its pictures.
package final class PicturePairing {
  package typealias Receiver = (PicturePair) -> Void

  private struct Camera {
    let record: VideoRecord
    /// The numbers of pictures that were taken and not seen yet, and how long each was the last.
    var waiting: [(number: UInt32, duration: Interval)] = []
    /// The picture that was seen last; nil before the first.
    var seen: VideoFrame?
    /// Whether any picture was ever seen.
    var isShown = false
  }

  private var cameras: [Camera]
  private let size: PictureSize?
  private let body: Receiver

  /// - Parameter size: The size of all pictures; nil for that which they have.
  package init(cameras: [VideoRecord], size: PictureSize? = nil, _ body: @escaping Receiver) {
    self.cameras = cameras.map { Camera(record: $0) }
    self.size = size
    self.body = body
  }

  /// Notes that a camera begins to film for another call, in which nothing has been seen yet.
  package func begin(_ record: VideoRecord) {
    guard let index = cameras.firstIndex(where: { $0.record === record }) else { return }
    settleAll(of: index)
    cameras[index].seen = nil
  }

  /// Notes a picture that a camera takes.
  package func take(_ number: UInt32, for duration: Interval, from record: VideoRecord) {
    guard let index = cameras.firstIndex(where: { $0.record === record }) else { return }
    cameras[index].waiting.append((number, duration))
  }

  /// Notes the picture that is seen now, or the black one that is sent in its place.
  package func see(_ picture: VideoFrame, number: UInt32, from record: VideoRecord) {
    guard let index = cameras.firstIndex(where: { $0.record === record }) else { return }
    // Numbers are those of the camera, whose count begins anew after 2^32.
    let count = cameras[index].waiting.prefix { Int32(bitPattern: $0.number &- number) < 0 }.count
    settle(count, of: index)
    cameras[index].seen = picture
    cameras[index].isShown = true
    if cameras[index].waiting.first?.number == number { settle(1, of: index) }
  }

  /// Pairs what was taken and never seen, at the end of the run, and lets go of the cameras, which keep this.
  package func finish() {
    for index in cameras.indices { settleAll(of: index) }
    cameras = []
  }

  /// Pairs what was taken and never seen: of a camera that was seen, or of the only one.
  private func settleAll(of index: Int) {
    guard cameras[index].isShown || cameras.count == 1 else { return cameras[index].waiting.removeAll() }
    settle(cameras[index].waiting.count, of: index)
  }

  private func settle(_ count: Int, of index: Int) {
    for (number, duration) in cameras[index].waiting.prefix(count) {
      guard let taken = cameras[index].record.original(number) else { continue }
      body(
        PicturePair(
          taken: taken, seen: cameras[index].seen ?? VideoFrame(filled: taken.size), duration: duration,
          size: size ?? taken.size))
    }
    cameras[index].waiting.removeFirst(count)
  }
}
