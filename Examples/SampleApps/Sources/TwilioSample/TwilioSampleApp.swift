import CallSim

/// The app around the view controller: what the user does, and what happens to the device.
public final class TwilioSampleApp: CallApp {
  public static let vocabulary = TwilioApp.vocabulary.app(
    "twilio-sample", "The app of a guide to Twilio Video.",
    actions: ["connect", "disconnect", "mic-on", "mic-off", "camera-on", "camera-off"],
    settings: [
      ParameterDeclaration(
        "app", .choice(["sample", "repaired"]), "the code of the guide, or without its defects; repaired")
    ])

  private let environment: PeerEnvironment
  private let sdk: TwilioVideoSDK
  private var controller: RoomViewController?

  public init(environment: PeerEnvironment) {
    self.environment = environment
    sdk = TwilioVideoSDK(environment: environment)
  }

  public func start() {
    sdk.start()
    let type =
      environment.settings.text("app") == "sample" ? RoomViewController.self : RepairedRoomViewController.self
    controller = type.init(sdk, environment.trace)
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    switch action.name {
    case "connect": try controller?.connect(to: action.values.text("room") ?? "")
    case "disconnect": controller?.disconnect()
    case "mic-on": controller?.turnMicOn()
    case "mic-off": controller?.turnMicOff()
    case "camera-on": controller?.turnCameraOn()
    case "camera-off": controller?.turnCameraOff()
    default: throw ActionError("unknown action '\(action.name)'")
    }
  }

  public func networkChanged() { sdk.networkChanged() }
  public func deviceChanged(_ change: DeviceChange) { sdk.deviceChanged(change) }
  public func shutDown() { sdk.shutDown() }
}

extension Profile {
  /// The sample's app with the product's server.
  public static let twilioSample = Profile(app: TwilioSampleApp.self, server: TwilioRoomServer.self)
}
