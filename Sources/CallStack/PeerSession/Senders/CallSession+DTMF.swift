public import CallCore
public import SDP

/// Dual-tone multi-frequency digits of a sender (webrtc-pc section 7, W3C `RTCDTMFSender`).
extension CallSession {
  /// Whether a sender can send digits: it is connected and sends a track, and telephone events were negotiated for the
  /// media clock of its codec (W3C `canInsertDTMF`).
  public func canInsertDTMF(of id: Transceiver.ID) -> Bool {
    connectionState == .connected && sendingStream(of: id)?.canSendEvents ?? false
  }

  /// The tones of a sender that have not begun (W3C `toneBuffer`).
  public func toneBuffer(of id: Transceiver.ID) -> String { sendingStream(of: id)?.toneBuffer ?? "" }

  /// Replaces the tones that a sender has not begun; a tone that has begun goes on (W3C `insertDTMF`).
  ///
  /// - Parameters:
  ///   - tones: `0` to `9`, `A` to `D` in either case, `*` and `#`; a comma is a pause of two seconds. An empty text
  ///     discards what waits.
  ///   - duration: the duration of each tone; less than 40 ms or more than 6 s is the nearest of these.
  ///   - interToneGap: the sound between two tones, at least 30 ms.
  /// - Throws: `invalidState` when ``canInsertDTMF(of:)`` is false, `invalidCharacter` for another character.
  public func insertDTMF(
    _ tones: String, duration: Interval = .milliseconds(100), interToneGap: Interval = .milliseconds(70),
    of id: Transceiver.ID
  ) throws(SessionError) {
    guard try live(id).currentDirection?.sends ?? false else { throw .invalidState("the transceiver does not send") }
    guard canInsertDTMF(of: id), let stream = sendingStream(of: id) else {
      throw .invalidState("telephone events were not negotiated for the clock of the codec, or nothing is connected")
    }
    var buffer: [DTMFTone] = []
    for character in tones {
      guard let tone = DTMFTone(character) else { throw .invalidCharacter("'\(character)' is not a DTMF digit") }
      buffer.append(tone)
    }
    stream.setTones(buffer, duration: duration, gap: interToneGap)
  }

  private func sendingStream(of id: Transceiver.ID) -> AudioSendStream? {
    guard case .audio(let channel)? = media.knownChannel(of: id), channel.state.track?.source != nil else { return nil }
    return channel.send
  }
}
