import CallSim

/// The app around the call service: what the user does, and what happens to the device.
public final class KnotosSampleApp: CallApp {
  public static let vocabulary = KnotosApp.vocabulary.app(
    "knotos-sample", "The app of a guide to Knotos.", actions: ["call", "accept", "decline", "hangup"],
    settings: [
      ParameterDeclaration(
        "app", .choice(["sample", "repaired"]), "the code of the guide, or without its defects; repaired")
    ])

  private let environment: PeerEnvironment
  private let socket: SocketIOClient
  private var service: CallService?

  public init(environment: PeerEnvironment) {
    self.environment = environment
    socket = SocketIOClient(environment: environment)
  }

  public func start() {
    environment.trace.set("socket.state", socket.state.rawValue)
    let type = environment.settings.text("app") == "sample" ? CallService.self : RepairedCallService.self
    service = type.init(environment, socket)
    socket.connect()
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    switch action.name {
    case "call": try service?.startCall(to: action.values.text("to") ?? "")
    case "accept": try service?.accept()
    case "decline": try service?.decline()
    case "hangup": try service?.hangUp()
    default: throw ActionError("unknown action '\(action.name)'")
    }
  }

  public func networkChanged() { socket.networkChanged() }
  public func shutDown() { service?.shutDown() }
}

extension Profile {
  /// The sample's app with the product's server.
  public static let knotosSample = Profile(app: KnotosSampleApp.self, server: KnotosServer.self)
}
