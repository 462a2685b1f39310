public import CallCore
public import Codecs
public import SDP

/// The microphone and the speaker.
extension CallSession {
  /// Takes what the microphone recorded: 48 kHz mono, any number of samples. Before media may flow it is thrown away.
  ///
  /// - Parameter sender: whose track it is; nil when every track is the microphone's.
  public mutating func sendAudio(_ samples: Span<Int16>, to sender: Transceiver.ID? = nil, at now: Instant) {
    guard enter(at: now), media.isRunning else { return }
    media.audio.record(samples, for: sender, in: media.channels)
  }

  /// Takes how loud the microphone was, for synthetic media.
  package mutating func sendAudio(
    _ level: AudioLevel, duration: Interval, to sender: Transceiver.ID? = nil, at now: Instant
  ) {
    guard enter(at: now), media.isRunning else { return }
    media.audio.record(level, duration: duration, for: sender, in: media.channels)
  }

  /// Plays `sampleCount` samples of all that is received, mixed, at the device's time.
  ///
  /// - Returns: how loud they are, or nil before anything was received. Synthetic media writes no samples.
  public mutating func playAudio(
    sampleCount: Int, into output: inout OutputSpan<Int16>, at now: Instant
  ) -> AudioLevel? {
    guard enter(at: now) else { return nil }
    return media.audio.play(sampleCount, of: media.channels, into: &output, at: self.now)
  }

  /// Of each microphone track, where the sample after the last one recorded will be in its stream.
  package var recordedPositions: [AudioPosition] {
    media.channels.compactMap { channel in
      switch channel {
      case .audio(let channel): channel.send?.recordedPosition
      }
    }
  }

  /// Where the first sample of the last ``playAudio(sampleCount:into:at:)`` was in its stream; nil when it was invented,
  /// or nothing plays. Of several streams that are mixed it is the first one's.
  package var playedPosition: AudioPosition? {
    for case .audio(let channel) in media.channels {
      if let position = channel.receive?.playedPosition { return position }
    }
    return nil
  }

  /// Enables or disables a sender's track: disabled, silence is sent (W3C `track.enabled`).
  ///
  /// - Parameter sender: nil for all there are and all that come.
  public mutating func setAudioEnabled(_ enabled: Bool, of sender: Transceiver.ID? = nil) {
    media.audio.setEnabled(enabled, of: sender, in: media.channels)
  }
}
