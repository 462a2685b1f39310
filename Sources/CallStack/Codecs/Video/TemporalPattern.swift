/// The temporal layers of VP8 and VP9: the buffers that each frame refers to and updates, as in libwebrtc's
/// `DefaultTemporalLayers`.
///
/// Layer 0 uses the buffer `last`, layer 1 `golden`, layer 2 updates none. The upper layers repeat after 8 frames (two
/// layers: 4) with a frame that depends only on layer 0.
package struct TemporalPattern {
  package struct Buffers: OptionSet, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let last = Buffers(rawValue: 1)
    package static let golden = Buffers(rawValue: 2)
    package static let alternate = Buffers(rawValue: 4)
    package static let all: Buffers = [.last, .golden, .alternate]
  }

  /// The coding of one frame.
  package struct Step: Hashable {
    package var layer: Int
    package var references: Buffers
    package var updates: Buffers
    /// Whether the frame leaves the probabilities as they are, so that later frames do not depend on it by them.
    var freezesEntropy: Bool { updates.isEmpty }

    init(_ layer: Int, _ references: Buffers, _ updates: Buffers) {
      self.layer = layer
      self.references = references
      self.updates = updates
    }

    package static let keyFrame = Step(0, [], .all)
  }

  let layerCount: Int
  private let steps: [Step]
  /// The position of the latest frame; nil before the first.
  private var position: Int?
  /// The number of frames since `golden` was updated.
  private var goldenAge = 0
  private var number: UInt32 = 0
  private var baseIndex: UInt8 = 255
  /// The numbers of the frames in the buffers last, golden and alternate.
  private var contents: [UInt32?] = [nil, nil, nil]

  package init(layerCount: Int) {
    self.layerCount = layerCount
    steps =
      switch layerCount {
      case 2: [Step(0, .last, .last), Step(1, .last, .golden), Step(0, .last, .last), Step(1, [.last, .golden], [])]
      case 3:
        [
          Step(0, .last, .last), Step(2, .last, []), Step(1, .last, .golden), Step(2, [.last, .golden], []),
          Step(0, .last, .last), Step(2, [.last, .golden], []), Step(1, [.last, .golden], .golden),
          Step(2, [.last, .golden], []),
        ]
      default: [Step(0, .last, .last)]
      }
  }

  /// The layers of the frames of one period, for the rate control.
  var layerIDs: [UInt32] {
    switch layerCount {
    case 2: [0, 1]
    case 3: [0, 2, 1, 2]
    default: [0]
    }
  }

  /// Returns the coding of the next frame. The first is a key frame.
  package mutating func next(forcingKeyFrame: Bool) -> Step {
    guard let position, !forcingKeyFrame else {
      position = 0
      return .keyFrame
    }
    let next = (position + 1) % steps.count
    self.position = next
    var step = steps[next]
    // The encoder may have dropped the frame of this round that should have updated the buffer.
    if goldenAge >= next { step.references.remove(.golden) }
    goldenAge += 1
    return step
  }

  /// Records a frame that was coded, and describes it. The encoder may have made it a key frame by itself.
  package mutating func coded(_ step: Step, isKeyFrame: Bool) -> (number: UInt32, layer: TemporalLayer) {
    let step = isKeyFrame ? .keyFrame : step
    if isKeyFrame { position = 0 }
    if step.updates.contains(.golden) { goldenAge = 0 }
    if step.layer == 0 { baseIndex &+= 1 }
    let referenced = [Buffers.last, .golden, .alternate].enumerated().compactMap { index, buffer in
      step.references.contains(buffer) ? contents[index] : nil
    }
    var dependencies: [UInt32] = []
    for distance in referenced.map({ number &- $0 }).sorted() where dependencies.last != distance {
      dependencies.append(distance)
    }
    let layer = TemporalLayer(
      id: step.layer, isSync: isKeyFrame || step.layer > 0 && step.references == .last, baseIndex: baseIndex,
      isDiscardable: step.updates.isEmpty, dependencies: dependencies)
    for (index, buffer) in [Buffers.last, .golden, .alternate].enumerated() where step.updates.contains(buffer) {
      contents[index] = number
    }
    defer { number &+= 1 }
    return (number, layer)
  }
}

extension TemporalPattern {
  /// Begins again with another number of layers. Numbers of frames go on.
  mutating func restart(layerCount: Int) {
    var other = TemporalPattern(layerCount: layerCount)
    other.number = number
    other.baseIndex = baseIndex
    self = other
  }
}
