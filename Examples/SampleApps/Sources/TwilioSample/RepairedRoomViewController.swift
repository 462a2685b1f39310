import CallSim

/// The same view controller without the defects.
final class RepairedRoomViewController: RoomViewController {
  /// The tracks that are there go into the room from the beginning.
  override func connect(to roomName: String) throws(ActionError) {
    let options = ConnectOptions(token: sdk.accessToken(for: roomName)) { builder in
      builder.roomName = roomName
      builder.audioTracks = localAudioTrack.map { [$0] } ?? []
      builder.videoTracks = localVideoTrack.map { [$0] } ?? []
    }
    room = try sdk.connect(options: options, delegate: self)
  }

  override func turnMicOn() {
    guard localAudioTrack == nil, let track = LocalAudioTrack(sdk, name: "mic") else { return }
    localAudioTrack = track
    isMicOn = true
    room?.localParticipant?.publishAudioTrack(track)
  }

  override func turnCameraOn() {
    guard camera == nil else { return }
    let camera = CameraSource(sdk)
    self.camera = camera
    camera.startCapture { [weak self, weak camera] error in
      guard let self, let camera, self.camera === camera else { return }
      guard error == nil, let track = LocalVideoTrack(source: camera, name: "camera") else {
        self.camera = nil
        return
      }
      localVideoTrack = track
      isCameraOn = true
      room?.localParticipant?.publishVideoTrack(track)
    }
  }

  override func turnCameraOff() {
    isCameraOn = false
    if let localVideoTrack { room?.localParticipant?.unpublishVideoTrack(localVideoTrack) }
    camera?.stopCapture()
    (camera, localVideoTrack) = (nil, nil)
  }

  /// What was switched on while the room was connecting had no participant to publish it.
  override func roomDidConnect(room: Room) {
    super.roomDidConnect(room: room)
    if let localAudioTrack, !localAudioTrack.isInRoom { room.localParticipant?.publishAudioTrack(localAudioTrack) }
    if let localVideoTrack, !localVideoTrack.isInRoom { room.localParticipant?.publishVideoTrack(localVideoTrack) }
  }
}
