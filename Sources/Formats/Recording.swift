/// Recorded sound: 48 kHz, mono, 16 bits.
public struct Recording: Hashable, Sendable {
  /// The continuation after the last sample.
  public enum End: String, Sendable, CaseIterable {
    /// The recording again, from its beginning.
    case `repeat`
    /// Silence.
    case silence
  }

  /// The samples, at 48 kHz.
  public let samples: [Int16]
  /// The sound that follows the last sample.
  public let atEnd: End

  /// Makes a recording.
  ///
  /// - Precondition: `samples` is not empty.
  public init(_ samples: [Int16], atEnd: End = .repeat) {
    precondition(!samples.isEmpty, "a recording has samples")
    self.samples = samples
    self.atEnd = atEnd
  }
}
