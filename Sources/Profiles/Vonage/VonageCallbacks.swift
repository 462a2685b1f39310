internal import CallCore
internal import VirtualPeer

/// The callbacks of the product's delegates, and what the trace shows of each.
struct VonageCallbacks {
  private let environment: PeerEnvironment
  private let queue: CallbackQueue

  init(_ environment: PeerEnvironment) {
    self.environment = environment
    queue = CallbackQueue(environment.clock)
  }

  /// Calls a callback of the delegates of session, publishers and subscribers.
  ///
  /// - Parameters:
  ///   - error: The code; one that is not declared is told as `other`.
  ///   - user: The user whose connection or stream it is about.
  ///   - handler: What the app does in it.
  func call(
    _ name: String, error: String? = nil, user: String? = nil, reason: VideoReason? = nil, signal: VonageSignal? = nil,
    _ handler: @escaping () -> Void = {}
  ) {
    queue.post { [environment] in
      let trace = environment.trace
      trace.set("callback.error", error.map { VonageCode.names.contains($0) ? $0 : "other" } ?? "none")
      trace.set("callback.user", users: user.map { [$0] } ?? [])
      trace.set("callback.reason", reason?.rawValue ?? "none")
      if let signal {
        trace.set("signal.type", signal.type)
        trace.set("signal.data", signal.data)
        trace.set("signal.from", users: user.map { [$0] } ?? [])
      }
      trace.notify(name)
      handler()
    }
  }

  /// Calls nothing any more.
  func shutDown() { queue.shutDown() }
}

/// The reason for which video is disabled or enabled, by the product's numbers.
enum VideoReason: String, CaseIterable {
  /// The publisher's property changed.
  case publisher = "1"
  /// The subscriber's property changed.
  case subscriber = "2"
  /// The quality of the network changed.
  case quality = "3"
}
