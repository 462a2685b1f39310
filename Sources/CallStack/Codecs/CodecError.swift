/// An invalid call of an encoder or decoder. A malformed payload is not an error: decoders return nil.
package enum CodecError: Error, Hashable, Sendable {
  /// A setting that the codec does not allow; the text names it.
  case unsupportedSetting(String)
  /// The encoder got this many samples per channel instead of a whole frame of `expected`.
  case wrongFrameSize(samples: Int, expected: Int)
  /// The output has no room for a packet.
  case bufferTooSmall
  /// A level was given to a codec that needs samples.
  case samplesRequired
  /// libopus returned this error code (see `opus_defines.h`).
  case library(code: Int32)
}
