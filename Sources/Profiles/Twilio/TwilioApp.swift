internal import CallCore
public import VirtualPeer
internal import Vocabulary

/// The Twilio Video app: the user's actions, the app's own policy, and one room at a time.
public final class TwilioApp: CallApp {
  private let environment: PeerEnvironment
  private let callbacks: TwilioCallbacks
  private let settings: TwilioSettings
  private var room: TwilioRoom?
  private var account: TwilioAccount?
  private var roomCount = 0
  /// What the user wants on, in a room and before.
  private var wantsMicrophone: Bool
  private var wantsCamera: Bool
  /// What the switches of the sample show.
  private var switches: (microphone: Bool, camera: Bool)

  /// Creates the app; it does nothing before ``start()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    callbacks = TwilioCallbacks(environment)
    settings = TwilioSettings(environment)
    wantsMicrophone = settings.microphone && environment.device.settings.mayRecord
    wantsCamera = settings.camera
    switches = (settings.microphone, settings.camera && environment.device.settings.hasVideo)
  }

  public func start() {
    let trace = environment.trace
    trace.set("room.sid", "none")
    trace.set("signalling.state", TwilioLink.State.early.rawValue)
    for name in ["mic", "camera"] {
      trace.set("\(name).on", false)
      trace.set("\(name).sent", false)
      trace.set("\(name).published", false)
      trace.set("\(name).sid", "none")
    }
    for name in ["published", "sent", "received"] { trace.set("data-track.\(name)", 0) }
    showSwitches()
    _ = TwilioRoster(trace, callbacks)
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    switch action.name {
    case "connect": try connect(to: action.values.text("room") ?? "")
    case "disconnect":
      guard let room, !room.isOver else { throw ActionError("in no room") }
      room.disconnect()
    case "mic-off", "mic-on": try switchMicrophone(action.name == "mic-on")
    case "camera-off", "camera-on": try switchCamera(action.name == "camera-on")
    case "publish":
      guard let room, !room.isOver else { throw ActionError("in no room") }
      try room.publish(action.values.text("track-name") ?? "")
    case "publish-data", "unpublish-data", "send-message": try performOnData(action)
    default:
      let account = account ?? TwilioAccount(environment)
      self.account = account
      try account.perform(action)
    }
  }

  private func performOnData(_ action: UserAction) throws(ActionError) {
    guard let room, !room.isOver else { throw ActionError("in no room") }
    let name = action.values.text("track-name") ?? ""
    switch action.name {
    case "publish-data": try room.publishData(name, try TwilioDataArguments.settings(of: action))
    case "unpublish-data": try room.unpublishData(name)
    default: try room.send(try TwilioDataArguments.messages(of: action), onData: name)
    }
  }

  /// Shows what the switches of the sample say: what the user asked for, whatever became of it.
  private func showSwitches() {
    guard settings.isSampleCode else { return }
    environment.trace.set("mic.on", switches.microphone)
    environment.trace.set("camera.on", switches.camera && environment.device.cameraInterruption == nil)
  }

  /// Whether a switch reaches nothing: that of the sample publishes through the room, and keeps nothing for one to come.
  private var isSwitchLost: Bool { settings.isSampleCode && room?.isOver ?? true }

  private var hasCamera: Bool {
    environment.device.settings.hasVideo && environment.device.settings.camera != nil
  }

  private func switchMicrophone(_ isOn: Bool) throws(ActionError) {
    switches.microphone = isOn
    showSwitches()
    guard !isSwitchLost else { return }
    // Without the permission to record there is no track, and nothing is shown as on.
    wantsMicrophone = isOn && environment.device.settings.mayRecord
    try room?.setMicrophone(wantsMicrophone)
  }

  private func switchCamera(_ isOn: Bool) throws(ActionError) {
    // The sample does not look at what the capture came to.
    guard hasCamera || settings.isSampleCode else { throw ActionError("the device has no camera") }
    switches.camera = isOn
    showSwitches()
    guard hasCamera else { return }
    guard !isSwitchLost else { return }
    wantsCamera = isOn
    try room?.setCamera(isOn)
  }

  private func connect(to name: String) throws(ActionError) {
    if let room, !room.isOver { throw ActionError("in a room already") }
    roomCount += 1
    let room = TwilioRoom(name, environment, settings, callbacks, number: roomCount)
    self.room = room
    room.isCameraInterrupted = environment.device.cameraInterruption != nil
    showSwitches()
    room.connect(microphone: wantsMicrophone, camera: wantsCamera && hasCamera)
  }

  public func networkChanged() { room?.networkChanged() }

  public func deviceChanged(_ change: DeviceChange) {
    switch change {
    case .audioInterruptionEnded(shouldResume: true), .appState(.active): room?.resumeAudio()
    case .cameraInterrupted: setCameraInterrupted(true)
    case .cameraInterruptionEnded: setCameraInterrupted(false)
    case .appState(.background): room?.leftForeground()
    case .appState, .audioInterruptionBegan, .audioInterruptionEnded: break
    }
  }

  private func setCameraInterrupted(_ isInterrupted: Bool) {
    room?.setCameraInterrupted(isInterrupted)
    showSwitches()
  }

  public func shutDown() {
    callbacks.shutDown()
    if let room, !room.isOver { room.disconnect() }
    room = nil
    account?.shutDown()
  }
}

/// The settings of the scenario.
struct TwilioSettings {
  let identity: String
  let token: TwilioToken.Kind
  let tokenTime: Interval
  let microphone: Bool
  let camera: Bool
  let microphoneName: String
  let off: OffPolicy
  /// What the app asks of the way to it; nil for nothing.
  let bandwidthProfile: TwilioBandwidthProfile?
  let cameraPriority: TwilioTrackPriority
  /// Whose network quality the app asks for.
  let networkQuality: TwilioQualityScope
  /// Whether the app asks who the dominant speaker is.
  let wantsDominantSpeaker: Bool
  /// Whether the app's switches are those of the guide's sample.
  let isSampleCode: Bool

  init(_ environment: PeerEnvironment) {
    let values = environment.settings
    identity = values.text("identity") ?? environment.userID
    token = values.text("token").flatMap(TwilioToken.Kind.init) ?? .valid
    tokenTime = min(values.duration("token-ttl") ?? TwilioToken.longestTime, TwilioToken.longestTime)
    microphone = values.flag("mic-at-connect") ?? true
    camera = values.flag("camera-at-connect") ?? true
    microphoneName = values.text("mic-name") ?? "mic"
    off = values.text("turn-off").flatMap(OffPolicy.init) ?? .unpublish
    bandwidthProfile = values.text("bandwidth-profile").flatMap(TwilioBandwidthProfile.Mode.init).map { mode in
      let word = values.text("track-switch-off")
      return TwilioBandwidthProfile(
        mode: mode, switchOff: word.flatMap(TwilioBandwidthProfile.SwitchOff.init) ?? .predicted)
    }
    cameraPriority = values.text("camera-priority").flatMap(TwilioTrackPriority.init) ?? .standard
    networkQuality = values.text("network-quality").flatMap(TwilioQualityScope.init) ?? .none
    wantsDominantSpeaker = values.flag("dominant-speaker") ?? false
    isSampleCode = values.flag("sample-code") ?? false
  }
}

/// What an operator does by the REST API.
struct TwilioAccount {
  private let requests: OperatorRequests

  init(_ environment: PeerEnvironment) {
    requests = OperatorRequests(environment, to: "room", text: TwilioWire.text, message: TwilioWire.message)
  }

  func perform(_ action: UserAction) throws(ActionError) {
    var fields: [(String, JSON?)] = [("room", action.values.text("room").map(JSON.string))]
    switch action.name {
    case "create-room": fields.append(("max_participants", action.values.count("max-participants").map(JSON.integer)))
    case "complete-room": break
    case "set-ad-hoc": fields.append(("flag", action.values.flag("allowed").map(JSON.bool)))
    case "set-busy":
      fields += [
        ("flag", action.values.flag("busy").map(JSON.bool)),
        ("retry_after", action.values.duration("retry-after").map { .integer($0.milliseconds) }),
        ("keep_alive", action.values.flag("keep-alive").map(JSON.bool)),
      ]
    default: throw ActionError("unknown action '\(action.name)'")
    }
    requests.send(action, fields)
  }

  func shutDown() { requests.shutDown() }
}
