package import Pictures
package import VirtualPeer

/// Pairs every picture that other peers' cameras take with the one that a peer sees in its place: the same one, or an
/// older one that still stands where it never comes, and black before the first of each call. Black that is sent in place
/// of a picture was taken as black.
package final class PicturePairing {
  /// Receives a picture as it was taken, and as it was seen.
  package typealias Receiver = (_ taken: VideoFrame, _ seen: VideoFrame) -> Void

  private struct Camera {
    let record: VideoRecord
    /// The pictures that were taken and not seen yet.
    var waiting: [(number: UInt32, isBlack: Bool)] = []
    /// The picture that was seen last; nil before the first.
    var seen: VideoFrame?
    /// Whether any picture was ever seen.
    var isShown = false
  }

  private var cameras: [Camera]
  private let body: Receiver

  package init(cameras: [VideoRecord], _ body: @escaping Receiver) {
    self.cameras = cameras.map { Camera(record: $0) }
    self.body = body
  }

  /// Notes that a camera begins to film for another call, in which nothing has been seen yet.
  package func begin(_ record: VideoRecord) {
    guard let index = cameras.firstIndex(where: { $0.record === record }) else { return }
    settle(cameras[index].waiting.count, of: index)
    cameras[index].seen = nil
  }

  /// Notes a picture that a camera takes, or black that is sent in its place.
  package func take(_ number: UInt32, isBlack: Bool, from record: VideoRecord) {
    guard let index = cameras.firstIndex(where: { $0.record === record }) else { return }
    cameras[index].waiting.append((number, isBlack))
  }

  /// Notes the picture that is seen now.
  package func see(_ picture: VideoFrame, number: UInt32, from record: VideoRecord) {
    guard let index = cameras.firstIndex(where: { $0.record === record }) else { return }
    // Numbers are those of the camera, whose count begins anew after 2^32.
    let count = cameras[index].waiting.prefix { Int32(bitPattern: $0.number &- number) < 0 }.count
    settle(count, of: index)
    cameras[index].seen = picture
    cameras[index].isShown = true
    if cameras[index].waiting.first?.number == number { settle(1, of: index) }
  }

  /// Pairs what was taken and never seen, at the end of the run: of the camera that was seen, or of the only one.
  package func finish() {
    for index in cameras.indices where cameras[index].isShown || cameras.count == 1 {
      settle(cameras[index].waiting.count, of: index)
    }
  }

  private func settle(_ count: Int, of index: Int) {
    for (number, isBlack) in cameras[index].waiting.prefix(count) {
      guard let original = cameras[index].record.original(number) else { continue }
      let black = VideoFrame(filled: original.size)
      body(isBlack ? black : original, cameras[index].seen ?? black)
    }
    cameras[index].waiting.removeFirst(count)
  }
}
