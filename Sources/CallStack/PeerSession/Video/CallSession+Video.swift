package import CallCore
internal import ICE
public import SDP

/// The camera of the device.
extension CallSession {
  /// Takes a picture of the camera, and sends it if the connection is up.
  ///
  /// - Parameter sender: the sender of the track; nil for all.
  package func sendVideo(_ input: VideoInput, to sender: Transceiver.ID? = nil, at now: Instant) {
    guard enter(at: now) else { return }
    var input = input
    media.record(&input, for: sender, isSendable: canSendMedia, at: self.now)
  }

  /// Whether a packet of media would leave now.
  var canSendMedia: Bool {
    (hasKeys || isUnprotected) && ice.sendingPath(at: now) != nil
  }

  /// The last picture of every source of video, without the sources that only repair.
  package var sentPictures: [SentPicture] {
    media.channels.flatMap { channel -> [SentPicture] in
      guard case .video(let video) = channel else { return [] }
      return (video.send?.encodings ?? []).compactMap(\.sentPicture)
    }
  }

  /// Whether a track sends the pictures of the camera; false if all that have a source send black ones in their place, and
  /// nil if none has a source.
  package var sendsPictures: Bool? {
    var sends: Bool?
    for case .video(let channel) in media.channels where channel.state.attachedTrack != nil {
      sends = sends ?? false || channel.isEnabled
    }
    return sends
  }

  /// Enables or disables a sender's video track; a disabled track sends black pictures (W3C `track.enabled`).
  ///
  /// - Parameter sender: the sender; nil for all present and future ones.
  public func setVideoEnabled(_ enabled: Bool, of sender: Transceiver.ID? = nil) {
    media.video.setEnabled(enabled, of: sender, in: media.channels)
  }
}
