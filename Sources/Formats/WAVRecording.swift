/// The samples of a WAV file of 16-bit mono PCM at 48 kHz, as ``WAVFile`` writes them.
///
/// A file with fewer bytes than its header says was truncated, and is refused, so that half a recording is not mistaken
/// for a whole one. If the writer could not fill in the length, the samples extend to the end of the file, without an
/// incomplete last sample. Such a length is
/// - 0 in a file whose RIFF header lacks the file's length too, from a recorder that was killed, such as callsim
///   itself;
/// - 0x7FFFF000 (sox) to 0xFFFFFFFF (ffmpeg), from a stream through a pipe. So much is never read, see ``FileBytes``.
package struct WAVRecording {
  package let samples: [Int16]

  package init(path: String) throws(FileError) { try self.init(FileBytes.read(path), path: path) }

  /// Parses a file's bytes.
  ///
  /// - Parameter path: The name of the file in errors.
  package init(_ bytes: [UInt8], path: String) throws(FileError) {
    let data = try Self.data(of: bytes, path: path)
    guard !data.isEmpty else { throw FileError(path: path, reason: "has no samples") }
    samples = stride(from: data.lowerBound, to: data.upperBound, by: 2).map { Self.integer(bytes, $0, Int16.self) }
  }

  /// Returns the position of the samples: an even number of bytes.
  private static func data(of bytes: [UInt8], path: String) throws(FileError) -> Range<Int> {
    guard bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WAVE".utf8) else {
      throw FileError(path: path, reason: "is not a WAV file", remedy: Self.remedy(path))
    }
    var hasFormat = false
    var offset = 12
    while offset + 8 <= bytes.count {
      let name = bytes[offset..<offset + 4]
      let length = Int(integer(bytes, offset + 4, UInt32.self))
      let body = offset + 8
      let left = bytes.count - body
      if name.elementsEqual("data".utf8) {
        guard hasFormat else { throw FileError(path: path, reason: "is malformed: its samples come before its format") }
        if isUnknown(length, in: bytes) { return body..<body + left / 2 * 2 }
        guard length <= left else {
          throw FileError(path: path, reason: "ends before its header says: \(left) of \(length) bytes of samples")
        }
        guard length % 2 == 0 else {
          throw FileError(path: path, reason: "is malformed: \(length) bytes are no whole number of 16-bit samples")
        }
        return body..<body + length
      }
      guard length <= left else {
        throw FileError(
          path: path,
          reason: "is malformed: the chunk at byte \(offset) is to have \(length) bytes, and \(left) are left")
      }
      if name.elementsEqual("fmt ".utf8) {
        guard length >= 16 else {
          throw FileError(path: path, reason: "is malformed: its format has \(length) bytes, not 16")
        }
        try check(bytes, body, path: path)
        hasFormat = true
      }
      // A chunk of an odd length is followed by a byte of padding.
      offset = body + length + length % 2
    }
    throw FileError(path: path, reason: "has no samples")
  }

  /// Returns whether the length of the samples was never filled in.
  private static func isUnknown(_ length: Int, in bytes: [UInt8]) -> Bool {
    guard length == 0 else { return length >= 0x7FFF_F000 }
    return bytes.count != Int(integer(bytes, 4, UInt32.self)) + 8
  }

  private static func check(_ bytes: [UInt8], _ format: Int, path: String) throws(FileError) {
    let encoding = integer(bytes, format, UInt16.self)
    let channels = integer(bytes, format + 2, UInt16.self)
    let rate = integer(bytes, format + 4, UInt32.self)
    let bits = integer(bytes, format + 14, UInt16.self)
    // WAVE_FORMAT_PCM, or WAVE_FORMAT_EXTENSIBLE whose sub-format, when 16 bits wide, is PCM.
    guard encoding == 1 || encoding == 0xFFFE, channels == 1, rate == 48_000, bits == 16 else {
      throw FileError(
        path: path,
        reason: "has \(channels) channels of \(bits) bits at \(rate) Hz; wanted is 16-bit PCM, 48000 Hz, mono",
        remedy: remedy(path))
    }
  }

  private static func remedy(_ path: String) -> String {
    "this makes one that can be played: sox \(ShellWord.quoted(path)) -r 48000 -c 1 -b 16 out.wav"
  }

  private static func integer<T: FixedWidthInteger>(_ bytes: [UInt8], _ offset: Int, _: T.Type) -> T {
    var value: T = 0
    for index in (0..<MemoryLayout<T>.size).reversed() {
      value = value << 8 | T(truncatingIfNeeded: bytes[offset + index])
    }
    return value
  }
}
