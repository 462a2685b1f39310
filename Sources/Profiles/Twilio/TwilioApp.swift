internal import CallCore
internal import SCTP
public import VirtualPeer
internal import Vocabulary

/// The Twilio Video app: the user's actions, the app's own policy, and one room at a time.
public final class TwilioApp: CallApp {
  private let environment: PeerEnvironment
  private let sdk: TwilioVideoSDK
  private var settings: TwilioSettings { sdk.settings }
  private var room: TwilioRoom?
  private var account: TwilioAccount?
  private var microphone: TwilioLocalAudioTrack?
  /// The tracks of the microphone that were published besides.
  private var furtherTracks: [TwilioLocalAudioTrack] = []
  private var camera: TwilioLocalVideoTrack?
  private var source: TwilioCameraSource?
  /// What the user wants on, in a room and before.
  private var wantsMicrophone = false
  private var wantsCamera = false
  private var isCameraInterrupted: Bool { environment.device.cameraInterruption != nil }
  /// What the switches of the sample show.
  private var switches = (microphone: false, camera: false)

  /// Creates the app; it does nothing before ``start()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    sdk = TwilioVideoSDK(environment: environment)
    wantsMicrophone = settings.microphone && environment.device.settings.mayRecord
    wantsCamera = settings.camera
    switches = (settings.microphone, settings.camera && environment.device.settings.hasVideo)
  }

  public func start() {
    sdk.start()
    for name in ["mic", "camera"] { environment.trace.set("\(name).on", false) }
    show()
  }

  public func perform(_ action: UserAction) throws(ActionError) {
    switch action.name {
    case "connect": try connect(to: action.values.text("room") ?? "")
    case "disconnect":
      try liveRoom().disconnect()
      show()
    case "mic-off", "mic-on": switchMicrophone(action.name == "mic-on")
    case "camera-off", "camera-on": try switchCamera(action.name == "camera-on")
    case "publish": try publish(action.values.text("track-name") ?? "")
    case "publish-data", "unpublish-data", "send-message": try performOnData(action)
    default:
      let account = account ?? TwilioAccount(environment)
      self.account = account
      try account.perform(action)
    }
  }

  private func liveRoom() throws(ActionError) -> TwilioRoom {
    guard let room, !room.isOver else { throw ActionError("in no room") }
    return room
  }

  private func performOnData(_ action: UserAction) throws(ActionError) {
    let room = try liveRoom()
    let name = action.values.text("track-name") ?? ""
    switch action.name {
    case "publish-data": try room.publishData(name, try TwilioDataArguments.settings(of: action))
    case "unpublish-data": try room.unpublishData(name)
    default: try room.send(try TwilioDataArguments.messages(of: action), onData: name)
    }
  }

  /// Shows what is on: of the sample what the user asked for, whatever became of it.
  private func show() {
    let isInRoom = room.map { !$0.isOver } ?? false
    let sample = settings.isSampleCode
    let isOn = (microphone?.isEnabled ?? false) || furtherTracks.contains { $0.isEnabled && $0.isInRoom }
    environment.trace.set("mic.on", sample ? switches.microphone : isInRoom && isOn)
    environment.trace.set(
      "camera.on",
      sample ? switches.camera && !isCameraInterrupted : isInRoom && camera?.isEnabled ?? false)
  }

  // MARK: The room

  private func connect(to name: String) throws(ActionError) {
    if let room, !room.isOver { throw ActionError("in a room already") }
    (microphone, furtherTracks, camera) = (nil, [], nil)
    if wantsMicrophone { microphone = TwilioLocalAudioTrack(sdk, name: settings.microphoneName) }
    if wantsCamera { startCamera() }
    let options = TwilioConnectOptions(token: sdk.accessToken(for: name)) {
      $0.roomName = name
      $0.audioTracks = microphone.map { [$0] } ?? []
      $0.videoTracks = camera.map { [$0] } ?? []
    }
    room = try sdk.connect(options: options, delegate: self)
    show()
  }

  /// Publishes one more track of the microphone.
  private func publish(_ name: String) throws(ActionError) {
    guard let participant = try liveRoom().localParticipant else { throw ActionError("not in the room yet") }
    guard let track = TwilioLocalAudioTrack(sdk, name: name) else {
      throw ActionError("the user does not permit recording")
    }
    furtherTracks.append(track)
    participant.publishAudioTrack(track)
    show()
  }

  // MARK: Microphone and camera

  /// Whether a switch reaches nothing: that of the sample publishes through the room, and keeps nothing for one to come.
  private var isSwitchLost: Bool { settings.isSampleCode && room?.isOver ?? true }

  private func switchMicrophone(_ isOn: Bool) {
    switches.microphone = isOn
    // Without the permission to record there is no track, and nothing is shown as on.
    if !isSwitchLost {
      wantsMicrophone = isOn && environment.device.settings.mayRecord
      switchFurtherTracks()
    }
    publishWhatIsWanted()
  }

  /// The user turns the microphone off or on, and not one of its tracks.
  private func switchFurtherTracks() {
    guard settings.off == .unpublish, let participant = room?.localParticipant else {
      for track in furtherTracks { track.isEnabled = wantsMicrophone }
      return
    }
    guard wantsMicrophone else {
      for track in furtherTracks { participant.unpublishAudioTrack(track) }
      return
    }
    for index in furtherTracks.indices where !furtherTracks[index].isInRoom {
      guard let track = TwilioLocalAudioTrack(sdk, name: furtherTracks[index].name) else { continue }
      furtherTracks[index] = track
      participant.publishAudioTrack(track)
    }
  }

  private var hasCamera: Bool {
    environment.device.settings.hasVideo && environment.device.settings.camera != nil
  }

  private func switchCamera(_ isOn: Bool) throws(ActionError) {
    // The sample does not look at what the capture came to.
    guard hasCamera || settings.isSampleCode else { throw ActionError("the device has no camera") }
    switches.camera = isOn
    if hasCamera, !isSwitchLost { wantsCamera = isOn }
    publishWhatIsWanted()
  }

  private func startCamera() {
    guard hasCamera else { return }
    let source = TwilioCameraSource(sdk, delegate: self)
    self.source = source
    source.startCapture()
    camera = TwilioLocalVideoTrack(source: source, enabled: !isCameraInterrupted, name: "camera")
  }

  /// Brings the tracks in line with what the user wants, which has to wait while the room is not connected.
  private func publishWhatIsWanted() {
    defer { show() }
    guard let room, !room.isOver else { return }
    let participant = room.localParticipant
    if let microphone {
      if !wantsMicrophone, settings.off == .unpublish, let participant {
        participant.unpublishAudioTrack(microphone)
        self.microphone = nil
      } else {
        microphone.isEnabled = wantsMicrophone
      }
    } else if wantsMicrophone, let participant {
      microphone = TwilioLocalAudioTrack(sdk, name: settings.microphoneName)
      if let microphone { participant.publishAudioTrack(microphone) }
    }
    if let camera {
      if !wantsCamera, settings.off == .unpublish, let participant {
        participant.unpublishVideoTrack(camera)
        (self.camera, source) = (nil, nil)
      } else {
        camera.isEnabled = wantsCamera && !isCameraInterrupted
      }
    } else if wantsCamera, let participant {
      startCamera()
      if let camera { participant.publishVideoTrack(camera) }
    }
  }

  // MARK: The device

  public func networkChanged() { sdk.networkChanged() }

  public func deviceChanged(_ change: DeviceChange) { sdk.deviceChanged(change) }

  public func shutDown() {
    sdk.shutDown()
    show()
    room = nil
    account?.shutDown()
  }
}

extension TwilioApp: TwilioRoomDelegate, TwilioLocalParticipantDelegate, TwilioCameraSourceDelegate {
  public func roomDidConnect(room: TwilioRoom) {
    guard room === self.room else { return }
    room.localParticipant?.delegate = self
    publishWhatIsWanted()
  }

  public func roomDidFailToConnect(room: TwilioRoom, error: TwilioError) { show() }

  public func roomDidDisconnect(room: TwilioRoom, error: TwilioError?) { show() }

  public func localParticipantDidFailToPublish(
    participant: TwilioLocalParticipant, track: TwilioLocalTrack, error: TwilioError
  ) {
    // What the server refuses is off until the user turns it on again; what ends with the room is not refused.
    let isRefused = room?.isOver == false && room?.localParticipant === participant
    if track === microphone { (microphone, wantsMicrophone) = (nil, wantsMicrophone && !isRefused) }
    furtherTracks.removeAll { $0 === track }
    if track === camera { (camera, wantsCamera) = (nil, wantsCamera && !isRefused) }
    show()
  }

  public func cameraSourceWasInterrupted(source: TwilioCameraSource) {
    publishWhatIsWanted()
  }

  public func cameraSourceInterruptionEnded(source: TwilioCameraSource) {
    // The sample turns the camera on after an interruption, also one that the user had turned off.
    if settings.isSampleCode, camera != nil { wantsCamera = true }
    publishWhatIsWanted()
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
    tokenTime = values.duration("token-ttl") ?? TwilioToken.longestTime
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
