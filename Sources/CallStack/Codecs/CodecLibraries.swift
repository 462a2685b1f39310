import CAOM
import CDAV1D
import COpus
import CVPX

/// The versions of the linked codec libraries. Encoder output may differ between them, so every run names them.
package enum CodecLibraries {
  package static var opusVersion: String { String(cString: opus_get_version_string()) }
  package static var vpxVersion: String { String(cString: vpx_codec_version_str()) }
  package static var aomVersion: String { String(cString: aom_codec_version_str()) }
  package static var dav1dVersion: String { String(cString: dav1d_version()) }
}
