internal import CallCore
internal import PeerSession
internal import Statistics
internal import VirtualPeer

/// Watches whether media still come in: ICE that is disconnected, and three seconds without a byte, mean that they are
/// lost. It looks once in a second.
final class TwilioMediaWatch {
  private let clock: PeerClock
  private let connection: any PeerConnection
  private let lost: () -> Void
  private var timer: PeerTimer?
  private var received: Int64 = 0
  private var lastIncrease: Instant
  /// Whether the present loss was reported.
  private var isTold = false

  private static let period = Interval.seconds(1)
  private static let limit = Interval.seconds(3)

  init(_ clock: PeerClock, _ connection: any PeerConnection, lost: @escaping () -> Void) {
    self.clock = clock
    self.connection = connection
    self.lost = lost
    lastIncrease = clock.now
    look()
  }

  func stop() { timer?.cancel() }

  private func look() {
    timer = clock.schedule(after: Self.period) { [weak self] in self?.look() }
    if case .integer(let count)? = connection.statistics().first("transport")?["bytesReceived"], count > received {
      received = count
      lastIncrease = clock.now
      if connection.connectionState == .connected { isTold = false }
    }
    guard connection.connectionState == .disconnected, clock.now - lastIncrease >= Self.limit, !isTold else { return }
    isTold = true
    lost()
  }
}
