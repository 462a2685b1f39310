internal import CallCore
internal import VirtualPeer

/// The delegates' queue: callbacks are called in order, each in an event of its own, never within the call that caused
/// them.
final class TwilioCallbacks {
  private let environment: PeerEnvironment
  private var isOver = false

  init(_ environment: PeerEnvironment) { self.environment = environment }

  /// Calls a callback of the room's delegate.
  func room(_ name: String, error: String? = nil, participant: String? = nil) {
    post { [self] in
      let trace = environment.trace
      trace.set("callback.error", error ?? "none")
      trace.set("callback.participant", participant ?? "none")
      trace.notify(name)
    }
  }

  /// Calls a callback about a track.
  func track(_ name: String) { post { [self] in environment.trace.set("track.callback", name) } }

  private func post(_ call: @escaping () -> Void) {
    environment.clock.schedule(after: .zero) { [weak self] in if self?.isOver == false { call() } }
  }

  /// Calls nothing any more.
  func shutDown() { isOver = true }
}
