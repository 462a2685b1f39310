internal import CallCore
internal import Codecs
internal import SDP

/// The connection of a session's audio to the device: the microphone feeds every sent track, the speaker plays all
/// received streams.
struct AudioEngine {
  /// Whether tracks added later start enabled.
  private(set) var isEnabled = true
  private let mixer = AudioMixer()

  /// Takes samples from the microphone.
  ///
  /// - Parameter transceiver: the transceiver of the track; nil for all tracks.
  func record(_ samples: Span<Int16>, for transceiver: Transceiver.ID?, in channels: [MediaChannel]) {
    for case .audio(let channel) in channels where channel.state.isMeant(by: transceiver) { channel.record(samples) }
  }

  /// Takes the level of the microphone.
  func record(
    _ level: AudioLevel, duration: Interval, for transceiver: Transceiver.ID?, in channels: [MediaChannel]
  ) {
    for case .audio(let channel) in channels where channel.state.isMeant(by: transceiver) {
      channel.record(level, duration: duration)
    }
  }

  /// Plays all received streams, mixed.
  func play(
    _ count: Int, of channels: [MediaChannel], into output: inout OutputSpan<Int16>, at now: Instant
  ) -> AudioLevel? {
    mixer.begin()
    for case .audio(let channel) in channels {
      guard let stream = channel.receive else { continue }
      mixer.add(into: &output) { stream.play(count, into: &$0, at: now) }
    }
    return mixer.level(of: output)
  }

  /// Enables or disables one track, or with nil all present and future tracks.
  mutating func setEnabled(_ enabled: Bool, of transceiver: Transceiver.ID?, in channels: [MediaChannel]) {
    if transceiver == nil { isEnabled = enabled }
    for case .audio(let channel) in channels where channel.state.isMeant(by: transceiver) {
      channel.isEnabled = enabled
    }
  }
}
