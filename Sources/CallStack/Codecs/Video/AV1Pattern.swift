/// The temporal layers of AV1: the buffers that each frame refers to and replaces, as in libwebrtc's
/// `ScalabilityStructureL1T2` and `L1T3`.
///
/// Layer 0 uses buffer 0. Of three layers, layer 1 replaces buffer 1, to which the frame of layer 2 after it refers. The
/// uppermost layer replaces none.
struct AV1Pattern {
  /// The coding of one frame.
  struct Step: Hashable {
    var layer: Int
    /// The buffer that the frame refers to; nil for a key frame.
    var reference: Int?
    /// The buffer that the frame replaces.
    var update: Int?

    static let keyFrame = Step(layer: 0, reference: nil, update: 0)
  }

  let layerCount: Int
  private let layers: [Int]
  /// The position of the latest frame in its period; nil before the first.
  private var position: Int?
  private var number: UInt32 = 0
  private var baseIndex: UInt8 = 255
  /// The numbers of the frames in the buffers; that of layer 1 only until the next frame of layer 0.
  private var contents: [UInt32?] = [nil, nil]

  init(layerCount: Int) {
    self.layerCount = layerCount
    layers =
      switch layerCount {
      case 2: [0, 1]
      case 3: [0, 2, 1, 2]
      default: [0]
      }
  }

  /// Returns the coding of the next frame. The first is a key frame.
  mutating func next(forcingKeyFrame: Bool) -> Step {
    guard let position, !forcingKeyFrame else {
      position = 0
      return .keyFrame
    }
    let next = (position + 1) % layers.count
    self.position = next
    switch layers[next] {
    case 0: return Step(layer: 0, reference: 0, update: 0)
    case layerCount - 1:
      // Without a frame of layer 1, because the encoder dropped it, layer 0 is the latest.
      return Step(layer: layerCount - 1, reference: contents[1] == nil ? 0 : 1, update: nil)
    default: return Step(layer: 1, reference: 0, update: 1)
    }
  }

  /// Records a frame that was coded, and describes it. The encoder may have made it a key frame by itself.
  mutating func coded(_ step: Step, isKeyFrame: Bool) -> (number: UInt32, layer: TemporalLayer) {
    let step = isKeyFrame ? .keyFrame : step
    if isKeyFrame { position = 0 }
    if step.layer == 0 {
      baseIndex &+= 1
      contents[1] = nil
    }
    let distance = step.reference.flatMap { contents[$0] }.map { number &- $0 }
    let layer = TemporalLayer(
      id: step.layer, isSync: isKeyFrame || step.layer > 0 && step.reference == 0, baseIndex: baseIndex,
      isDiscardable: step.update == nil, dependencies: distance.map { [$0] } ?? [])
    if let update = step.update { contents[update] = number }
    defer { number &+= 1 }
    return (number, layer)
  }

  /// Begins again with another number of layers. Numbers of frames go on.
  mutating func restart(layerCount: Int) {
    var other = AV1Pattern(layerCount: layerCount)
    other.number = number
    other.baseIndex = baseIndex
    self = other
  }
}
