internal import CallCore
internal import VirtualPeer

/// Keeps a connection supplied with bytes.
final class StreamPump {
  private weak var stream: PeerStream?
  private let clock: PeerClock
  /// The bytes to send; nil without end.
  private var left: Int?
  private var sent = 0
  private var timer: PeerTimer?
  /// Called when all is handed over.
  private let onDone: () -> Void

  /// The bytes that wait in a connection: more than its window.
  private static let depth = 131_072
  private static let chunk = [UInt8](repeating: 0, count: 16_384)
  private static let period = Interval.milliseconds(10)

  init(_ size: Int?, into stream: PeerStream, _ clock: PeerClock, onDone: @escaping () -> Void = {}) {
    (left, self.stream, self.clock, self.onDone) = (size, stream, clock, onDone)
  }

  var isDone: Bool { left == 0 }
  /// Whether the other end has acknowledged any.
  var hasDelivered: Bool { stream.map { $0.queuedByteCount < sent } ?? false }

  func run() {
    guard let stream else { return }
    for _ in 0..<Self.depth / Self.chunk.count where stream.queuedByteCount < Self.depth {
      let count = min(left ?? .max, Self.chunk.count)
      guard count > 0 else { return onDone() }
      stream.send(Array(Self.chunk.prefix(count)))
      sent += count
      left = left.map { $0 - count }
    }
    timer = clock.schedule(after: Self.period) { [weak self] in self?.run() }
  }

  func stop() { timer?.cancel() }
}
