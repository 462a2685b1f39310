import CallSim

// The names of the product's SDK.
typealias ConnectOptions = TwilioConnectOptions
typealias Room = TwilioRoom
typealias LocalParticipant = TwilioLocalParticipant
typealias LocalAudioTrack = TwilioLocalAudioTrack
typealias LocalVideoTrack = TwilioLocalVideoTrack
typealias CameraSource = TwilioCameraSource

/// The view controller as the guide's sample has it, with the defects of the sample; which participant it asks by mistake is
/// our own reading. ``RepairedRoomViewController`` has none of them.
class RoomViewController: TwilioRoomDelegate, TwilioLocalParticipantDelegate {
  let sdk: TwilioVideoSDK
  private let trace: PeerTrace
  var room: Room?
  var localParticipant: LocalParticipant?
  var localAudioTrack: LocalAudioTrack?
  var localVideoTrack: LocalVideoTrack?
  var camera: CameraSource?

  /// What the buttons show.
  var isMicOn = false { didSet { trace.set("mic.on", isMicOn) } }
  var isCameraOn = false { didSet { trace.set("camera.on", isCameraOn) } }

  required init(_ sdk: TwilioVideoSDK, _ trace: PeerTrace) {
    self.sdk = sdk
    self.trace = trace
    trace.set("mic.on", isMicOn)
    trace.set("camera.on", isCameraOn)
  }

  func connect(to roomName: String) throws(ActionError) {
    let options = ConnectOptions(token: sdk.accessToken(for: roomName)) { builder in builder.roomName = roomName }
    room = try sdk.connect(options: options, delegate: self)
  }

  func disconnect() { room?.disconnect() }

  // MARK: Buttons

  func turnMicOn() {
    // Defect: the button flips before there is a track, and there is none if the user does not permit recording.
    isMicOn = true
    localAudioTrack = LocalAudioTrack(sdk, name: "mic")
    // Defect: before the user connects there is no room, and nothing publishes the track later.
    if let localAudioTrack { room?.localParticipant?.publishAudioTrack(localAudioTrack) }
  }

  func turnMicOff() {
    isMicOn = false
    if let localAudioTrack { room?.localParticipant?.unpublishAudioTrack(localAudioTrack) }
    localAudioTrack = nil
  }

  func turnCameraOn() {
    isCameraOn = true
    let camera = CameraSource(sdk)
    self.camera = camera
    localVideoTrack = LocalVideoTrack(source: camera, name: "camera")
    // Defect: nobody looks at what the capture came to.
    camera.startCapture()
    if let localVideoTrack { room?.localParticipant?.publishVideoTrack(localVideoTrack) }
  }

  func turnCameraOff() {
    isCameraOn = false
    // Defect: this participant is that of the first room, and the track is published in another.
    if let localVideoTrack { localParticipant?.unpublishVideoTrack(localVideoTrack) }
    camera?.stopCapture()
    camera = nil
    localVideoTrack = nil
  }

  // MARK: RoomDelegate

  func roomDidConnect(room: Room) {
    if localParticipant == nil { localParticipant = room.localParticipant }
    room.localParticipant?.delegate = self
  }

  func roomDidFailToConnect(room: Room, error: TwilioError) { leave() }

  func roomDidDisconnect(room: Room, error: TwilioError?) { leave() }

  private func leave() {
    camera?.stopCapture()
    (camera, localAudioTrack, localVideoTrack, room) = (nil, nil, nil, nil)
    (isMicOn, isCameraOn) = (false, false)
  }

  // MARK: LocalParticipantDelegate

  func localParticipantDidFailToPublish(
    participant: LocalParticipant, track: TwilioLocalTrack, error: TwilioError
  ) {
    if track === localAudioTrack { (localAudioTrack, isMicOn) = (nil, false) }
    if track === localVideoTrack { (localVideoTrack, isCameraOn) = (nil, false) }
  }
}
