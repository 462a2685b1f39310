import CallSim

/// The app around the view controller: what the user does, and what happens to the device.
public final class ConnectyCubeSampleApp: CallApp {
  public static let vocabulary = ConnectyCubeApp.vocabulary.app(
    "connectycube-sample", "The app of a guide to ConnectyCube.", actions: ["call", "accept", "reject", "hangup"],
    settings: [
      ParameterDeclaration(
        "app", .choice(["sample", "repaired"]), "the code of the guide, or without its defects; repaired")
    ])

  private let environment: PeerEnvironment
  private let client: CallClient
  private var controller: CallViewController?

  public init(environment: PeerEnvironment) {
    self.environment = environment
    client = CallClient(environment: environment)
  }

  public func start() {
    let type =
      environment.settings.text("app") == "sample" ? CallViewController.self : RepairedCallViewController.self
    let controller = type.init(client)
    self.controller = controller
    controller.viewDidLoad()
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    switch action.name {
    case "call":
      let video = action.values.text("type").map { $0 == "video" } ?? environment.device.settings.hasVideo
      try controller?.call(action.values.texts("to"), video: video)
    case "accept": controller?.accept()
    case "reject": controller?.reject()
    case "hangup": controller?.hangUp()
    default: throw ActionError("unknown action '\(action.name)'")
    }
  }

  public func networkChanged() { client.networkChanged() }
  public func shutDown() { client.shutDown() }
}

extension Profile {
  /// The sample's app with the product's server.
  public static let connectyCubeSample = Profile(app: ConnectyCubeSampleApp.self, server: ConnectyCubeServer.self)
}
