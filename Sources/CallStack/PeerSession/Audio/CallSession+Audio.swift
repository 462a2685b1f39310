public import CallCore
public import Codecs
public import SDP

/// The microphone and the speaker.
extension CallSession {
  /// Takes samples from the microphone: 48 kHz mono, any number of samples. They are discarded until media can be sent.
  ///
  /// - Parameter sender: the sender of the track; nil for all tracks.
  public func sendAudio(_ samples: Span<Int16>, to sender: Transceiver.ID? = nil, at now: Instant) {
    guard enter(at: now), media.isRunning else { return }
    media.audio.record(samples, for: sender, in: media.channels)
  }

  /// Takes the level of the microphone, for synthetic media.
  package func sendAudio(
    _ level: AudioLevel, duration: Interval, to sender: Transceiver.ID? = nil, at now: Instant
  ) {
    guard enter(at: now), media.isRunning else { return }
    media.audio.record(level, duration: duration, for: sender, in: media.channels)
  }

  /// Plays `sampleCount` samples of all received streams, mixed, at the device's time.
  ///
  /// - Returns: the level of the samples, or nil before anything was received. Synthetic media writes no samples.
  public func playAudio(
    sampleCount: Int, into output: inout OutputSpan<Int16>, at now: Instant
  ) -> AudioLevel? {
    guard enter(at: now) else { return nil }
    media.expectFeedback()
    return media.audio.play(sampleCount, of: media.channels, into: &output, at: self.now)
  }

  /// Calls `body` with the position of the next sample to be recorded, in the stream of each microphone track.
  ///
  /// - Returns: whether a whole packet was recorded and not sent yet: only then is there something to drain.
  package func finishRecording(_ body: (RecordingPosition) -> Void) -> Bool {
    var isWhole = false
    for case .audio(let channel) in media.channels {
      guard let send = channel.send else { continue }
      var position = send.recordingPosition
      position.isMuted = !channel.isHeard
      body(position)
      if send.hasRecordedPacket { isWhole = true }
    }
    return isWhole
  }

  /// Calls `body` with the place in each received stream of which the last ``playAudio(sampleCount:into:at:)`` plays what was sent.
  package func playedPositions(_ body: (AudioPosition) -> Void) {
    for case .audio(let channel) in media.channels {
      if let position = channel.receive?.playedPlace.position { body(position) }
    }
  }

  /// Returns where the sound of the last ``playAudio(sampleCount:into:at:)`` comes from in each received stream, by the
  /// order of their sections.
  package func playedPlaces() -> [PlayedPlace] {
    media.channels.compactMap { channel in
      guard case .audio(let channel) = channel else { return nil }
      return channel.receive?.playedPlace ?? .concealed
    }
  }

  /// Returns where the sound of the last ``playAudio(sampleCount:into:at:)`` comes from. With several mixed streams it is
  /// the place in the first one that plays what was sent, or else comfort noise.
  package func playedPlace() -> PlayedPlace {
    var playsComfort = false
    for case .audio(let channel) in media.channels {
      switch channel.receive?.playedPlace {
      case .sent(let position)?: return .sent(position)
      case .comfort?: playsComfort = true
      case .concealed?, nil: break
      }
    }
    return playsComfort ? .comfort : .concealed
  }

  /// Enables or disables a sender's track; a disabled track sends silence (W3C `track.enabled`).
  ///
  /// - Parameter sender: the sender; nil for all present and future ones.
  public func setAudioEnabled(_ enabled: Bool, of sender: Transceiver.ID? = nil) {
    media.audio.setEnabled(enabled, of: sender, in: media.channels)
  }
}
