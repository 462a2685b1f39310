internal import Codecs

/// The processor time that all encoders and all decoders of this process have taken, in seconds.
package struct CodecTime: Hashable, Sendable {
  package var encoding: Double
  package var decoding: Double

  package init(encoding: Double, decoding: Double) {
    self.encoding = encoding
    self.decoding = decoding
  }

  /// Measures from now on.
  ///
  /// - Parameter clock: Returns the processor time of the process, in nanoseconds.
  package static func start(_ clock: @escaping @Sendable () -> UInt64) { CodecTimer.shared.start(clock) }

  /// Ends the measurement.
  package static func stop() -> CodecTime {
    let times = CodecTimer.shared.stop()
    return CodecTime(encoding: Double(times.encoding) / 1e9, decoding: Double(times.decoding) / 1e9)
  }
}
