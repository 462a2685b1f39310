package import CallCore
package import Pictures

/// The settings of a video encoder. Defaults are those of libwebrtc for a camera.
package struct VideoEncoderSettings: Hashable, Sendable {
  package enum Content: Hashable, Sendable { case camera, screen }

  package var size = PictureSize.vga
  package var bitrate = DataRate.kilobitsPerSecond(600)
  /// The frame rate in Hz to which the bitrate is spread, 1 to 120.
  package var frameRate = 30
  /// 1 to 3; each layer doubles the frame rate of those below.
  package var temporalLayers = 1
  package var content = Content.camera
  /// Whether the encoder drops frames in order to keep the bitrate.
  package var dropsFrames = true
  /// Whether VP8 and VP9 filter noise of the camera first.
  package var reducesNoise = true
  /// Speed against quality: `cpu_used` of libvpx and libaom without its sign, VP8 1 to 16, VP9 5 to 9, AV1 5 to 10. Nil
  /// is libwebrtc's choice on a desktop for the size.
  package var speed: Int?

  package init() {}

  /// Throws if a setting is out of the range that all codecs allow.
  func validate() throws(VideoCodecError) {
    guard (1_000...200_000_000).contains(bitrate.bitsPerSecond) else { throw .unsupportedSetting("bitrate") }
    guard (1...120).contains(frameRate) else { throw .unsupportedSetting("frameRate") }
    guard (1...3).contains(temporalLayers) else { throw .unsupportedSetting("temporalLayers") }
  }

  /// The bitrates of the temporal layers in kbit/s, each the sum with all lower layers: libwebrtc's shares of 60 and
  /// 100 %, or 40, 60 and 100 %.
  var layerRates: [UInt32] {
    let shares: [Int64] =
      switch temporalLayers {
      case 2: [60, 100]
      case 3: [40, 60, 100]
      default: [100]
      }
    return shares.map { UInt32(clamping: max(1, bitrate.bitsPerSecond * $0 / 100_000)) }
  }
}

extension VideoEncoderSettings {
  /// Returns whether more than the rates has changed, so that a new stream with a key frame must begin.
  func needsNewStream(after old: VideoEncoderSettings) -> Bool {
    var rated = old
    (rated.bitrate, rated.frameRate) = (bitrate, frameRate)
    return rated != self
  }
}
