internal import Formats

/// A position in a recording that plays.
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
