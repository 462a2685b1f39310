internal import CallCore
internal import CongestionControl
internal import SDP

/// The connection of a session's video to the device: the camera feeds every sent track.
struct VideoEngine {
  /// Whether tracks added later start enabled.
  private(set) var isEnabled = true

  /// Takes a picture of the camera.
  ///
  /// - Parameter transceiver: the transceiver of the track; nil for all tracks.
  func record(
    _ input: inout VideoInput, for transceiver: Transceiver.ID?, in channels: [MediaChannel], isSendable: Bool,
    into pacer: inout Pacer, at now: Instant
  ) {
    for case .video(let channel) in channels where channel.state.isMeant(by: transceiver) {
      channel.record(&input, isSendable: isSendable, into: &pacer, at: now)
    }
  }

  /// Enables or disables one track, or with nil all present and future tracks.
  mutating func setEnabled(_ enabled: Bool, of transceiver: Transceiver.ID?, in channels: [MediaChannel]) {
    if transceiver == nil { isEnabled = enabled }
    for case .video(let channel) in channels where channel.state.isMeant(by: transceiver) {
      channel.isEnabled = enabled
    }
  }
}
