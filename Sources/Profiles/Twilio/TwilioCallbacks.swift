internal import CallCore
internal import VirtualPeer

/// The callbacks of the product's delegates, and what the trace shows of each.
struct TwilioCallbacks {
  private let environment: PeerEnvironment
  private let queue: CallbackQueue

  init(_ environment: PeerEnvironment) {
    self.environment = environment
    queue = CallbackQueue(environment.clock)
  }

  /// Calls a callback of the room's delegate.
  func room(_ name: String, error: String? = nil, participant: String? = nil) {
    queue.post { [environment] in
      let trace = environment.trace
      trace.set("callback.error", error ?? "none")
      trace.set("callback.participant", users: participant.map { [$0] } ?? [])
      trace.notify(name)
    }
  }

  /// Calls a callback about a track.
  func track(_ name: String) { queue.post { [environment] in environment.trace.set("track.callback", name) } }

  /// Calls nothing any more.
  func shutDown() { queue.shutDown() }
}
