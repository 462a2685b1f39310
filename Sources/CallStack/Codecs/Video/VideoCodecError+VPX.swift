import CVPX

extension VideoCodecError {
  /// Makes the error for a code of libvpx and the detail that it keeps, which may be nil.
  init(_ code: vpx_codec_err_t, _ detail: UnsafePointer<CChar>?) {
    let text = String(cString: vpx_codec_err_to_string(code))
    self = .library(code: code.rawValue, detail.map { text + ": " + String(cString: $0) } ?? text)
  }
}
