internal import Codecs
internal import RTP
internal import SDP

extension VideoCodec {
  /// Returns the codec of a negotiated format; nil for one that is not built in.
  init?(_ codec: NegotiatedCodec, fidelity: MediaFidelity) {
    guard let known = VideoSettings.Codec(rawValue: codec.name) else { return nil }
    guard fidelity == .real else {
      self = .synthetic
      return
    }
    switch known {
    case .vp8: self = .vp8
    case .vp9: self = .vp9
    case .h264: self = .h264
    case .av1: self = .av1
    }
  }

  /// The payload format. Modelled frames have no bitstream, so that their packets carry libwebrtc's generic descriptor
  /// whatever the negotiated name is.
  var format: VideoFormat {
    switch self {
    case .vp8: .vp8
    case .vp9: .vp9
    case .h264: .h264
    case .av1: .av1
    case .synthetic: .generic
    }
  }

  init(_ format: VideoFormat) {
    switch format {
    case .vp8: self = .vp8
    case .vp9: self = .vp9
    case .h264: self = .h264
    case .av1: self = .av1
    case .generic: self = .synthetic
    }
  }
}
