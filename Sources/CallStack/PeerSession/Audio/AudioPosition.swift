package import CallCore

/// The position of a sample in an RTP stream.
package struct AudioPosition: Hashable, Sendable {
  package let ssrc: UInt32
  /// The RTP timestamp, by the media clock of the stream.
  package let timestamp: UInt32

  package init(ssrc: UInt32, timestamp: UInt32) {
    self.ssrc = ssrc
    self.timestamp = timestamp
  }
}

/// Where the sound that is played comes from.
package enum PlayedPlace: Hashable, Sendable {
  /// The position of its first sample.
  case sent(AudioPosition)
  /// It takes the place of sound that is due, or nothing plays.
  case concealed
  /// Comfort noise fills a pause of the sender, whose length is unknown.
  case comfort

  package var position: AudioPosition? { if case .sent(let position) = self { position } else { nil } }
}

/// The position of the next sample to be recorded in a stream, and the properties of its codec that relate timestamps to
/// the times of samples.
package struct RecordingPosition: Hashable, Sendable {
  package let position: AudioPosition
  /// The rate of the media clock in hertz.
  package let clockRate: UInt32
  /// The delay of decoded sound behind the timestamps.
  package let codecDelay: Interval
  /// Whether silence is sent in place of what is recorded.
  package var isMuted = false
  /// Whether digits are sent in place of what is recorded (RFC 4733).
  package var isOfDigits = false
  /// Whether what is recorded is sent.
  package var isSent: Bool { !isMuted && !isOfDigits }
  /// How the sound is sent.
  package var format = SentAudioFormat()
  /// What the stream's packets carry so far.
  package var sent = OpusPacketCounts()

  package init(_ position: AudioPosition, clockRate: UInt32, codecDelay: Interval) {
    self.position = position
    self.clockRate = clockRate
    self.codecDelay = codecDelay
  }
}
