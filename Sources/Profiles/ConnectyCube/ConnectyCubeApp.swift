public import VirtualPeer
internal import Vocabulary

/// An app on the ConnectyCube SDK: a chat connection, and the client of calls.
public final class ConnectyCubeApp: CallApp {
  static let chatServer = "chat"

  private let environment: PeerEnvironment
  private let client: CallClient
  /// The app's call log; nil without.
  private let log: CallLog?

  /// Creates the app; it does nothing before ``start()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    client = CallClient(environment: environment)
    log = client.settings.keepsLog ? CallLog(environment.trace) : nil
  }

  public func start() {
    client.addDelegate(self)
    if let log { client.addDelegate(log) }
    if client.settings.initializesSDK { client.initialize() }
    if client.callKit != nil { environment.pushKit.register() }
    client.connectToChat()
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    let info = action.values.text("user-info").map { [JSON.Member("info", .string($0))] } ?? []
    switch action.name {
    case "initialize-rtc": client.initialize()
    case "call":
      let hasVideo = environment.device.settings.hasVideo
      let video = action.values.text("type").map { $0 == "video" } ?? hasVideo
      guard !video || hasVideo else { throw ActionError("the calls of this device have no video") }
      let session = try client.createNewSession(with: action.values.texts("to"), video: video)
      if let callKit = client.callKit { return callKit.start(session, info) }
      client.initializeAudio()
      session.startCall(info)
    case "accept":
      let session = try client.ringing()
      client.initializeAudio()
      session.acceptCall(info)
    case "reject": try client.ringing().rejectCall(info)
    case "hangup": try client.hangUp(with: action.values.text("with"), info)
    case "mute", "unmute":
      try client.userMuted(action.name == "mute")
    case "mute-remote", "unmute-remote":
      try client.setRemoteAudioMuted(action.name == "mute-remote", of: action.values.text("user") ?? "")
    case "camera-off", "camera-on":
      try client.userTurnedCamera(isOff: action.name == "camera-off")
    case "audio-device":
      let output = action.values.text("to").flatMap(AudioRoute.Output.init) ?? .speaker
      guard environment.device.setOutput(output) else {
        environment.trace.raise("cc.audio_device")
        throw ActionError("the audio session has no \(output.rawValue)")
      }
    case "share-screen":
      try client.shareScreen(at: action.values.count("fps"), adapts: action.values.flag("adapts") ?? true)
    case "stop-screen-share":
      guard client.stopScreenShare() else { throw ActionError("the screen is not shared") }
    case "recorder-format": try client.recorder().0.setFormat { $0.set(action.values) }
    case "start-recording":
      let (recorder, opponent) = try client.recorder()
      try recorder.start(opponent?.connection)
    case "stop-recording": try client.recorder().0.stop()
    case "add-audio-sink", "remove-audio-sink":
      try client.setAudioSink(action.name == "add-audio-sink", for: action.values.text("user") ?? "")
    case "switch-camera":
      try client.requireVideo()
      guard environment.device.switchCamera() else { throw ActionError("the device has no other camera") }
    case "ice-restart":
      guard try client.restartICE() else { throw ActionError("no connection that this user offered") }
    default: throw ActionError("unknown action '\(action.name)'")
    }
  }

  public func networkChanged() {
    client.networkChanged()
  }

  public func deviceChanged(_ change: DeviceChange) {
    switch change {
    case .audioInterruptionEnded(shouldResume: true), .appState(.active): client.resumeAudio()
    // The app captures its own screen, which is not there any more.
    case .appState(.background): client.stopScreenShare()
    default: break
    }
  }

  public func perform(_ action: CallKitAction) -> Bool { client.callKit?.perform(action) ?? false }

  public func callKitChanged(_ change: CallKitChange) { client.callKit?.changed(change) }

  public func received(_ push: VoIPPush) { client.callKit?.received(push) }

  public func shutDown() {
    client.shutDown()
  }
}

extension ConnectyCubeApp: CallClientDelegate {
  /// Without CallKit the audio is taken down with the last call.
  public func sessionDidClose(_ session: ConnectyCubeSession) {
    if client.callKit == nil, !client.isInCall { client.audio.deinitialize() }
  }
}

extension RecordingFormat {
  /// Takes the parameters that an action gives.
  fileprivate mutating func set(_ values: NamedValues) {
    if let width = values.count("width") { self.width = Int(clamping: width) }
    if let height = values.count("height") { self.height = Int(clamping: height) }
    if let bitrate = values.rate("bitrate") { self.bitrate = bitrate }
    if let rate = values.count("fps") { frameRate = Int(clamping: rate) }
    if let rotation = values.text("rotation").flatMap({ Int($0) }).flatMap(Rotation.init) { self.rotation = rotation }
  }
}
