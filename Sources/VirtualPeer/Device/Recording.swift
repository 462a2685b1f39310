/// What somebody recorded: 48 kHz, mono, 16 bits.
public struct Recording: Hashable, Sendable {
  /// What is heard after the last sample.
  public enum End: String, Sendable, CaseIterable {
    /// The recording again, from its beginning.
    case `repeat`
    case silence
  }

  public let samples: [Int16]
  public let atEnd: End

  /// - Precondition: there is a sample.
  public init(_ samples: [Int16], atEnd: End = .repeat) {
    precondition(!samples.isEmpty, "a recording has samples")
    self.samples = samples
    self.atEnd = atEnd
  }
}

/// A recording while it is played.
struct RecordingPlayback {
  let recording: Recording
  private var position = 0

  init(_ recording: Recording) { self.recording = recording }

  mutating func next() -> Int16 {
    if position == recording.samples.count {
      guard recording.atEnd == .repeat else { return 0 }
      position = 0
    }
    defer { position += 1 }
    return recording.samples[position]
  }
}
