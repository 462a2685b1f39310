import CallSim

/// The app around the view controller: what the user does, and what happens to the device.
public final class VonageSampleApp: CallApp {
  public static let vocabulary = VonageApp.vocabulary.app(
    "vonage-sample", "The app of a guide to Vonage Video.", actions: ["connect", "disconnect"],
    settings: [
      ParameterDeclaration(
        "app", .choice(["sample", "repaired"]), "the code of the guide, or without its defects; repaired")
    ])

  private let environment: PeerEnvironment
  private let sdk: VonageSDK
  private var controller: ViewController?

  public init(environment: PeerEnvironment) {
    self.environment = environment
    sdk = VonageSDK(environment: environment)
  }

  public func start() {
    sdk.start()
    let type = environment.settings.text("app") == "sample" ? ViewController.self : RepairedViewController.self
    controller = type.init(sdk)
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    switch action.name {
    case "connect": try controller?.join(action.values.text("session") ?? "")
    case "disconnect": controller?.leave()
    default: throw ActionError("unknown action '\(action.name)'")
    }
  }

  public func networkChanged() { sdk.networkChanged() }
  public func deviceChanged(_ change: DeviceChange) { sdk.deviceChanged(change) }
  public func shutDown() { sdk.shutDown() }
}

extension Profile {
  /// The sample's app with the product's server.
  public static let vonageSample = Profile(app: VonageSampleApp.self, server: VonageServer.self)
}
