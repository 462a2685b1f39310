import Formats

/// Recordings that a scenario plays are files beside it: read with it, and part of what it is.
extension Reading {
  /// Nearly three minutes.
  static let maximumRecordingSize = 16 << 20
  /// Of all recordings of a scenario file together: every worker is given the bytes of all cells.
  static let maximumRecordingSum = 32 << 20

  /// The samples of a WAV file, by its name in a scenario file; nil when it is of no use, which is reported.
  mutating func samples(of file: Located<String>) -> [Int16]? {
    let name = YAMLNode.abbreviated(file.value)
    let path = sources.path(of: file.value, from: file.span)
    if let known = recordings.first(where: { $0.path == path }) { return known.samples }
    // Whoever plays too much is told once, and none of the rest is read.
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
