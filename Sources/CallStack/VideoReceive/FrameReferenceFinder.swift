import RTP

/// What a finder does with a frame.
enum ReferenceDecision: Hashable, Sendable {
  case handOff
  /// The frame waits for others that tell its references.
  case stash
  case drop
}

/// Gives frames their numbers and the numbers of the frames they refer to, by the fields that their format has.
///
/// A frame that arrives before those it depends on waits here, and comes out after them.
package struct FrameReferenceFinder: Sendable {
  private enum Way: Hashable, Sendable { case sequence, pictureID, vp8, vp9, dependencies }

  private enum Numbers: Sendable {
    case none
    case vp8(VP8ReferenceFinder.Numbers)
    case vp9(VP9ReferenceFinder.Numbers)
    case picture(Int64)
  }

  private struct Stashed: Sendable {
    var frame: EncodedFrame
    var numbers: Numbers
  }

  private var way: Way?
  private var sequence = SequenceReferenceFinder()
  private var vp8 = VP8ReferenceFinder()
  private var vp9 = VP9ReferenceFinder()
  private var pictures = PictureIDUnwrapper()
  private var frameNumbers = SequenceUnwrapper()
  private var stash: [Stashed] = []
  /// The distance that keeps numbers rising when the stream changes its fields.
  private var offset: Int64 = 0
  private var highest: Int64?
  /// The number of frames that were refused: late, contradictory or pushed out while they waited.
  package private(set) var droppedCount = 0

  package static let maximumStashed = 100

  package init() {}

  /// The number of frames that wait.
  package var stashedCount: Int { stash.count }

  /// Takes a whole frame, and appends those whose references are known now, each after those it refers to.
  package mutating func insert(_ frame: EncodedFrame, into frames: inout [EncodedFrame]) {
    var frame = frame
    let way = way(of: frame)
    if way != self.way { change(to: way) }
    setLayers(&frame)
    let numbers = numbers(of: frame)
    switch decide(&frame, numbers) {
    case .drop: droppedCount += 1
    case .stash:
      if stash.count >= Self.maximumStashed {
        stash.removeFirst()
        droppedCount += 1
      }
      stash.append(Stashed(frame: frame, numbers: numbers))
    case .handOff:
      finish(frame, &frames)
      retry(&frames)
    }
  }

  /// Takes the sequence number of a packet without a payload.
  package mutating func insertPadding(_ number: Int64, into frames: inout [EncodedFrame]) {
    sequence.insertPadding(number)
    if way == .sequence { retry(&frames) }
  }

  /// Forgets waiting frames that begin at or before a sequence number.
  package mutating func discard(through number: Int64) {
    stash.removeAll { $0.frame.sequences.lowerBound <= number }
  }

  /// Forgets all frames. The next one is a key frame.
  package mutating func reset() {
    if let way { change(to: way) }
  }

  private mutating func change(to way: Way) {
    self.way = way
    (sequence, vp8, vp9) = (SequenceReferenceFinder(), VP8ReferenceFinder(), VP9ReferenceFinder())
    (pictures, frameNumbers) = (PictureIDUnwrapper(), SequenceUnwrapper())
    droppedCount += stash.count
    stash.removeAll(keepingCapacity: true)
    // Numbers begin below 2¹⁹, and go on above all that were given.
    if let highest { offset = highest + 1 << 20 }
  }

  private func way(of frame: EncodedFrame) -> Way {
    if frame.dependencies != nil { return .dependencies }
    switch frame.descriptor {
    case .vp8(let descriptor):
      guard descriptor.pictureID != nil else { return .sequence }
      return descriptor.temporalLayerZeroIndex != nil && descriptor.temporalLayer != nil ? .vp8 : .pictureID
    case .vp9(let descriptor):
      guard descriptor.pictureID != nil else { return .sequence }
      return descriptor.isFlexible || descriptor.temporalLayerZeroIndex != nil ? .vp9 : .pictureID
    case .generic(let descriptor):
      guard descriptor.pictureID != nil else { return .sequence }
      return descriptor.layer != nil ? .vp8 : .pictureID
    case .h264, .av1: return .sequence
    }
  }

  private func setLayers(_ frame: inout EncodedFrame) {
    if let dependencies = frame.dependencies?.dependencies {
      (frame.spatialLayer, frame.temporalLayer) = (dependencies.spatialLayer, dependencies.temporalLayer)
      return
    }
    switch frame.descriptor {
    case .vp8(let descriptor): frame.temporalLayer = descriptor.temporalLayer ?? 0
    case .vp9(let descriptor):
      (frame.spatialLayer, frame.temporalLayer) = (descriptor.layer?.spatial ?? 0, descriptor.layer?.temporal ?? 0)
    case .generic(let descriptor): frame.temporalLayer = descriptor.layer?.index ?? 0
    case .h264, .av1: break
    }
  }

  /// Extends the frame's numbers, once and in order of arrival.
  private mutating func numbers(of frame: EncodedFrame) -> Numbers {
    if let number = frame.dependencies?.frameNumber { return .picture(frameNumbers.unwrap(number)) }
    switch (way, frame.descriptor) {
    case (.vp8, .vp8(let descriptor)):
      guard let id = descriptor.pictureID, let base = descriptor.temporalLayerZeroIndex else { return .none }
      return .vp8(vp8.numbers(id, base))
    case (.vp9, .vp9(let descriptor)):
      guard let id = descriptor.pictureID else { return .none }
      return .vp9(vp9.numbers(id, descriptor.temporalLayerZeroIndex))
    case (.vp8, .generic(let descriptor)):
      guard let id = descriptor.pictureID, let layer = descriptor.layer else { return .none }
      return .vp8(vp8.numbers(.long(id), layer.baseIndex))
    case (.pictureID, .vp8(let descriptor)): return descriptor.pictureID.map { .picture(pictures.unwrap($0)) } ?? .none
    case (.pictureID, .vp9(let descriptor)): return descriptor.pictureID.map { .picture(pictures.unwrap($0)) } ?? .none
    case (.pictureID, .generic(let descriptor)):
      return descriptor.pictureID.map { .picture(pictures.unwrap(.long($0))) } ?? .none
    default: return .none
    }
  }

  private mutating func decide(_ frame: inout EncodedFrame, _ numbers: Numbers) -> ReferenceDecision {
    switch (numbers, frame.descriptor) {
    case (.vp8(let numbers), .vp8(let descriptor)):
      return vp8.find(
        &frame, numbers, layer: descriptor.temporalLayer ?? 0, isLayerSync: descriptor.isLayerSync)
    case (.vp8(let numbers), .generic(let descriptor)):
      return vp8.find(
        &frame, numbers, layer: descriptor.layer?.index ?? 0, isLayerSync: descriptor.layer?.isSync ?? false)
    case (.vp9(let numbers), .vp9(let descriptor)): return vp9.find(&frame, numbers, descriptor: descriptor)
    case (.picture(let id), _):
      frame.id = id
      if let distances = frame.dependencies?.dependencies.frameDistances {
        for distance in distances {
          guard frame.references.append(id - Int64(distance)) else { return .drop }
        }
      } else if !frame.isKeyFrame {
        frame.references.append(id - 1)
      }
      return .handOff
    default: return sequence.find(&frame)
    }
  }

  private mutating func finish(_ frame: EncodedFrame, _ frames: inout [EncodedFrame]) {
    var frame = frame
    let offset = offset
    frame.id += offset
    frame.references.update { $0 + offset }
    highest = max(highest ?? frame.id, frame.id)
    frames.append(frame)
  }

  private mutating func retry(_ frames: inout [EncodedFrame]) {
    var index = 0
    while index < stash.count {
      var frame = stash[index].frame
      switch decide(&frame, stash[index].numbers) {
      case .stash: index += 1
      case .drop:
        stash.remove(at: index)
        droppedCount += 1
      case .handOff:
        stash.remove(at: index)
        finish(frame, &frames)
        // A frame that came out may be what an earlier one waits for.
        index = 0
      }
    }
  }
}
