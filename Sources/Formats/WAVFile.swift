/// A WAV file of 16-bit mono PCM. The lengths in its header are filled in at the end.
package final class WAVFile {
  private static let headerSize = 44
  private let sampleRate: UInt32
  private let sink: FileSink

  /// Begins a file.
  ///
  /// - Parameter sampleRate: in Hz.
  package init(path: String, sampleRate: UInt32 = 48_000) throws(FileError) {
    self.sampleRate = sampleRate
    sink = try FileSink(path: path, mode: .patched)
    sink.write(Self.header(dataSize: 0, sampleRate).span.bytes)
  }

  package func append(_ samples: Span<Int16>) {
    // RIFF is little-endian, as are all supported machines.
    samples.withUnsafeBufferPointer { sink.write(UnsafeRawBufferPointer($0)) }
  }

  package func close() throws(FileError) {
    let dataSize = UInt32(clamping: sink.byteCount - Self.headerSize)
    sink.patch(Self.header(dataSize: dataSize, sampleRate), at: 0)
    try sink.close()
  }

  static func header(dataSize: UInt32, _ sampleRate: UInt32 = 48_000) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
    bytes += "RIFF".utf8
    append(dataSize &+ UInt32(headerSize - 8))
    bytes += "WAVEfmt ".utf8
    append(UInt32(16))
    // WAVE_FORMAT_PCM, one channel.
    append(UInt16(1))
    append(UInt16(1))
    append(sampleRate)
    append(sampleRate * 2)
    append(UInt16(2))
    append(UInt16(16))
    bytes += "data".utf8
    append(dataSize)
    return bytes
  }
}
