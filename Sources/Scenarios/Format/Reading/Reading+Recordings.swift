import Formats

// Recordings are files beside the scenario. They are read with it and are part of its source.
extension Reading {
  /// The limit of one recording in bytes: nearly three minutes.
  static let maximumRecordingSize = 16 << 20
  /// The limit of all recordings of a scenario file in bytes, since every worker gets the bytes of all cells.
  static let maximumRecordingSum = 32 << 20

  /// Returns the samples of a WAV file that a scenario names; nil after reporting that it is unusable.
  mutating func samples(of file: Located<String>) -> [Int16]? {
    let name = YAMLNode.abbreviated(file.value)
    let path = sources.path(of: file.value, from: file.span)
    if let known = recordings.first(where: { $0.path == path }) { return known.samples }
    // The limit is reported once, and further recordings are not read.
    guard !hasTooManyRecordings else { return nil }
    guard let bytes = reader(path) else {
      report(
        .unreadable, "'\(name)' cannot be read (\(path))", at: file.span,
        hint: "name a regular file, not a folder or a pipe, relative to the file that names it")
      return nil
    }
    guard bytes.count <= Self.maximumRecordingSize else {
      report(
        .badRecording, "'\(name)' is larger than 16 MiB", at: file.span,
        hint: Self.shortening(path, to: 170) + "; they are played over and over")
      return nil
    }
    guard sources.recordings.reduce(bytes.count, { $0 + $1.bytes.count }) <= Self.maximumRecordingSum else {
      hasTooManyRecordings = true
      report(
        .badRecording, "with '\(name)' the recordings of this scenario are larger than 32 MiB together", at: file.span,
        hint: Self.shortening(path, to: 10) + "; or play fewer, or make several scenario files")
      return nil
    }
    do throws(FileError) {
      let samples = try WAVRecording(bytes, path: path).samples
      sources.add(recording: bytes, path: path)
      recordings.append((path, samples))
      return samples
    } catch {
      report(.badRecording, "'\(name)' \(error.reason)", at: file.span, hint: error.remedy)
      return nil
    }
  }

  private static func shortening(_ path: String, to seconds: Int) -> String {
    "this keeps \(seconds) s of it: sox \(ShellWord.quoted(path)) out.wav trim 0 \(seconds)"
  }
}
