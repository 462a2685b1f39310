package import CallCore

/// A video decoder, real or synthetic.
package enum VideoDecoder {
  case vp8(VPXDecoder)
  case vp9(VPXDecoder)
  case h264(H264Decoder)
  case av1(AV1Decoder)
  case synthetic(SyntheticVideoDecoder)

  package init(_ codec: VideoCodec) throws(VideoCodecError) {
    switch codec {
    case .vp8: self = .vp8(try VPXDecoder(.vp8))
    case .vp9: self = .vp9(try VPXDecoder(.vp9))
    case .h264: self = .h264(try H264Decoder())
    case .av1: self = .av1(try AV1Decoder())
    case .synthetic: self = .synthetic(SyntheticVideoDecoder())
    }
  }

  package var codec: VideoCodec {
    switch self {
    case .vp8: .vp8
    case .vp9: .vp9
    case .h264: .h264
    case .av1: .av1
    case .synthetic: .synthetic
    }
  }

  /// Whether decoding gives pictures; otherwise it gives their numbers only.
  package var producesPictures: Bool {
    switch self {
    case .vp8, .vp9, .h264, .av1: true
    case .synthetic: false
    }
  }

  /// Decodes the payload of one frame; its picture gets the timestamp.
  ///
  /// - Returns: the frame, or nil if it is not to be shown.
  package func decode(
    _ payload: RawSpan, at timestamp: Instant = .zero
  ) throws(VideoCodecError) -> DecodedVideoFrame? {
    let begin = CodecTimer.shared.begin()
    defer { CodecTimer.shared.end(.decoding, since: begin) }
    switch self {
    case .vp8(let decoder), .vp9(let decoder): return try decoder.decode(payload, at: timestamp)
    case .h264(let decoder): return try decoder.decode(payload, at: timestamp)
    case .av1(let decoder): return try decoder.decode(payload, at: timestamp)
    case .synthetic(let decoder): return try decoder.decode(payload)
    }
  }
}
