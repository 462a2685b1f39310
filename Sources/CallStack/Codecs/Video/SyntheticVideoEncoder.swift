package import CallCore
import Pictures

/// The encoder of the modelled video codec.
package final class SyntheticVideoEncoder {
  /// The scale of the Laplace distribution of frame sizes, in mean frames (RFC 8593 table 1).
  private static let sizeScale = 0.15
  /// The share of a frame with which it pays for a larger one before it.
  private static let repayment = 0.25
  /// The size of a key frame in mean frames at 30 Hz. Libvpx gives 2 to 8 for a camera, at 300 to 1500 kbit/s.
  private static let keyFrameRatio = 4.0

  package private(set) var settings: VideoEncoderSettings
  private var pattern: TemporalPattern
  private var random: RandomStream
  /// The bytes beyond the target rate that are not paid for yet.
  private var debt = 0.0
  private var owesKeyFrame = true

  /// Makes an encoder that draws the sizes of frames from a stream of its own.
  package init(
    settings: VideoEncoderSettings = VideoEncoderSettings(), random: consuming RandomStream
  ) throws(VideoCodecError) {
    try settings.validate()
    self.settings = settings
    self.random = random
    pattern = TemporalPattern(layerCount: settings.temporalLayers)
  }

  /// Changes the settings for the following frames; another size or number of layers begins with a key frame.
  package func update(_ settings: VideoEncoderSettings) throws(VideoCodecError) {
    try settings.validate()
    if settings.temporalLayers != self.settings.temporalLayers {
      pattern.restart(layerCount: settings.temporalLayers)
      owesKeyFrame = true
    }
    if settings.size != self.settings.size { owesKeyFrame = true }
    self.settings = settings
  }

  /// Writes a frame that stands for the picture with this number in its source, or for a black one in its place.
  package func encode(
    contentID: UInt32?, isBlack: Bool = false, at timestamp: Instant, forcingKeyFrame: Bool = false
  ) -> EncodedVideoFrame {
    let step = pattern.next(forcingKeyFrame: forcingKeyFrame || owesKeyFrame)
    owesKeyFrame = false
    let isKeyFrame = step == .keyFrame
    let (number, layer) = pattern.coded(step, isKeyFrame: isKeyFrame)
    let payload = SyntheticVideo.Payload(
      isKeyFrame: isKeyFrame, number: number, contentID: contentID, size: settings.size,
      dependencies: layer.dependencies)
    let byteCount =
      isBlack ? blackSize(isKeyFrame: isKeyFrame) : nextSize(isKeyFrame: isKeyFrame, layer: layer.id)
    return EncodedVideoFrame(
      bytes: payload.bytes(byteCount), isKeyFrame: isKeyFrame,
      size: settings.size, timestamp: timestamp, contentID: contentID, quantizer: nil, number: number, layer: layer)
  }

  /// The size of a black picture, which is next to nothing at any rate: libvpx's VP8 takes 98 bytes for one of 640 by 480.
  private func blackSize(isKeyFrame: Bool) -> Int {
    max(SyntheticVideo.headerSize, settings.size.pixelCount / 3_136 * (isKeyFrame ? 6 : 1))
  }

  private func nextSize(isKeyFrame: Bool, layer: Int) -> Int {
    let mean = Double(settings.bitrate.bitsPerSecond) / 8 / Double(settings.frameRate)
    let share = mean * (isKeyFrame ? 1 : layerWeight(layer))
    var size = share * max(0.1, 1 + laplace())
    if isKeyFrame {
      // As libvpx limits key frames: half a buffer of 600 ms, and at least three mean frames.
      size *= min(Self.keyFrameRatio * Double(settings.frameRate) / 30, max(3, 0.3 * Double(settings.frameRate)))
    } else if debt > 0 {
      size -= min(debt, size * Self.repayment)
    }
    let count = max(SyntheticVideo.headerSize, Int(size.rounded()))
    // Credit of small frames is kept for a few frames only.
    debt = max(-4 * mean, debt + Double(count) - share)
    return count
  }

  /// The size of a frame of a layer in mean frames: the share of the layer in the rate by that in the frames.
  private func layerWeight(_ layer: Int) -> Double {
    let rates = settings.layerRates
    guard let total = rates.last, rates.indices.contains(layer), total > 0 else { return 1 }
    let rate = Double(rates[layer] - (layer > 0 ? rates[layer - 1] : 0)) / Double(total)
    let frames = 1 / Double(1 << (rates.count - max(layer, 1)))
    return rates.count == 1 ? 1 : rate / frames
  }

  /// Draws a deviation in mean frames.
  private func laplace() -> Double {
    let draw = random.unit() - 0.5
    let size = -Self.sizeScale * ElementaryFunctions.log(max(1e-12, 1 - 2 * abs(draw)))
    return draw < 0 ? -size : size
  }
}
