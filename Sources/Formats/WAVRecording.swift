/// The samples of a WAV file of 16-bit mono PCM at 48 kHz, as ``WAVFile`` writes them.
package struct WAVRecording {
  package let samples: [Int16]

  package init(path: String) throws(FileError) {
    samples = try Self.parse(FileBytes.read(path), path: path)
  }

  private static func parse(_ bytes: [UInt8], path: String) throws(FileError) -> [Int16] {
    guard bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WAVE".utf8) else {
      throw FileError(path: path, reason: "is not a WAV file")
    }
    var hasFormat = false
    var offset = 12
    while offset + 8 <= bytes.count {
      let name = bytes[offset..<offset + 4]
      let length = Int(integer(bytes, offset + 4, UInt32.self))
      let body = offset + 8
      // A recorder that was killed leaves a length of zero or too much: then the samples go on to the end.
      let end = min(bytes.count, body + length)
      if name.elementsEqual("fmt ".utf8), end - body >= 16 {
        try check(bytes, body, path: path)
        hasFormat = true
      } else if name.elementsEqual("data".utf8) {
        guard hasFormat else { throw FileError(path: path, reason: "has samples before its format") }
        let last = length == 0 ? bytes.count : end
        return stride(from: body, to: last - 1, by: 2).map { integer(bytes, $0, Int16.self) }
      }
      offset = end + length % 2
    }
    throw FileError(path: path, reason: "has no samples")
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
        reason: "has \(channels) channels of \(bits) bits at \(rate) Hz; wanted is 16-bit PCM, 48000 Hz, mono. "
          + "'sox \(path) -r 48000 -c 1 -b 16 out.wav' makes that")
    }
  }

  private static func integer<T: FixedWidthInteger>(_ bytes: [UInt8], _ offset: Int, _: T.Type) -> T {
    var value: T = 0
    for index in (0..<MemoryLayout<T>.size).reversed() {
      value = value << 8 | T(truncatingIfNeeded: bytes[offset + index])
    }
    return value
  }
}
