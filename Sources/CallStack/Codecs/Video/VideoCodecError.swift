package import Pictures

/// A failure of a video encoder or decoder. None of them is fatal: the next frame may succeed, for a decoder often only
/// the next key frame.
package enum VideoCodecError: Error, Hashable, Sendable {
  /// A setting that the codec does not allow; the text names it.
  case unsupportedSetting(String)
  /// A picture has another size than the settings.
  case wrongSize(PictureSize, expected: PictureSize)
  /// A codec of pictures got a frame without one.
  case pictureRequired
  /// A payload that is no frame of the codec; the text gives the reason.
  case malformed(String)
  /// The decoder has not decoded a key frame yet.
  case keyFrameRequired
  /// The picture has more pixels than the decoder is set up for.
  case tooManyPixels(width: Int, height: Int)
  /// libvpx returned this code (`vpx_codec_err_t`), with its description.
  case library(code: UInt32, String)
  /// OpenH264 failed; the text has its code.
  case openH264(String)
  /// libaom returned this code (`aom_codec_err_t`), with its description.
  case libaom(code: UInt32, String)
  /// dav1d returned this code, a negative `errno`.
  case dav1d(code: Int32)
}
