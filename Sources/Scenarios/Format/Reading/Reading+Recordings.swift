import Formats
package import Pictures

// Recordings are files beside the scenario. They are read with it and are part of its source.
extension Reading {
  /// The limit of one recording in bytes: nearly three minutes of sound.
  static let maximumRecordingSize = 16 << 20
  /// The limit of all recordings of a scenario file in bytes, since every worker gets the bytes of all cells.
  static let maximumRecordingSum = 32 << 20

  /// Returns the samples of a WAV file that a scenario names; nil after reporting that it is unusable.
  mutating func samples(of file: Located<String>) -> [Int16]? {
    let path = sources.path(of: file.value, from: file.span)
    if let known = recordings.first(where: { $0.path == path }) { return known.samples }
    guard
      let bytes = bytes(of: file, at: path, shortening: { Self.shorterSound(path, to: $0) }, lengths: (170, 10))
    else { return nil }
    do throws(FileError) {
      let samples = try WAVRecording(bytes, path: path).samples
      sources.add(recording: bytes, path: path)
      recordings.append((path, samples))
      return samples
    } catch {
      report(
        .badRecording, "'\(YAMLNode.abbreviated(file.value))' \(error.reason)", at: file.span, hint: error.remedy)
      return nil
    }
  }

  /// Returns the pictures of a Y4M or IVF file that a scenario names; nil after reporting that it is unusable.
  mutating func video(of file: Located<String>) -> VideoFile? {
    let path = sources.path(of: file.value, from: file.span)
    if let known = videos.first(where: { $0.path == path }) { return known.video }
    guard
      let bytes = bytes(of: file, at: path, shortening: { Self.shorterVideo(path, to: $0) }, lengths: (10, 5))
    else { return nil }
    do throws(VideoFileError) {
      let video = try VideoFile(parsing: bytes)
      sources.add(recording: bytes, path: path)
      videos.append((path, video))
      return video
    } catch {
      report(
        .badRecording, "'\(YAMLNode.abbreviated(file.value))' \(error)", at: file.span,
        hint: "this makes one that can be filmed: \(VideoFile.command(from: path, seconds: 10))")
      return nil
    }
  }

  /// Returns the bytes of a recording; nil after reporting that it cannot be read, or is too large.
  ///
  /// - Parameters:
  ///   - shortening: Returns a remedy that keeps some seconds of it.
  ///   - lengths: The seconds that are kept of a recording that is too large, and of one that is too large with the others.
  private mutating func bytes(
    of file: Located<String>, at path: String, shortening: (Int) -> String, lengths: (one: Int, all: Int)
  ) -> [UInt8]? {
    // The limit is reported once, and further recordings are not read.
    guard !hasTooManyRecordings else { return nil }
    let name = YAMLNode.abbreviated(file.value)
    guard let bytes = reader(path) else {
      report(
        .unreadable, "'\(name)' cannot be read (\(path))", at: file.span,
        hint: "name a regular file, not a folder or a pipe, relative to the file that names it")
      return nil
    }
    guard bytes.count <= Self.maximumRecordingSize else {
      report(
        .badRecording, "'\(name)' is larger than 16 MiB", at: file.span,
        hint: shortening(lengths.one) + "; they are played over and over")
      return nil
    }
    guard sources.recordings.reduce(bytes.count, { $0 + $1.bytes.count }) <= Self.maximumRecordingSum else {
      hasTooManyRecordings = true
      report(
        .badRecording, "with '\(name)' the recordings of this scenario are larger than 32 MiB together", at: file.span,
        hint: shortening(lengths.all) + "; or play fewer, or make several scenario files")
      return nil
    }
    return bytes
  }

  private static func shorterSound(_ path: String, to seconds: Int) -> String {
    "this keeps \(seconds) s of it: sox \(ShellWord.quoted(path)) out.wav trim 0 \(seconds)"
  }

  private static func shorterVideo(_ path: String, to seconds: Int) -> String {
    "this keeps \(seconds) s of it: \(VideoFile.command(from: path, seconds: seconds))"
  }
}

extension VideoFile {
  /// Returns a command that makes a file which can be filmed of the beginning of another.
  package static func command(from path: String, seconds: Int) -> String {
    "ffmpeg -i \(ShellWord.quoted(path)) -an -t \(seconds) -pix_fmt yuv420p -c:v libvpx out.ivf"
  }
}
