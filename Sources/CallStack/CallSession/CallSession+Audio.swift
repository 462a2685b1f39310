public import CallCore
public import Codecs
public import SDP

/// The microphone and the speaker.
extension CallSession {
  /// Takes what the microphone recorded: 48 kHz mono, any number of samples. Before media may flow it is thrown away.
  ///
  /// - Parameter sender: whose track it is; nil when every track is the microphone's.
  public mutating func sendAudio(_ samples: Span<Int16>, to sender: Transceiver.ID? = nil, at now: Instant) {
    guard enter(at: now) else { return }
    audio.record(samples, for: sender)
  }

  /// Takes how loud the microphone was, for synthetic media.
  public mutating func sendAudio(
    _ level: AudioLevel, duration: Interval, to sender: Transceiver.ID? = nil, at now: Instant
  ) {
    guard enter(at: now) else { return }
    audio.record(level, duration: duration, for: sender)
  }

  /// Plays `sampleCount` samples of all that is received, mixed, at the device's time.
  ///
  /// - Returns: how loud they are, or nil before anything was received. Synthetic media writes no samples.
  public mutating func playAudio(
    sampleCount: Int, into output: inout OutputSpan<Int16>, at now: Instant
  ) -> AudioLevel? {
    guard enter(at: now) else { return nil }
    return audio.play(sampleCount, into: &output, at: self.now)
  }

  /// Enables or disables a sender's track: disabled, silence is sent (W3C `track.enabled`).
  ///
  /// - Parameter sender: nil for all there are and all that come.
  public mutating func setAudioEnabled(_ enabled: Bool, of sender: Transceiver.ID? = nil) {
    audio.setEnabled(enabled, of: sender)
  }
}
