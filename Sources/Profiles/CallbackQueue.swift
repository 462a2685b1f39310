internal import CallCore
internal import VirtualPeer

/// A delegate's queue: callbacks are called in order, each in an event of its own, never within the call that caused them.
final class CallbackQueue {
  private let clock: PeerClock
  private var isOver = false

  init(_ clock: PeerClock) { self.clock = clock }

  func post(_ call: @escaping () -> Void) {
    clock.schedule(after: .zero) { [weak self] in if self?.isOver == false { call() } }
  }

  /// Calls nothing any more.
  func shutDown() { isOver = true }
}
