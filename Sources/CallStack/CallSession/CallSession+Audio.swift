public import CallCore
public import Codecs

/// The microphone and the speaker.
extension CallSession {
  /// Takes what the microphone recorded: 48 kHz mono, any number of samples. Before media may flow it is thrown away.
  public mutating func sendAudio(_ samples: Span<Int16>, at now: Instant) {
    guard enter(at: now) else { return }
    audio.record(samples)
  }

  /// Takes how loud the microphone was, for synthetic media.
  public mutating func sendAudio(_ level: AudioLevel, duration: Interval, at now: Instant) {
    guard enter(at: now) else { return }
    audio.record(level, duration: duration)
  }

  /// Plays `sampleCount` samples at the device's time.
  ///
  /// - Returns: how loud they are, or nil before anything was received. Synthetic media writes no samples.
  public mutating func playAudio(
    sampleCount: Int, into output: inout OutputSpan<Int16>, at now: Instant
  ) -> AudioLevel? {
    guard enter(at: now) else { return nil }
    return audio.play(sampleCount, into: &output, at: self.now)
  }

  /// Enables or disables the microphone's track: disabled, silence is sent (W3C `track.enabled`).
  public mutating func setAudioEnabled(_ enabled: Bool) { audio.isEnabled = enabled }
}
