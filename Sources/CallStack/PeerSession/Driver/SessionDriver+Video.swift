/// The camera of a device.
extension SessionDriver {
  /// Takes a picture of the camera, sends it and drains.
  package func sendVideo(_ input: VideoInput) {
    perform { session, now in session.sendVideo(input, at: now) }
  }
}
