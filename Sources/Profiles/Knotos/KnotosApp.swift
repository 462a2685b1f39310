public import VirtualPeer
internal import Vocabulary

/// The Knotos app: a socket, and the call service that owns every transition.
public final class KnotosApp: CallApp {
  private let environment: PeerEnvironment
  private let socket: SocketIOClient
  private let service: CallService

  /// Creates the app; it does nothing before ``start()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    socket = SocketIOClient(environment: environment)
    service = CallService(environment: environment, socket: socket)
  }

  public func start() {
    let trace = environment.trace
    trace.set("socket.state", SocketIOClient.State.disconnected.rawValue)
    socket.onState = { [weak service] state in
      trace.set("socket.state", state.rawValue)
      service?.socketChanged(isConnected: state == .connected)
    }
    trace.set("socket.transport", "none")
    socket.onTransport = { trace.set("socket.transport", $0?.rawValue ?? "none") }
    socket.onProblem = { problem in
      switch problem {
      case .unknownSession: trace.raise("kn.unknown_session")
      case .refused, .malformed: trace.raise("kn.http_error")
      case .probeFailed: trace.raise("kn.probe_failed")
      case .tls: trace.raise("kn.tls_failed")
      }
    }
    socket.onMalformed = { trace.raise("kn.bad_event") }
    socket.onEvent = { [weak service] name, arguments in
      guard let message = KnotosMessage(name: name, arguments: arguments, isFromServer: true) else {
        trace.raise("kn.bad_event")
        return
      }
      trace.signalReceived(type: name, from: message.sender ?? "server")
      service?.received(message)
    }
    socket.connect()
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    switch action.name {
    case "call":
      guard let callee = action.values.text("to") else { throw ActionError("the callee is missing") }
      try service.startCall(to: callee)
    case "accept": try service.accept()
    case "decline": try service.decline()
    case "hangup": try service.hangUp()
    case "mute": try service.setMuted(true)
    case "unmute": try service.setMuted(false)
    case "dtmf":
      guard let digits = action.values.text("digits") else { throw ActionError("the digits are missing") }
      try service.send(digits: digits)
    case "camera-off": try service.setCameraOff(true)
    case "camera-on": try service.setCameraOff(false)
    case "ice-restart": try service.restartICE()
    default: throw ActionError("unknown action '\(action.name)'")
    }
  }

  public func networkChanged() {
    socket.networkChanged()
    service.networkChanged()
  }

  public func deviceChanged(_ change: DeviceChange) {
    switch change {
    case .audioInterruptionEnded(shouldResume: true): service.resumeAudio()
    case .appState(.active): if service.resumesInForeground { service.resumeAudio() }
    default: break
    }
  }

  public func perform(_ action: CallKitAction) -> Bool { service.perform(action) }

  public func callKitChanged(_ change: CallKitChange) { service.callKitChanged(change) }

  public func shutDown() {
    service.shutDown()
    socket.shutDown()
  }
}
