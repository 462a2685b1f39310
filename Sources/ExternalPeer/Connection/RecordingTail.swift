internal import Glibc

/// Reads a recording while a program writes it, to detect whether the program plays sound at the moment.
///
/// Statistics do not show this: a browser reports a track that no element plays as silent.
final class RecordingTail {
  /// The number of samples in a frame of 20 ms at 48 kHz.
  private static let frameSize = 960
  /// The power of −55 dBov, the threshold of our own peers too.
  private static let threshold = pow(10, -5.5) * 32_768 * 32_768

  private let path: String
  private var descriptor: Int32 = -1
  private var isPastHeader = false
  private var pending: [UInt8] = []

  init(path: String) { self.path = path }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns whether a frame that was written since the last call is above the threshold.
  func isLoud() -> Bool {
    read()
    if !isPastHeader {
      guard let start = Self.dataOffset(in: pending) else { return false }
      pending.removeFirst(start)
      isPastHeader = true
    }
    var isLoud = false
    var offset = 0
    while offset + Self.frameSize * 2 <= pending.count {
      var power = 0.0
      for index in stride(from: offset, to: offset + Self.frameSize * 2, by: 2) {
        let sample = Double(Int16(truncatingIfNeeded: Int(pending[index]) | Int(pending[index + 1]) << 8))
        power += sample * sample
      }
      if power / Double(Self.frameSize) > Self.threshold { isLoud = true }
      offset += Self.frameSize * 2
    }
    pending.removeFirst(offset)
    return isLoud
  }

  private func read() {
    if descriptor < 0 { descriptor = open(path, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return }
    while true {
      var count = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
        count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        initialized = max(0, count)
      }
      guard count > 0 else { return }
      pending += bytes
    }
  }

  /// Returns the offset of the samples; nil before the header is complete.
  private static func dataOffset(in bytes: [UInt8]) -> Int? {
    var offset = 12
    while offset + 8 <= bytes.count {
      if bytes[offset..<offset + 4].elementsEqual("data".utf8) { return offset + 8 }
      let size = (0..<4).reduce(0) { $0 | Int(bytes[offset + 4 + $1]) << (8 * $1) }
      offset += 8 + size + size % 2
    }
    return nil
  }
}
