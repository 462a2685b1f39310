internal import CallCore
internal import Pictures

/// Chooses size and frame rate of an encoding for its rate.
///
/// A declared rule in place of libwebrtc's, which looks at the quantizer and at the load of the processor: modelled
/// frames have neither. Motion keeps its frame rate and gives up size, by the least rates at which libwebrtc begins with
/// a size; detail keeps its size and gives up frames.
struct VideoAdaptation {
  /// The full size and frame rate.
  var size: PictureSize
  var frameRate: Int
  let content: VideoSettings.Content
  /// The index of the current size among ``steps``.
  private var step = 0
  /// The current frame rate.
  private(set) var currentFrameRate: Int
  /// The number of changes of the size.
  private(set) var changes: Int64 = 0

  /// The factors by which both sides are divided.
  private static let steps = [1, 4.0 / 3, 2, 8.0 / 3, 4]
  /// The least rate at which libwebrtc begins with so many pixels (`EncoderInfo::ResolutionBitrateLimits`, defaults).
  private static let startRates: [(pixels: Int, kilobits: Int64)] = [
    (1_280 * 720, 900), (960 * 540, 500), (640 * 360, 300), (480 * 270, 200),
  ]
  /// The share of its least rate at which a size is given up; between both it stays.
  private static let hold = 0.7
  /// The bits of a pixel below which frames of detail become fewer, and the lowest frame rate.
  private static let bitsPerPixel = 0.02
  private static let lowestFrameRate = 5

  init(size: PictureSize, frameRate: Int, content: VideoSettings.Content) {
    self.size = size
    self.frameRate = frameRate
    self.content = content
    currentFrameRate = frameRate
  }

  var currentSize: PictureSize { size.divided(by: Self.steps[step]) }
  /// Whether less is sent than the source gives, because the rate is low.
  var isLimited: Bool { step > 0 || currentFrameRate < frameRate }

  /// Takes the encoder's rate.
  mutating func adapt(to rate: DataRate) {
    switch content {
    case .motion:
      currentFrameRate = frameRate
      let before = step
      while step + 1 < Self.steps.count, rate.bitsPerSecond < Int64(Self.hold * startRate(step)) { step += 1 }
      while step > 0, Double(rate.bitsPerSecond) >= startRate(step - 1) { step -= 1 }
      if step != before { changes += 1 }
    case .detail:
      let perFrame = Self.bitsPerPixel * Double(size.pixelCount)
      let affordable = Int(Double(rate.bitsPerSecond) / perFrame)
      currentFrameRate = min(frameRate, max(min(Self.lowestFrameRate, frameRate), affordable))
    }
  }

  private func startRate(_ step: Int) -> Double {
    let pixels = size.divided(by: Self.steps[step]).pixelCount
    return Double(Self.startRates.first { pixels >= $0.pixels }?.kilobits ?? 0) * 1_000
  }
}

extension PictureSize {
  /// Returns the size divided by a factor, with even sides, as encoders need them.
  func divided(by factor: Double) -> PictureSize {
    guard factor > 1 else { return self }
    func side(_ length: Int) -> Int { max(16, Int(Double(length) / factor) & ~1) }
    return PictureSize(side(width), side(height)) ?? self
  }
}
