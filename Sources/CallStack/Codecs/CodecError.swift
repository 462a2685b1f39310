/// A caller's mistake at an encoder or decoder. Broken payloads are never errors: decoders answer nil.
package enum CodecError: Error, Hashable, Sendable {
  /// A setting outside what the codec allows; the text names it.
  case unsupportedSetting(String)
  /// An encoder was given this many samples a channel where a whole frame of `expected` was due.
  case wrongFrameSize(samples: Int, expected: Int)
  /// The output has no room for a packet.
  case bufferTooSmall
  /// A level was given to a codec that needs samples.
  case samplesRequired
  /// libopus refused with this code (see `opus_defines.h`).
  case library(code: Int32)
}
