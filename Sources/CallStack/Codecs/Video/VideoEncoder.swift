package import CallCore
package import Pictures

/// A video encoder, real or synthetic.
package enum VideoEncoder {
  case vp8(VPXEncoder)
  case vp9(VPXEncoder)
  case h264(H264Encoder)
  case av1(AV1Encoder)
  case synthetic(SyntheticVideoEncoder)

  /// Makes an encoder. Only the synthetic one draws from `random`.
  package init(
    _ codec: VideoCodec, settings: VideoEncoderSettings, random: consuming RandomStream
  ) throws(VideoCodecError) {
    switch codec {
    case .vp8: self = .vp8(try VPXEncoder(.vp8, settings: settings))
    case .vp9: self = .vp9(try VPXEncoder(.vp9, settings: settings))
    case .h264: self = .h264(try H264Encoder(settings: settings))
    case .av1: self = .av1(try AV1Encoder(settings: settings))
    case .synthetic: self = .synthetic(try SyntheticVideoEncoder(settings: settings, random: random))
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

  package var settings: VideoEncoderSettings {
    switch self {
    case .vp8(let encoder), .vp9(let encoder): encoder.settings
    case .h264(let encoder): encoder.settings
    case .av1(let encoder): encoder.settings
    case .synthetic(let encoder): encoder.settings
    }
  }

  /// Whether the encoder needs pictures, that is ``encode(_:forcingKeyFrame:)``.
  package var needsPictures: Bool {
    switch self {
    case .vp8, .vp9, .h264, .av1: true
    case .synthetic: false
    }
  }

  /// Changes the settings for the following frames.
  package func update(_ settings: VideoEncoderSettings) throws(VideoCodecError) {
    switch self {
    case .vp8(let encoder), .vp9(let encoder): try encoder.update(settings)
    case .h264(let encoder): try encoder.update(settings)
    case .av1(let encoder): try encoder.update(settings)
    case .synthetic(let encoder): try encoder.update(settings)
    }
  }

  /// Encodes a picture; the synthetic codec keeps only its number and time.
  ///
  /// - Returns: the frame, or nil if the rate control drops it.
  package func encode(
    _ frame: VideoFrame, forcingKeyFrame: Bool = false
  ) throws(VideoCodecError) -> EncodedVideoFrame? {
    let begin = CodecTimer.shared.begin()
    defer { CodecTimer.shared.end(.encoding, since: begin) }
    switch self {
    case .vp8(let encoder), .vp9(let encoder): return try encoder.encode(frame, forcingKeyFrame: forcingKeyFrame)
    case .h264(let encoder): return try encoder.encode(frame, forcingKeyFrame: forcingKeyFrame)
    case .av1(let encoder): return try encoder.encode(frame, forcingKeyFrame: forcingKeyFrame)
    case .synthetic(let encoder):
      guard frame.size == encoder.settings.size else { throw .wrongSize(frame.size, expected: encoder.settings.size) }
      return encoder.encode(contentID: frame.contentID, at: frame.timestamp, forcingKeyFrame: forcingKeyFrame)
    }
  }

  /// Encodes a frame from its number, and whether it is black, alone. A real codec throws ``VideoCodecError/pictureRequired``.
  package func encode(
    contentID: UInt32, isBlack: Bool = false, at timestamp: Instant, forcingKeyFrame: Bool = false
  ) throws(VideoCodecError) -> EncodedVideoFrame {
    switch self {
    case .vp8, .vp9, .h264, .av1: throw .pictureRequired
    case .synthetic(let encoder):
      encoder.encode(contentID: contentID, isBlack: isBlack, at: timestamp, forcingKeyFrame: forcingKeyFrame)
    }
  }
}
