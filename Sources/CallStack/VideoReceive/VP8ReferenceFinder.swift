import RTP

/// Finds references by VP8's temporal layers: TL0PICIDX names the base frame, the picture numbers tell what is missing
/// (RFC 7741 section 4.2). The synthetic codec numbers its layers in the same way.
struct VP8ReferenceFinder: Sendable {
  /// The last frame of each temporal layer since one of the base layer; nil for none.
  private struct Layers: Sendable {
    var base: Int64
    var last = InlineArray<4, Int64?>(repeating: nil)
  }

  private var pictures = PictureIDUnwrapper()
  private var bases = Unwrapper<UInt8>()
  private var layers: [Layers] = []
  private var missing = SortedSet(capacity: 101)
  private var newest: Int64?
  /// The number of base frames that are remembered.
  private static let maximumBases: Int64 = 50
  /// The distance at which a missing frame is forgotten.
  private static let maximumMissing: Int64 = 100

  /// The numbers of a frame, extended.
  struct Numbers: Sendable {
    var picture: Int64
    var base: Int64
  }

  mutating func numbers(_ picture: PictureID, _ base: UInt8) -> Numbers {
    Numbers(picture: pictures.unwrap(picture), base: bases.unwrap(base))
  }

  mutating func find(
    _ frame: inout EncodedFrame, _ numbers: Numbers, layer: UInt8, isLayerSync: Bool
  ) -> ReferenceDecision {
    let (id, layer) = (numbers.picture, Int(layer))
    frame.id = id
    frame.references = FrameReferences()
    noteGap(id)
    layers.removeAll { $0.base < numbers.base - Self.maximumBases }
    if frame.isKeyFrame {
      guard layer == 0 else { return .drop }
      let place = layers.firstIndex { $0.base >= numbers.base } ?? layers.count
      if place < layers.count, layers[place].base == numbers.base {
        layers[place] = Layers(base: numbers.base)
      } else {
        layers.insert(Layers(base: numbers.base), at: place)
      }
      return handOff(id, numbers.base, layer)
    }
    let known = layer == 0 ? numbers.base - 1 : numbers.base
    guard let place = layers.firstIndex(where: { $0.base == known }) else { return .stash }
    if layer == 0 { return findBase(&frame, numbers, previous: place) }
    if isLayerSync {
      // A sync frame refers to the base frame alone. One that is not newer was used already.
      if let last = layers[place].last[layer], last >= id { return .drop }
      guard let base = layers[place].last[0] else { return .stash }
      frame.references.append(base)
      return handOff(id, numbers.base, layer)
    }
    for lower in 0...layer {
      guard let last = layers[place].last[lower] else { return .stash }
      // A later sync frame on the layer makes this one useless.
      guard last < id else { return .drop }
      if missing.contains(above: last, below: id) { return .stash }
      frame.references.append(last)
    }
    return handOff(id, numbers.base, layer)
  }

  private mutating func findBase(
    _ frame: inout EncodedFrame, _ numbers: Numbers, previous: Int
  ) -> ReferenceDecision {
    guard let last = layers[previous].last[0], last < numbers.picture else { return .drop }
    if !layers.contains(where: { $0.base == numbers.base }) {
      var copy = layers[previous]
      copy.base = numbers.base
      layers.insert(copy, at: previous + 1)
    }
    frame.references.append(last)
    return handOff(numbers.picture, numbers.base, 0)
  }

  private mutating func noteGap(_ id: Int64) {
    missing.removeAll(below: id - Self.maximumMissing)
    let known = max(newest ?? id, id - Self.maximumMissing)
    if id > known {
      for number in known + 1...id { missing.insert(number) }
    }
    newest = max(known, id)
  }

  /// Records a frame for its base frame and for later ones.
  private mutating func handOff(_ id: Int64, _ base: Int64, _ layer: Int) -> ReferenceDecision {
    var expected = base
    for place in layers.indices where layers[place].base >= base {
      guard layers[place].base == expected else { break }
      if let last = layers[place].last[layer], last > id { break }
      layers[place].last[layer] = id
      expected += 1
    }
    missing.remove(id)
    return .handOff
  }
}
