package import CallCore
package import Codecs

/// The microphone and the speaker of a device.
extension SessionDriver {
  /// Takes samples from the microphone, and drains when they complete a packet.
  ///
  /// - Parameter recorded: called with the position of the next sample in the stream of each microphone track.
  package func sendAudio(_ samples: Span<Int16>, recorded: (RecordingPosition) -> Void) {
    session.sendAudio(samples, at: environment.now)
    finishRecording(recorded)
  }

  /// Takes the level of the microphone, for synthetic media, and drains when it completes a packet.
  package func sendAudio(_ level: AudioLevel, duration: Interval, recorded: (RecordingPosition) -> Void) {
    session.sendAudio(level, duration: duration, at: environment.now)
    finishRecording(recorded)
  }

  private func finishRecording(_ recorded: (RecordingPosition) -> Void) {
    if session.finishRecording(recorded) { drain() }
  }

  /// Plays samples of all received streams, mixed.
  ///
  /// - Returns: their level and where they come from, as ``CallSession`` tells them.
  package func playAudio(
    sampleCount: Int, into output: inout OutputSpan<Int16>
  ) -> (level: AudioLevel?, place: PlayedPlace) {
    let level = session.playAudio(sampleCount: sampleCount, into: &output, at: environment.now)
    return (level, session.playedPlace())
  }
}
