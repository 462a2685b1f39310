internal import CallCore
internal import SCTP
internal import VirtualPeer

/// The callbacks of the product's delegates, and what the trace shows of each.
struct TwilioCallbacks {
  private let environment: PeerEnvironment
  private let queue: CallbackQueue
  /// Keeps the callbacks about tracks of a room until it is connected; nil for none.
  private var gate: Gate?

  private final class Gate {
    var isOpen = false
    var held: [() -> Void] = []
  }

  init(_ environment: PeerEnvironment) {
    self.environment = environment
    queue = CallbackQueue(environment.clock)
  }

  /// Calls a callback of the room's delegate.
  ///
  /// - Parameter handler: What the app does in it.
  func room(
    _ name: String, error: String? = nil, participant: String? = nil, _ handler: @escaping () -> Void = {}
  ) {
    queue.post { [environment] in
      let trace = environment.trace
      trace.set("callback.error", error ?? "none")
      trace.set("callback.participant", users: participant.map { [$0] } ?? [])
      trace.notify(name)
      handler()
    }
  }

  /// Returns the callbacks of one room. Those about tracks wait for ``open()``.
  func ofRoom() -> TwilioCallbacks {
    var callbacks = self
    callbacks.gate = Gate()
    return callbacks
  }

  /// Lets the callbacks about tracks come, those first that have waited: the room is connected.
  func open() {
    gate?.isOpen = true
    let held = gate?.held ?? []
    gate?.held = []
    for call in held { call() }
  }

  private func post(_ call: @escaping () -> Void) {
    guard let gate, !gate.isOpen else { return queue.post(call) }
    gate.held.append { [queue] in queue.post(call) }
  }

  /// Calls a callback about a track.
  func track(_ name: String, error: String? = nil, _ handler: @escaping () -> Void = {}) {
    post { [environment] in
      environment.trace.set("track.callback.error", error ?? "none")
      environment.trace.set("track.callback", name)
      handler()
    }
  }

  /// Calls a completion handler of the app.
  func completion(_ handler: @escaping () -> Void) { queue.post(handler) }

  /// Calls the callback of a message on a data track.
  ///
  /// - Parameter count: the number of messages so far.
  func message(_ message: DataChannelMessage, from identity: String?, count: Int) {
    post { [environment] in
      let trace = environment.trace
      trace.set("data-track.sender", users: identity.map { [$0] } ?? [])
      trace.set("data-track.bytes", message.byteCount)
      if case .string(let text) = message { trace.set("data-track.text", String(text.prefix(1_000))) }
      trace.set("data-track.received", count)
      trace.set("track.callback.error", "none")
      let isText = if case .string = message { true } else { false }
      trace.set("track.callback", isText ? "remoteDataTrackDidReceiveString" : "remoteDataTrackDidReceiveData")
    }
  }

  /// Calls nothing any more.
  func shutDown() { queue.shutDown() }
}
